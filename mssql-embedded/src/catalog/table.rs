//! The definition of a table. Definitions are immutable behind `Arc`; a change makes a new one with
//! a higher version, so that compiled statements notice.

use std::sync::Arc;

use super::ObjectId;
use crate::ast;
use crate::value::DataType;

#[derive(Clone, Debug)]
pub struct TableDef {
    /// Its object id, which is also the key of its storage.
    pub id: ObjectId,
    pub schema_id: i32,
    /// The schema's name, for messages.
    pub schema: String,
    pub name: String,
    /// The database's name, for messages (2628 names all three).
    pub database: String,
    /// Raised by every change.
    pub version: u64,
    /// In the order of `SELECT *`; a position is valid for one version of the definition.
    pub columns: Vec<Column>,
    /// Indexes; a clustered one, if any, comes first. Without one the table is a heap whose rows are
    /// kept by row id.
    pub indexes: Vec<IndexDef>,
    pub checks: Vec<CheckDef>,
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// The tables with a foreign key to this one.
    pub referenced_by: Vec<ObjectId>,
    /// `LOCK_ESCALATION` is not DISABLE.
    pub lock_escalation: bool,
    /// Unix milliseconds of creation.
    pub created_ms: i64,
    /// Unix milliseconds of the last change.
    pub modified_ms: i64,
}

/// A column of a table, in the order of creation.
#[derive(Clone, Debug)]
pub struct Column {
    /// 1-based, never reused.
    pub id: i32,
    pub name: String,
    pub ty: DataType,
    pub nullable: bool,
    /// It was declared as SYSNAME, which sys.columns tells from NVARCHAR(128).
    pub sysname: bool,
    /// Seed and increment.
    pub identity: Option<(i64, i64)>,
    pub default: Option<DefaultDef>,
    /// Computed column: its expression and text; always stored (computed at every write).
    pub computed: Option<(Arc<ast::Expr>, String, bool)>,
}

#[derive(Clone, Debug)]
pub struct DefaultDef {
    pub id: ObjectId,
    pub name: String,
    pub system_named: bool,
    pub expr: Arc<ast::Expr>,
    /// Its text as sys.default_constraints shows it.
    pub text: String,
}

/// An index, clustered or not, also behind PRIMARY KEY and UNIQUE.
#[derive(Clone, Debug)]
pub struct IndexDef {
    /// sys.indexes.index_id: 1 is the clustered one, others from 2.
    pub index_id: i32,
    pub name: String,
    pub unique: bool,
    /// Whether it holds the rows.
    pub clustered: bool,
    /// The constraint behind it.
    pub constraint: Option<KeyConstraint>,
    /// Key columns: position in `TableDef::columns`, descending.
    pub keys: Vec<(usize, bool)>,
    /// INCLUDE columns by position.
    pub include: Vec<usize>,
    /// Filter: condition and text.
    pub filter: Option<(Arc<ast::Condition>, String)>,
    pub ignore_dup_key: bool,
    pub allow_page_locks: bool,
}

/// Through which tree the rows of a table are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessPath {
    /// The rows themselves, by row id; the table has no clustered index.
    Heap,
    /// The index at this position of [`TableDef::indexes`].
    Index(usize),
}

impl AccessPath {
    /// The index it goes through, if it goes through one.
    pub fn index(self, table: &TableDef) -> Option<&IndexDef> {
        match self {
            Self::Heap => None,
            Self::Index(position) => table.indexes.get(position),
        }
    }
}

/// PRIMARY KEY or UNIQUE constraint of an index.
#[derive(Clone, Debug)]
pub struct KeyConstraint {
    pub id: ObjectId,
    /// PRIMARY KEY rather than UNIQUE.
    pub primary: bool,
    pub system_named: bool,
}

impl KeyConstraint {
    pub fn kind(&self) -> ConstraintType {
        if self.primary {
            ConstraintType::PrimaryKey
        } else {
            ConstraintType::Unique
        }
    }
}

#[derive(Clone, Debug)]
pub struct CheckDef {
    pub id: ObjectId,
    pub name: String,
    pub system_named: bool,
    pub condition: Arc<ast::Condition>,
    pub text: String,
    /// The one column it belongs to, if it was written inline (547 names it).
    pub column: Option<String>,
}

/// A FOREIGN KEY constraint. Columns are named by their ids, which outlive those around them.
#[derive(Clone, Debug)]
pub struct ForeignKeyDef {
    pub id: ObjectId,
    pub name: String,
    pub system_named: bool,
    /// The ids of its columns.
    pub columns: Vec<i32>,
    /// The table it refers to.
    pub table: ObjectId,
    /// The ids of that table's columns.
    pub referenced: Vec<i32>,
    pub cascade_delete: bool,
}

/// The constraints that are objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintType {
    PrimaryKey,
    Unique,
    Check,
    Default,
    ForeignKey,
}

impl ConstraintType {
    /// sys.objects.type: two characters.
    pub fn code(self) -> &'static str {
        match self {
            Self::PrimaryKey => "PK",
            Self::Unique => "UQ",
            Self::Check => "C ",
            Self::Default => "D ",
            Self::ForeignKey => "F ",
        }
    }

    /// sys.objects.type_desc.
    pub fn description(self) -> &'static str {
        match self {
            Self::PrimaryKey => "PRIMARY_KEY_CONSTRAINT",
            Self::Unique => "UNIQUE_CONSTRAINT",
            Self::Check => "CHECK_CONSTRAINT",
            Self::Default => "DEFAULT_CONSTRAINT",
            Self::ForeignKey => "FOREIGN_KEY_CONSTRAINT",
        }
    }
}
