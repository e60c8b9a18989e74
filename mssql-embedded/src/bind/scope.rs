//! Query levels: which names are visible where, and which slots are taken.

use std::ops::Range;

use crate::ast::JoinStrategy;
use crate::catalog::TableDef;
use crate::plan::{AggregateCall, Scalar, WindowFunction};
use crate::value::DataType;

use super::planner::Leaf;
use super::typing::{Coercibility, Ex};

/// The clause that is being bound; decides where aggregates, window functions and subqueries may
/// stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    /// Outside of any query, or a place without rules of its own.
    Other,
    Select,
    Where,
    On,
    GroupBy,
    Having,
    OrderBy,
    AggregateArg,
    /// Inside a window function.
    WindowArg,
    /// SET of UPDATE.
    Set,
    Output,
    /// CHECK constraints, computed columns, defaults, filters of indexes.
    Rule,
}

#[derive(Clone, Debug)]
pub(super) struct SourceColumn {
    pub(super) name: String,
    pub(super) ty: DataType,
    pub(super) nullable: bool,
    pub(super) identity: bool,
    pub(super) slot: usize,
    pub(super) coll: Coercibility,
}

/// A table reference with the name it goes by.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The alias, or the table's own name.
    pub(super) exposed: String,
    /// Schema and database of a table without alias, for three- and four-part column names.
    pub(super) qualifier: Option<(String, String)>,
    /// An alias was written.
    pub(super) aliased: bool,
    /// A table's name was written without its schema.
    pub(super) bare: bool,
    pub(super) columns: Vec<SourceColumn>,
    /// Not to be found by name: the target while OUTPUT is bound.
    pub(super) hidden: bool,
    /// Found only with its prefix: `inserted` and `deleted`.
    pub(super) qualified_only: bool,
    /// Its position among the leaves; `inserted` and `deleted` are read from no leaf.
    pub(super) leaf: Option<usize>,
}

/// One query level.
#[derive(Default)]
pub(super) struct Scope {
    /// Names of the levels above are not visible: the body of a view or CTE.
    pub(super) barrier: bool,
    pub(super) sources: Vec<Source>,
    /// The first of those that must not share a name with a new one.
    pub(super) names_from: usize,
    /// Which of them can be named now.
    pub(super) visible: Range<usize>,
    /// The next free slot.
    pub(super) width: usize,
    pub(super) clause: Clause,
    pub(super) leaves: Vec<Leaf>,
    /// Joins whose strategy a hint names: the first leaf of the joined side.
    pub(super) join_hints: Vec<(usize, JoinStrategy)>,
    pub(super) aggregates: Vec<AggregateCall>,
    pub(super) windows: Vec<WindowFunction>,
    /// The keys of GROUP BY, and what GROUPING asks of them.
    pub(super) group_keys: Vec<Scalar>,
    pub(super) indicators: Vec<(Vec<usize>, usize)>,
    /// Slots that hold results of aggregates and window functions.
    pub(super) computed: Vec<usize>,
}

#[expect(
    clippy::derivable_impls,
    reason = "the variants are listed in the order of a query"
)]
impl Default for Clause {
    fn default() -> Self {
        Self::Other
    }
}

impl Scope {
    /// Reserves slots and returns the first.
    pub(super) fn allocate(&mut self, count: usize) -> usize {
        let first = self.width;
        self.width += count;
        first
    }

    /// The name of the column in a slot, for messages: with the table as it was written.
    pub(super) fn slot_name(&self, slot: usize) -> Option<String> {
        self.sources.iter().filter(|s| !s.hidden).find_map(|s| {
            let column = s.columns.iter().find(|c| c.slot == slot)?;
            let prefix = match &s.qualifier {
                Some((schema, _)) if !schema.is_empty() && !s.bare => {
                    format!("{schema}.{}", s.exposed)
                }
                _ => s.exposed.clone(),
            };
            Some(format!("{prefix}.{}", column.name))
        })
    }
}

/// The columns of a table whose column 0 is in slot `base`.
pub(super) fn table_columns(table: &TableDef, base: usize) -> Vec<SourceColumn> {
    let column = |(i, c): (usize, &crate::catalog::Column)| SourceColumn {
        name: c.name.clone(),
        ty: c.ty.clone(),
        nullable: c.nullable,
        identity: c.identity.is_some(),
        slot: base + i,
        coll: Coercibility::Implicit,
    };
    table.columns.iter().enumerate().map(column).collect()
}

/// The expression that reads a column.
pub(super) fn column_ex(level: usize, column: &SourceColumn) -> Ex {
    Ex {
        expr: Scalar::Slot {
            level,
            slot: column.slot,
        },
        ty: column.ty.clone(),
        nullable: column.nullable,
        coll: column.coll,
    }
}
