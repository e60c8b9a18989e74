//! Versioned rows in B-trees, transactions and undo.
