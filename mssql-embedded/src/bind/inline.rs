//! Derived tables, CTEs and views that only pick columns and rows become part of the query around them,
//! so that a condition outside can use an index inside.

use std::sync::Arc;

use crate::ast::{ExprKind, Ident, QueryBody, QueryExpr, QuerySpec, SelectItem};
use crate::catalog::ViewDef;
use crate::error::{SqlError, SqlResult};
use crate::plan::Scalar;
use crate::value::ColumnMeta;

use super::context::Binder;
use super::items::Item;
use super::items::meta;
use super::planner::{Conjunct, Rel};
use super::scope::{Clause, Source, SourceColumn};
use super::source::{check_names, rename};
use super::state::QueryUse;

/// How much of a level there was before something was added to it.
struct Mark {
    sources: usize,
    leaves: usize,
    width: usize,
}

/// A query to be inlined, with the names that it goes by.
pub(super) struct Part<'a, 's> {
    pub(super) query: &'a QueryExpr,
    /// The alias, or the name of the CTE or view.
    pub(super) exposed: &'s str,
    /// Names for its columns, if given.
    pub(super) names: &'s [Ident],
    /// Whether it sees no names of the levels above.
    pub(super) closed: bool,
}

impl<'a> Binder<'a> {
    /// Adds the tables of a query to the innermost level, if the query is that simple.
    pub(super) fn inline(&mut self, part: &Part<'a, '_>) -> SqlResult<Option<Rel>> {
        let Some(spec) = simple(part.query) else {
            return Ok(None);
        };
        self.count_select()?;
        let scope = self.scope();
        // Under APPLY the query reads the sources before it, which an inlined one could not.
        if !scope.visible.is_empty() {
            return Ok(None);
        }
        let mark = Mark {
            sources: scope.sources.len(),
            leaves: scope.leaves.len(),
            width: scope.width,
        };
        let names_from = std::mem::replace(&mut scope.names_from, mark.sources);
        let closed = part.closed || scope.barrier;
        let barrier = std::mem::replace(&mut scope.barrier, closed);
        let bound = self.in_query(|b| b.bind_inlined(spec, &mark));
        let scope = self.scope();
        scope.names_from = names_from;
        scope.barrier = barrier;
        scope.visible = 0..0;
        let (members, conds, items) = bound?;
        let Some(mut columns) = self.merged_columns(&items, &mark) else {
            let scope = self.scope();
            scope.sources.truncate(mark.sources);
            scope.leaves.truncate(mark.leaves);
            scope.join_hints.retain(|(leaf, _)| *leaf < mark.leaves);
            scope.width = mark.width;
            return Ok(None);
        };
        self.name_merged(&mut columns, part)?;
        let scope = self.scope();
        for source in &mut scope.sources[mark.sources..] {
            source.hidden = true;
            source.exposed.clear();
        }
        self.add_source(Source {
            exposed: part.exposed.to_owned(),
            qualifier: None,
            aliased: true,
            columns,
            hidden: false,
            bare: false,
            qualified_only: false,
            leaf: Some(mark.leaves),
        })?;
        Ok(Some(Rel::Inner { members, conds }))
    }

    /// The same for a view.
    pub(super) fn inline_view(
        &mut self,
        view: &'a Arc<ViewDef>,
        exposed: &str,
    ) -> SqlResult<Option<Rel>> {
        if !view.query.with.is_empty() {
            return Ok(None);
        }
        let names: Vec<Ident> = view.columns.iter().map(|name| ident(name)).collect();
        let part = Part {
            query: &view.query.query,
            exposed,
            names: &names,
            closed: true,
        };
        self.in_view(|b| b.inline(&part))
    }

    fn bind_inlined(
        &mut self,
        spec: &'a QuerySpec,
        mark: &Mark,
    ) -> SqlResult<(Vec<Rel>, Vec<Conjunct>, Vec<Item>)> {
        let mut members = Vec::with_capacity(spec.from.len());
        for source in &spec.from {
            self.scope().visible = 0..0;
            members.push(self.bind_source(source)?);
        }
        let end = self.scope().sources.len();
        self.scope().visible = mark.sources..end;
        let conds = match &spec.filter {
            Some(cond) => self.in_clause(Clause::Where, |b| b.bind_conjuncts(cond))?,
            None => Vec::new(),
        };
        let (items, _) = self.in_clause(Clause::Select, |b| {
            b.bind_items(&spec.items, &QueryUse::Derived)
        })?;
        Ok((members, conds, items))
    }

    /// The columns that a merged query offers; `None` when one of them is not a column of its tables.
    fn merged_columns(&mut self, items: &[Item], mark: &Mark) -> Option<Vec<SourceColumn>> {
        let level = self.scopes.len() - 1;
        let column = |item: &Item| {
            if let Scalar::Slot { level: l, slot } = &item.ex.expr
                && *l == level
                && *slot >= mark.width
            {
                Some(SourceColumn {
                    name: item.name.clone(),
                    ty: item.ex.ty.clone(),
                    nullable: item.ex.nullable,
                    identity: item.identity,
                    slot: *slot,
                    coll: item.ex.coll,
                })
            } else {
                None
            }
        };
        items.iter().map(column).collect()
    }

    /// Names the columns as the alias or CTE says, and refuses what SQL Server refuses in names.
    fn name_merged(&self, columns: &mut [SourceColumn], part: &Part<'_, '_>) -> SqlResult<()> {
        let mut named: Vec<ColumnMeta> = columns
            .iter()
            .map(|c| meta(&c.name, &c.ty, c.nullable))
            .collect();
        rename(&mut named, part.names, part.exposed)?;
        check_names(&named, part.exposed)?;
        for (column, named) in columns.iter_mut().zip(named) {
            column.name = named.name;
        }
        if columns.is_empty() {
            return Err(SqlError::internal("a query without columns"));
        }
        Ok(())
    }
}

fn ident(name: &str) -> Ident {
    Ident {
        name: name.to_owned(),
        pos: crate::ast::Pos::default(),
    }
}

/// The SELECT of a query that does nothing but pick columns and rows of its tables.
fn simple(query: &QueryExpr) -> Option<&QuerySpec> {
    let QueryBody::Select(spec) = &query.body else {
        return None;
    };
    let plain = query.order_by.is_empty()
        && query.offset.is_none()
        && query.for_json.is_none()
        && !spec.distinct
        && spec.top.is_none()
        && spec.into.is_none()
        && spec.group_by.is_empty()
        && spec.grouping_sets.is_empty()
        && spec.having.is_none()
        && !spec.from.is_empty();
    let picks = |item: &SelectItem| match item {
        SelectItem::Star(_) => true,
        SelectItem::Expr { expr, .. } => matches!(expr.kind, ExprKind::Column(_)),
        SelectItem::Assign { .. } => false,
    };
    (plain && spec.items.iter().all(picks)).then_some(spec)
}
