//! From syntax tree to plan: names, types, access paths.
//!
//! [`bind_statement`] and its siblings take a piece of the syntax tree and what it may refer to (a
//! [`BindContext`]) and yield a [`Bound`](crate::plan::Bound) for the executor. Names are resolved and
//! types settled first, over a tree of table references; `planner` then decides how to reach each
//! table and in which order to join.

mod aggregate;
mod call;
mod collate;
mod column_def;
mod columns;
mod compare;
mod cond;
mod constraint;
mod context;
mod cte;
mod declare;
mod errors;
mod expr;
mod foreign;
mod foreign_def;
mod from;
mod group;
mod growth;
mod hints;
mod index_def;
mod inline;
mod insert;
mod items;
mod limit;
mod literal;
mod membership;
mod modify;
mod names;
mod order;
mod output;
mod planner;
mod query;
mod recursion;
mod row_size;
mod rules;
mod scope;
mod select;
mod set_op;
mod source;
mod state;
mod table_def;
mod table_function;
mod target;
mod through;
mod typing;
mod view_def;
mod window;

#[cfg(test)]
mod tests;

pub use context::{BindContext, bind_condition, bind_scalars, bind_statement};
pub use declare::collect_variables;
pub use errors::{not_created, wrong_settings};
pub use foreign::{Touched, bind_foreign};
pub use foreign_def::{referenced_names, referenced_tables};
pub use index_def::{index_from_ast, key_size_warning};
pub use row_size::check_row_size;
pub use rules::{bind_default, bind_row_rules};
pub use table_def::{TableName, add_to_table, check_count, column_twice, table_def_from_ast};
pub use typing::{named_collation, resolve_collation, resolve_type};
pub use view_def::check_view;
