//! What foreign keys demand of a statement that writes.

use std::sync::Arc;

use crate::catalog::TableDef;

use super::{Cond, Query, RowRules};

/// The foreign keys that a statement on one table can break. Slots 0… of level 0 are a row of the table.
#[derive(Debug, Default)]
pub struct ForeignRules {
    /// Keys of the table: what each written row must refer to.
    pub parents: Vec<ParentRule>,
    /// Keys of other tables to this one: what may still refer to a row that is gone.
    pub children: Vec<ChildRule>,
}

impl ForeignRules {
    /// Whether nothing is to be checked.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty() && self.children.is_empty()
    }
}

/// A foreign key of the table that is written.
#[derive(Debug)]
pub struct ParentRule {
    /// Its columns by position; a NULL in one of them refers to nothing.
    pub columns: Vec<usize>,
    /// Whether the row it refers to exists.
    pub exists: Cond,
    /// What 547 names.
    pub conflict: Conflict,
}

/// A foreign key that refers to the table that is written.
#[derive(Debug)]
pub struct ChildRule {
    /// Whether the table (again) has a row of this key.
    pub replaced: Cond,
    /// Whether rows refer to it.
    pub exists: Cond,
    /// What to do with them: CASCADE, or nothing, so that they are an error.
    pub cascade: Option<Cascade>,
    /// What 547 names.
    pub conflict: Conflict,
}

/// The rows that ON DELETE CASCADE deletes.
#[derive(Debug)]
pub struct Cascade {
    pub table: Arc<TableDef>,
    /// Yields, after one column of no meaning, all columns of the table and the locator.
    pub rows: Query,
    /// The filters of its indexes.
    pub rules: Arc<RowRules>,
    /// What their own disappearance may break.
    pub foreign: ForeignRules,
}

#[derive(Clone, Debug)]
pub struct Conflict {
    pub constraint: String,
    pub database: String,
    /// `schema.table` of the other table.
    pub table: String,
    /// Its column, when the key has only one.
    pub column: Option<String>,
    /// Whether the other table is the table itself.
    pub same_table: bool,
}
