//! Finding columns: the open query levels, from the innermost outwards.

use crate::ast::{Ident, ObjectName};
use crate::error::SqlResult;

use super::context::Binder;
use super::errors;
use super::scope::{Clause, Scope, Source, SourceColumn, column_ex};
use super::typing::Ex;

impl Binder<'_> {
    /// Opens a query level. From behind a barrier the names of the levels above are not seen.
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
        self.ctx.database.same_name(a, b)
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
