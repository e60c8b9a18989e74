//! From syntax tree to plan: names, types, access paths.
