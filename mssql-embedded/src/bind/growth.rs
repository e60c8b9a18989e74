//! How far a statement may grow while it is bound. CTEs and views are bound wherever they are named, and some forms need
//! an operand more than once, so that a short text can ask for a plan that no memory and no stack can hold.

use crate::error::{SqlError, SqlResult};
use crate::plan::{Scalar, SortKey};

use super::context::Binder;
use super::planner::SOURCES_MAX;
use super::typing::Ex;

/// How many SELECTs a statement may consist of once its CTEs and views are in their places.
const SELECTS_MAX: usize = 5_000;

/// How many values and columns may be read by copies of expressions. NULLIF, BETWEEN, the simple CASE and an ORDER BY of
/// what is selected need an operand more than once, and in each other they double it at every level.
const COPIES_MAX: usize = 20_000;

/// How deep queries may stand in each other once CTEs and views are in their places. The parser bounds what one text
/// nests, but each CTE can name the one before it.
const QUERIES_MAX: usize = 200;

/// The same for expressions, conditions and joins: one text can chain a few hundred, and each CTE can do that anew.
const LEVELS_MAX: usize = 2_000;

/// How deep CASE expressions may nest ("MSSQLSERVER_125"). IIF counts as the CASE that it stands for ("IIF"); of COALESCE
/// and NULLIF no document says so.
const CASES_MAX: usize = 10;

/// How deep views may nest ("Create views").
const VIEWS_MAX: usize = 32;

impl Binder<'_> {
    /// Counts a SELECT about to be bound, and asks whether to go on.
    ///
    /// # Errors
    ///
    /// 8623 when CTEs and views that name each other have made the statement too large.
    pub(super) fn count_select(&mut self) -> SqlResult<()> {
        self.ctx.go_on()?;
        self.growth.selects += 1;
        within(self.growth.selects, SELECTS_MAX)
    }

    /// Another copy of an expression.
    ///
    /// # Errors
    ///
    /// 8623 when copies of copies have made the statement too large.
    pub(super) fn copy(&mut self, ex: &Ex) -> SqlResult<Ex> {
        self.count_copy(&ex.expr)?;
        Ok(ex.clone())
    }

    /// Another copy of what rows are ordered by.
    ///
    /// # Errors
    ///
    /// As [`copy`](Self::copy).
    pub(super) fn copy_keys(&mut self, keys: &[SortKey]) -> SqlResult<Vec<SortKey>> {
        for key in keys {
            self.count_copy(&key.expr)?;
        }
        Ok(keys.to_vec())
    }

    fn count_copy(&mut self, expr: &Scalar) -> SqlResult<()> {
        let mut parts = 1;
        expr.each_part(&mut |_| parts += 1);
        self.growth.copied += parts;
        within(self.growth.copied, COPIES_MAX)
    }

    /// Asked after a source was added to the innermost query.
    ///
    /// # Errors
    ///
    /// 8623 when there are too many to join.
    pub(super) fn check_sources(&mut self) -> SqlResult<()> {
        within(self.scope().leaves.len(), SOURCES_MAX)
    }

    /// Binds a query inside the current place.
    ///
    /// # Errors
    ///
    /// 8623 when it stands too deep.
    pub(super) fn in_query<T>(
        &mut self,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        within(self.growth.queries + 1, QUERIES_MAX)?;
        self.growth.queries += 1;
        let cases = std::mem::take(&mut self.growth.cases);
        let bound = bind(self);
        self.growth.cases = cases;
        self.growth.queries -= 1;
        bound
    }

    /// Binds an expression, condition or join inside the current place.
    ///
    /// # Errors
    ///
    /// 8623 when it stands too deep.
    pub(super) fn in_level<T>(
        &mut self,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        within(self.growth.levels + 1, LEVELS_MAX)?;
        self.growth.levels += 1;
        let bound = bind(self);
        self.growth.levels -= 1;
        bound
    }

    /// Binds a CASE expression.
    ///
    /// # Errors
    ///
    /// 125 when too many others enclose it.
    pub(super) fn in_case<T>(
        &mut self,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.growth.cases >= CASES_MAX {
            let message = format!("Case expressions may only be nested to level {CASES_MAX}.");
            return Err(SqlError::with(125, 15, 4, message));
        }
        self.growth.cases += 1;
        let bound = bind(self);
        self.growth.cases -= 1;
        bound
    }

    /// Binds the body of a view. What is read there needs no permission of its own.
    ///
    /// # Errors
    ///
    /// 217 when too many others enclose it.
    pub(super) fn in_view<T>(
        &mut self,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.view_depth >= VIEWS_MAX {
            return Err(SqlError::nested_too_deep());
        }
        self.view_depth += 1;
        let ctes = std::mem::take(&mut self.ctes);
        let bound = bind(self);
        self.ctes = ctes;
        self.view_depth -= 1;
        bound
    }
}

fn within(count: usize, max: usize) -> SqlResult<()> {
    if count <= max {
        return Ok(());
    }
    Err(SqlError::new(
        8623,
        "The query processor ran out of internal resources and could not produce a query plan. This is \
         a rare event and only expected for extremely complex queries or queries that reference a very \
         large number of tables or partitions. Please simplify the query. If you believe you have \
         received this message in error, contact Customer Support Services for more information.",
    ))
}
