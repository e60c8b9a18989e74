//! What the recursive part of a common table expression may not contain. SQL Server looks through derived tables,
//! subqueries and other expressions that it names, but not below a set operator.

use crate::ast::{JoinKind, ObjectName, QueryBody, QueryExpr, QuerySpec, TableSource};
use crate::error::{SqlError, SqlResult};

use super::context::Binder;

impl<'a> Binder<'a> {
    /// 460, 461 and 467 for a SELECT of the recursive part.
    pub(super) fn check_recursive(&self, spec: &QuerySpec, query: &QueryExpr) -> SqlResult<()> {
        let Some(name) = self.recursive_part else {
            return Ok(());
        };
        if spec.distinct {
            return Err(refused(460, "DISTINCT operator is", name));
        }
        if spec.top.is_some() || query.offset.is_some() {
            return Err(refused(461, "The TOP or OFFSET operator is", name));
        }
        if !spec.group_by.is_empty() || !spec.grouping_sets.is_empty() || spec.having.is_some() {
            return Err(grouped(name));
        }
        Ok(())
    }

    /// 467 for an aggregate of the recursive part; window functions are allowed there.
    pub(super) fn check_recursive_aggregate(&self) -> SqlResult<()> {
        self.recursive_part
            .map_or(Ok(()), |name| Err(grouped(name)))
    }

    /// 462. OUTER APPLY is not among the joins that the documents forbid.
    pub(super) fn check_recursive_join(&self, kind: JoinKind) -> SqlResult<()> {
        match (kind, self.recursive_part) {
            (JoinKind::Left | JoinKind::Right | JoinKind::Full, Some(name)) => {
                Err(refused(462, "Outer join is", name))
            }
            (
                JoinKind::Left
                | JoinKind::Right
                | JoinKind::Full
                | JoinKind::Inner
                | JoinKind::Cross
                | JoinKind::CrossApply
                | JoinKind::OuterApply,
                _,
            ) => Ok(()),
        }
    }

    /// Binds as the recursive part of the CTE `name`, or, with `None`, as no such part.
    pub(super) fn in_recursive_part<T>(
        &mut self,
        name: Option<&'a str>,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let outside = std::mem::replace(&mut self.recursive_part, name);
        let bound = bind(self);
        self.recursive_part = outside;
        bound
    }

    /// Where a query names a table or CTE in any FROM, but not in subqueries.
    pub(super) fn mentions_in<'q>(&self, body: &'q QueryBody, name: &str) -> Vec<&'q ObjectName> {
        match body {
            QueryBody::Select(spec) => {
                let mentions = |s| self.mentions_in_source(s, name);
                spec.from.iter().flat_map(mentions).collect()
            }
            QueryBody::SetOp { left, right, .. } => {
                let mut all = self.mentions_in(left, name);
                all.extend(self.mentions_in(right, name));
                all
            }
            QueryBody::Nested(query) => self.mentions_in(&query.body, name),
            QueryBody::Values(_) => Vec::new(),
        }
    }

    fn mentions_in_source<'q>(&self, source: &'q TableSource, name: &str) -> Vec<&'q ObjectName> {
        match source {
            TableSource::Named { name: n, .. } => match n.parts.as_slice() {
                [single] if self.ctx.database.fold(&single.name) == name => vec![n],
                _ => Vec::new(),
            },
            TableSource::Derived { query, .. } => self.mentions_in(&query.body, name),
            TableSource::Join { left, right, .. } => {
                let mut all = self.mentions_in_source(left, name);
                all.extend(self.mentions_in_source(right, name));
                all
            }
            TableSource::Variable { .. }
            | TableSource::OpenJson { .. }
            | TableSource::Function { .. } => Vec::new(),
        }
    }
}

/// 253: one reference is all that a recursive member may have.
pub(super) fn several_references(name: &str) -> SqlError {
    let message = format!(
        "Recursive member of a common table expression '{name}' has multiple recursive references."
    );
    SqlError::new(253, message)
}

/// 465: and it stands in FROM.
pub(super) fn in_subquery() -> SqlError {
    SqlError::new(465, "Recursive references are not allowed in subqueries.")
}

fn grouped(name: &str) -> SqlError {
    let what = "GROUP BY, HAVING, or aggregate functions are";
    refused(467, what, name)
}

fn refused(number: i32, what: &str, name: &str) -> SqlError {
    let message = format!(
        "{what} not allowed in the recursive part of a recursive common table expression '{name}'."
    );
    SqlError::new(number, message)
}
