//! SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY.

use crate::ast::{Condition, Expr, QueryExpr, QuerySpec};
use crate::catalog::line_of;
use crate::error::{SqlError, SqlResult};
use crate::plan::{Assign, Cond, Node, Query, Scalar, SortKey, WindowFunction};
use crate::value::ColumnMeta;

use super::collate::{require_column, require_for};
use super::context::Binder;
use super::expr::one_column;
use super::group::{Grouping, Parts, unique_keys};
use super::items::meta;
use super::planner::{Conjunct, JoinHints, Request, plan};
use super::scope::Clause;
use super::state::QueryUse;
use super::typing::Ex;

/// A bound query and, for `SELECT @a = x`, its assignments.
pub(super) struct Built {
    pub(super) query: Query,
    pub(super) assign: Vec<Assign>,
}

impl Built {
    /// A query that returns rows.
    pub(super) fn plain(query: Query) -> Self {
        Self {
            query,
            assign: Vec::new(),
        }
    }
}

impl<'a> Binder<'a> {
    /// Binds one SELECT with the ORDER BY and OFFSET around it.
    pub(super) fn bind_spec(
        &mut self,
        spec: &'a QuerySpec,
        query: &'a QueryExpr,
        use_: QueryUse,
    ) -> SqlResult<Built> {
        self.refuse_other_into(spec)?;
        self.count_select()?;
        self.check_recursive(spec, query)?;
        let level = self.push_scope(Self::is_closed(&use_));
        let top = self.bind_top(spec.top.as_ref())?;
        let limits = self.bind_limits(query)?;
        let rel = self.bind_from(&spec.from)?;
        let mut filter = match &spec.filter {
            Some(cond) => self.in_clause(Clause::Where, |b| b.bind_conjuncts(cond))?,
            None => Vec::new(),
        };
        let (keys, sets) = self.bind_group_by(spec)?;
        let (mut items, assign) =
            self.in_clause(Clause::Select, |b| b.bind_items(&spec.items, &use_))?;
        self.pass_on(spec, &mut items)?;
        if spec.distinct {
            for item in &items {
                require_for(item.ex.label(), "DISTINCT", 11)?;
            }
        }
        let having = match &spec.having {
            Some(cond) => vec![self.in_clause(Clause::Having, |b| b.bind_cond(cond))?],
            None => Vec::new(),
        };
        let (order, order_items) = self.in_clause(Clause::OrderBy, |b| {
            b.bind_order(&query.order_by, &items, spec.distinct)
        })?;
        let mut parts = Parts {
            items,
            assign,
            having,
            above: Vec::new(),
            order,
            order_items,
        };
        let grouped = !spec.group_by.is_empty()
            || !sets.is_empty()
            || spec.having.is_some()
            || !self.scope().aggregates.is_empty();
        if let QueryUse::Member(value) = &use_ {
            self.add_membership(value.clone(), &mut parts, &mut filter, grouped)?;
        }
        let group = if grouped {
            Some(self.bind_grouping(keys, sets, &mut parts)?)
        } else {
            None
        };
        let windows = std::mem::take(&mut self.scope().windows);

        let order = wishes(
            level,
            &parts.order,
            grouped || !windows.is_empty() || spec.distinct,
        );
        let request = Request {
            level,
            leaves: std::mem::take(&mut self.scope().leaves),
            rel,
            filter,
            order: order.clone().unwrap_or_default(),
            limited: top.is_some()
                || limits.is_some()
                || matches!(use_, QueryUse::Exists | QueryUse::Member(_)),
            hints: JoinHints {
                force_order: self.force_order,
                strategy: self.join_strategy,
                joins: std::mem::take(&mut self.scope().join_hints),
            },
            choices: self.ctx.choices,
            interrupted: self.ctx.interrupted,
        };
        let planned = plan(request)?;
        let sorted = parts.order.is_empty() || order.is_some() && planned.ordered;
        let mut node = shape(planned.node, group, windows, &mut parts);
        if spec.distinct {
            node = self.distinct(node, &mut parts);
        }
        if !sorted {
            node = Node::Sort {
                input: Box::new(node),
                keys: parts.order.clone(),
            };
        }
        node = self.limit(node, top, limits, &parts.order)?;
        self.finish_spec(level, node, parts, &use_)
    }

    /// INTO stands in the first SELECT of a statement only.
    fn refuse_other_into(&self, spec: &QuerySpec) -> SqlResult<()> {
        match &spec.into {
            Some(into) if !self.into.is_some_and(|known| std::ptr::eq(known, into)) => Err(
                SqlError::with(156, 15, 1, "Incorrect syntax near the keyword 'INTO'.")
                    .at(line_of(into)),
            ),
            Some(_) | None => Ok(()),
        }
    }

    /// The keys of GROUP BY, each once, and the grouping sets over them.
    fn bind_group_by(&mut self, spec: &'a QuerySpec) -> SqlResult<(Vec<Ex>, Vec<Vec<usize>>)> {
        let keys = self.in_clause(Clause::GroupBy, |b| b.bind_list_of(&spec.group_by))?;
        for (i, key) in keys.iter().enumerate() {
            // The query that groups has one column before its keys.
            require_column(key.label(), "GROUP BY", i + 2)?;
        }
        let (keys, sets) = unique_keys(keys, &spec.grouping_sets)?;
        self.scope().group_keys = keys.iter().map(|k| k.expr.clone()).collect();
        Ok((keys, sets))
    }

    fn finish_spec(
        &mut self,
        level: usize,
        node: Node,
        parts: Parts,
        use_: &QueryUse,
    ) -> SqlResult<Built> {
        let (output, columns): (Vec<Scalar>, Vec<ColumnMeta>) = match use_ {
            QueryUse::Exists | QueryUse::Member(_) => (Vec::new(), Vec::new()),
            QueryUse::Statement
            | QueryUse::Value
            | QueryUse::Derived
            | QueryUse::Closed
            | QueryUse::Part => parts
                .items
                .into_iter()
                .map(|item| {
                    let mut column = meta(&item.name, &item.ex.ty, item.ex.nullable);
                    column.identity = item.identity;
                    column.label = item.ex.label();
                    (item.ex.expr, column)
                })
                .unzip(),
        };
        let mut query = self.finish_query(level, node, output, columns);
        let mut also = Vec::new();
        for assign in &parts.assign {
            assign.value.each_slot(&mut |l, slot| {
                if l == level {
                    also.push(slot)
                }
            });
        }
        if !also.is_empty() {
            super::planner::prune(&mut query, &also);
        }
        Ok(Built {
            query,
            assign: parts.assign,
        })
    }

    pub(super) fn bind_list_of(&mut self, exprs: &'a [Expr]) -> SqlResult<Vec<Ex>> {
        exprs.iter().map(|e| self.bind_expr(e)).collect()
    }

    /// The conjuncts of a condition, those of the form `column IN (…)` also as joins.
    pub(super) fn bind_conjuncts(&mut self, cond: &'a Condition) -> SqlResult<Vec<Conjunct>> {
        if let Condition::And(a, b) = cond {
            let mut list = self.in_level(|binder| binder.bind_conjuncts(a))?;
            list.extend(self.in_level(|binder| binder.bind_conjuncts(b))?);
            Ok(list)
        } else {
            let as_join = match self.may_bind_twice() {
                true => self.in_as_join(cond)?,
                false => None,
            };
            let cond = match as_join {
                Some(_) => self.in_two_forms(|b| b.bind_cond(cond))?,
                None => self.bind_cond(cond)?,
            };
            Ok(if let Cond::And(parts) = cond {
                parts.into_iter().map(Conjunct::from).collect()
            } else {
                vec![Conjunct { cond, as_join }]
            })
        }
    }

    /// The equality that makes `value IN (query)` an EXISTS.
    fn add_membership(
        &mut self,
        value: Ex,
        parts: &mut Parts,
        filter: &mut Vec<Conjunct>,
        grouped: bool,
    ) -> SqlResult<()> {
        let [item] = parts.items.as_slice() else {
            return Err(one_column());
        };
        let equal =
            super::compare::compare(crate::ast::CompareOp::Eq, self.copy(&item.ex)?, value)?;
        if !self.scope().windows.is_empty() {
            parts.above.push(equal);
        } else if grouped {
            parts.having.push(equal);
        } else {
            filter.push(equal.into());
        }
        Ok(())
    }

    /// Computes the outputs into slots and removes duplicates.
    fn distinct(&mut self, node: Node, parts: &mut Parts) -> Node {
        let level = self.scopes.len() - 1;
        let base = self.scope().allocate(parts.items.len());
        let (mut exprs, mut keys) = (Vec::new(), Vec::new());
        for (i, item) in parts.items.iter_mut().enumerate() {
            let slot = base + i;
            let expr = std::mem::replace(&mut item.ex.expr, Scalar::Slot { level, slot });
            exprs.push((slot, expr));
            keys.push((slot, item.ex.ty.clone()));
        }
        for (key, item) in parts.order.iter_mut().zip(&parts.order_items) {
            key.expr = Scalar::Slot {
                level,
                slot: base + item,
            };
        }
        let input = Box::new(Node::Compute {
            input: Box::new(node),
            exprs,
        });
        Node::Distinct { input, keys }
    }
}

/// ORDER BY as plain slots of this level, if it is so and rows reach it as they were read.
fn wishes(level: usize, order: &[SortKey], reshaped: bool) -> Option<Vec<(usize, bool)>> {
    if reshaped || order.is_empty() {
        return None;
    }
    order
        .iter()
        .map(|key| {
            if let Scalar::Slot { level: l, slot } = &key.expr
                && *l == level
            {
                Some((*slot, key.descending))
            } else {
                None
            }
        })
        .collect()
}

/// Groups, filters the groups, and computes window functions.
fn shape(
    node: Node,
    group: Option<Grouping>,
    windows: Vec<WindowFunction>,
    parts: &mut Parts,
) -> Node {
    let mut node = node;
    if let Some(group) = group {
        node = Node::Group(Box::new(group(node)));
    }
    for cond in std::mem::take(&mut parts.having) {
        node = Node::Filter {
            input: Box::new(node),
            cond,
        };
    }
    if !windows.is_empty() {
        node = Node::Window {
            input: Box::new(node),
            functions: windows,
        };
    }
    for cond in std::mem::take(&mut parts.above) {
        node = Node::Filter {
            input: Box::new(node),
            cond,
        };
    }
    node
}
