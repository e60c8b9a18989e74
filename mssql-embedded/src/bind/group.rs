//! GROUP BY: what the clauses after it may read.

use crate::ast::Call;
use crate::error::{SqlError, SqlResult};
use crate::func::argument_count;
use crate::plan::{Assign, Cond, Group, Node, Scalar, SortKey};
use crate::value::DataType;

use super::context::Binder;
use super::items::Item;
use super::typing::Ex;

/// The clauses of a SELECT, bound and not yet assembled.
pub(super) struct Parts {
    pub(super) items: Vec<Item>,
    pub(super) assign: Vec<Assign>,
    pub(super) having: Vec<Cond>,
    /// Conditions over window functions.
    pub(super) above: Vec<Cond>,
    pub(super) order: Vec<SortKey>,
    /// For DISTINCT, the item that each key of ORDER BY is.
    pub(super) order_items: Vec<usize>,
}

/// Makes the operator of a grouping from its input.
pub(super) type Grouping = Box<dyn FnOnce(Node) -> Group>;

/// The keys of GROUP BY, each once, and the grouping sets over them.
///
/// # Errors
///
/// 10706 when the sets name too many keys.
pub(super) fn unique_keys(
    keys: Vec<Ex>,
    sets: &[Vec<usize>],
) -> SqlResult<(Vec<Ex>, Vec<Vec<usize>>)> {
    if sets.is_empty() {
        return Ok((keys, Vec::new()));
    }
    let mut unique: Vec<Ex> = Vec::new();
    let mut places = Vec::with_capacity(keys.len());
    for key in keys {
        let known = unique.iter().position(|k| k.expr.same(&key.expr));
        places.push(known.unwrap_or(unique.len()));
        if known.is_none() {
            unique.push(key);
        }
        if unique.len() > SqlError::GROUPING_KEYS_MAX {
            return Err(SqlError::too_many_grouping_keys());
        }
    }
    let placed = |set: &Vec<usize>| set.iter().map(|i| places[*i]).collect();
    Ok((unique, sets.iter().map(placed).collect()))
}

impl<'a> Binder<'a> {
    /// Turns the clauses into expressions over the groups. A key that is a plain column keeps its
    /// slot, so that subqueries that read it need no change; other keys get a slot of their own.
    pub(super) fn bind_grouping(
        &mut self,
        keys: Vec<Ex>,
        sets: Vec<Vec<usize>>,
        parts: &mut Parts,
    ) -> SqlResult<Grouping> {
        let level = self.scopes.len() - 1;
        let scalar = keys.is_empty() && sets.len() <= 1;
        if !sets.is_empty() {
            parts.items.iter_mut().for_each(|i| i.ex.nullable = true);
        }
        let mut bound = Vec::with_capacity(keys.len());
        for key in keys {
            self.ctx.go_on()?;
            let mut reads = false;
            key.expr.each_slot(&mut |l, _| reads |= l == level);
            if !reads {
                return Err(SqlError::with(
                    164,
                    15,
                    1,
                    "Each GROUP BY expression must contain at least one column that is not an outer \
                     reference.",
                ));
            }
            let slot = if let Scalar::Slot { slot, .. } = &key.expr {
                *slot
            } else {
                self.scope().allocate(1)
            };
            bound.push((key.expr, key.ty, slot));
        }
        let scope = &self.scopes[level];
        let name = |slot: usize| scope.slot_name(slot).unwrap_or_default();
        let rewriter = Rewriter {
            level,
            keys: &bound,
            computed: &scope.computed,
            name: &name,
        };
        for item in &mut parts.items {
            self.ctx.go_on()?;
            rewriter.scalar(&mut item.ex.expr, 8120, "select list")?;
        }
        for assign in &mut parts.assign {
            rewriter.scalar(&mut assign.value, 8120, "select list")?;
        }
        for cond in &mut parts.having {
            rewriter.cond(cond, 8121, "HAVING clause")?;
        }
        for key in &mut parts.order {
            self.ctx.go_on()?;
            rewriter.scalar(&mut key.expr, 8127, "ORDER BY clause")?;
        }
        let mut windows = scope.windows.clone();
        for window in &mut windows {
            for arg in &mut window.args {
                rewriter.scalar(arg, 8120, "select list")?;
            }
            for (expr, _) in &mut window.partition {
                rewriter.scalar(expr, 8120, "select list")?;
            }
            for key in &mut window.order {
                rewriter.scalar(&mut key.expr, 8120, "select list")?;
            }
        }
        let scope = self.scope();
        scope.windows = windows;
        let aggregates = std::mem::take(&mut scope.aggregates);
        let indicators = std::mem::take(&mut scope.indicators);
        Ok(Box::new(move |input| Group {
            input,
            keys: bound,
            aggregates,
            scalar,
            sets,
            indicators,
        }))
    }

    /// GROUPING (one key, TINYINT) and GROUPING_ID (several, INT): a bit for each key that the row's
    /// grouping set leaves out.
    pub(super) fn bind_grouping_function(&mut self, name: &str, call: &'a Call) -> SqlResult<Ex> {
        let single = name == "GROUPING";
        if call.args.is_empty() || single && call.args.len() != 1 {
            return Err(argument_count(name, 1));
        }
        if call.args.len() > SqlError::GROUPING_KEYS_MAX {
            return Err(SqlError::unsupported(format!(
                "{name} with more arguments than an INT has bits"
            )));
        }
        let mut keys = Vec::with_capacity(call.args.len());
        for (i, arg) in call.args.iter().enumerate() {
            let arg = self.bind_expr(arg)?.expr;
            let key = self.scope().group_keys.iter().position(|k| k.same(&arg));
            keys.push(key.ok_or_else(|| {
                SqlError::new(
                    8161,
                    format!(
                        "Argument {} of the {name} function does not match any of the expressions in \
                         the GROUP BY clause.",
                        i + 1
                    ),
                )
            })?);
        }
        let level = self.scopes.len() - 1;
        let scope = self.scope();
        let slot = scope.allocate(1);
        scope.computed.push(slot);
        scope.indicators.push((keys, slot));
        let ty = if single {
            DataType::TinyInt
        } else {
            DataType::Int
        };
        Ok(Ex::new(Scalar::Slot { level, slot }, ty, false))
    }
}

struct Rewriter<'r> {
    level: usize,
    keys: &'r [(Scalar, DataType, usize)],
    computed: &'r [usize],
    name: &'r dyn Fn(usize) -> String,
}

impl Rewriter<'_> {
    fn scalar(&self, expr: &mut Scalar, number: i32, clause: &str) -> SqlResult<()> {
        if let Some((_, _, slot)) = self.keys.iter().find(|(key, _, _)| key.same(expr)) {
            *expr = Scalar::Slot {
                level: self.level,
                slot: *slot,
            };
            return Ok(());
        }
        match expr {
            Scalar::Const(_) | Scalar::Variable(_) => Ok(()),
            Scalar::Slot { level, slot } => self.check(*level, *slot, number, clause),
            Scalar::Arith { left, right, .. } => {
                self.scalar(left, number, clause)?;
                self.scalar(right, number, clause)
            }
            Scalar::Negate(x, _) | Scalar::BitNot(x, _) => self.scalar(x, number, clause),
            Scalar::Cast { expr, style, .. } => {
                self.scalar(expr, number, clause)?;
                style
                    .iter_mut()
                    .try_for_each(|s| self.scalar(s, number, clause))
            }
            Scalar::Call { args, .. } | Scalar::Coalesce(args) => args
                .iter_mut()
                .try_for_each(|a| self.scalar(a, number, clause)),
            Scalar::Case { whens, otherwise } => {
                for (cond, value) in whens {
                    self.cond(cond, number, clause)?;
                    self.scalar(value, number, clause)?;
                }
                self.scalar(otherwise, number, clause)
            }
            Scalar::Subquery(query) => self.check_query(query, number, clause),
        }
    }

    fn cond(&self, cond: &mut Cond, number: i32, clause: &str) -> SqlResult<()> {
        match cond {
            Cond::Const(_) => Ok(()),
            Cond::And(list) | Cond::Or(list) => list
                .iter_mut()
                .try_for_each(|c| self.cond(c, number, clause)),
            Cond::Not(c) => self.cond(c, number, clause),
            Cond::Compare { left, right, .. } => {
                self.scalar(left, number, clause)?;
                self.scalar(right, number, clause)
            }
            Cond::IsNull(x) => self.scalar(x, number, clause),
            Cond::InList { expr, list, .. } => {
                self.scalar(expr, number, clause)?;
                list.iter_mut()
                    .try_for_each(|x| self.scalar(x, number, clause))
            }
            Cond::Like {
                expr,
                pattern,
                escape,
                ..
            } => {
                self.scalar(expr, number, clause)?;
                self.scalar(pattern, number, clause)?;
                escape
                    .iter_mut()
                    .try_for_each(|x| self.scalar(x, number, clause))
            }
            Cond::Exists(query) => self.check_query(query, number, clause),
            Cond::Quantified { left, query, .. } => {
                self.scalar(left, number, clause)?;
                self.check_query(query, number, clause)
            }
        }
    }

    fn check_query(&self, query: &crate::plan::Query, number: i32, clause: &str) -> SqlResult<()> {
        let mut result = Ok(());
        query.each_slot(&mut |level, slot| {
            if result.is_ok() {
                result = self.check(level, slot, number, clause);
            }
        });
        result
    }

    fn check(&self, level: usize, slot: usize, number: i32, clause: &str) -> SqlResult<()> {
        let known = level != self.level
            || self.computed.contains(&slot)
            || self.keys.iter().any(|(_, _, s)| *s == slot);
        if known {
            return Ok(());
        }
        let name = (self.name)(slot);
        // Of the three messages only that of ORDER BY has these marks.
        let mark = if number == 8127 { '"' } else { '\'' };
        Err(SqlError::new(
            number,
            format!(
                "Column {mark}{name}{mark} is invalid in the {clause} because it is not contained in either an \
                 aggregate function or the GROUP BY clause."
            ),
        ))
    }
}
