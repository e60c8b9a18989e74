//! Query levels: which names are visible where, and which slots are taken.

use std::ops::Range;

use crate::ast::{Ident, JoinStrategy, ObjectName};
use crate::catalog::TableDef;
use crate::error::SqlResult;
use crate::plan::{AggregateCall, Scalar, WindowFunction};
use crate::value::DataType;

use super::context::Binder;
use super::errors;
use super::planner::Leaf;
use super::typing::{Coercibility, Ex};

/// The clause that is being bound; decides where aggregates, window functions and subqueries may
/// stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    /// Outside of any query, or a place without rules of its own.
    Other,
    /// The select list.
    Select,
    /// WHERE.
    Where,
    /// ON.
    On,
    /// GROUP BY.
    GroupBy,
    /// HAVING.
    Having,
    /// ORDER BY.
    OrderBy,
    /// The argument of an aggregate.
    AggregateArg,
    /// Inside a window function.
    WindowArg,
    /// SET of UPDATE.
    Set,
    /// OUTPUT.
    Output,
    /// CHECK constraints, computed columns, defaults, filters of indexes.
    Rule,
}

/// A column that a source offers.
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

    /// The name of the column in a slot, for messages.
    pub(super) fn slot_name(&self, slot: usize) -> Option<String> {
        self.sources.iter().filter(|s| !s.hidden).find_map(|s| {
            let column = s.columns.iter().find(|c| c.slot == slot)?;
            let prefix = match &s.qualifier {
                Some((schema, _)) if !schema.is_empty() => format!("{schema}.{}", s.exposed),
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

impl Binder<'_> {
    /// Opens a query level.
    pub(super) fn push_scope(&mut self, barrier: bool) -> usize {
        self.scopes.push(Scope {
            barrier,
            ..Scope::default()
        });
        self.scopes.len() - 1
    }

    /// The innermost level. There is one wherever this is called.
    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Runs `f` with another clause set on the innermost level.
    pub(super) fn in_clause<T>(
        &mut self,
        clause: Clause,
        f: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = std::mem::replace(&mut self.scope().clause, clause);
        let result = f(self);
        self.scope().clause = before;
        result
    }

    /// Whether two names are the same under the database's collation.
    pub(super) fn same_name(&self, a: &str, b: &str) -> bool {
        a == b || self.ctx.database.fold(a) == self.ctx.database.fold(b)
    }

    /// Finds a column by its name, innermost level first.
    pub(super) fn resolve_column(&self, name: &ObjectName) -> SqlResult<Ex> {
        self.find_column(name).map(|(ex, _)| ex)
    }

    /// As [`resolve_column`](Self::resolve_column), also telling whether it is an identity column
    /// and its name.
    pub(super) fn find_column(&self, name: &ObjectName) -> SqlResult<(Ex, SourceColumn)> {
        let [qualifier @ .., last] = name.parts.as_slice() else {
            return Err(errors::unbound(name));
        };
        for (level, scope) in self.scopes.iter().enumerate().rev() {
            let visible = &scope.sources[scope.visible.clone()];
            let mut found: Option<&SourceColumn> = None;
            for source in visible.iter().filter(|s| !s.hidden) {
                if qualifier.is_empty() && source.qualified_only
                    || !self.qualifies(source, qualifier)
                {
                    continue;
                }
                let mut matches = source
                    .columns
                    .iter()
                    .filter(|c| self.same_name(&c.name, &last.name));
                let first = matches.next();
                if first.is_some() && (found.is_some() || matches.next().is_some()) {
                    return Err(errors::ambiguous(&last.name, last.pos));
                }
                if first.is_none() && !qualifier.is_empty() {
                    return Err(errors::invalid_column(&last.name, last.pos));
                }
                found = found.or(first);
            }
            if let Some(column) = found {
                return Ok((column_ex(level, column), column.clone()));
            }
            if scope.barrier {
                break;
            }
        }
        Err(if qualifier.is_empty() {
            errors::invalid_column(&last.name, last.pos)
        } else {
            errors::unbound(name)
        })
    }

    /// Whether a column prefix means this source.
    pub(super) fn qualifies(&self, source: &Source, qualifier: &[Ident]) -> bool {
        let (Some(table), rest) = (qualifier.last(), qualifier.len().saturating_sub(1)) else {
            return true;
        };
        if !self.same_name(&source.exposed, &table.name) {
            return false;
        }
        if rest == 0 {
            return true;
        }
        let Some((schema, database)) = &source.qualifier else {
            return false;
        };
        self.same_name(schema, &qualifier[rest - 1].name)
            && (rest < 2 || self.same_name(database, &qualifier[rest - 2].name))
    }

    /// Adds a source to the innermost level; 1011 and 1013 when its name is taken.
    pub(super) fn add_source(&mut self, source: Source) -> SqlResult<()> {
        let from = self.scope().names_from;
        let clash = self.scope().sources.iter().skip(from).position(|other| {
            !source.exposed.is_empty()
                && other.exposed.to_lowercase() == source.exposed.to_lowercase()
                && (source.aliased || other.aliased || other.qualifier == source.qualifier)
        });
        if let Some(other) = clash {
            let other = &self.scope().sources[from + other];
            return Err(if other.aliased && source.aliased {
                errors::same_alias(&source.exposed)
            } else {
                errors::same_exposed(&source.exposed, &other.exposed)
            });
        }
        let scope = self.scope();
        scope.sources.push(source);
        Ok(())
    }
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
