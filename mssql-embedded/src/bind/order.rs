//! ORDER BY: positions, aliases, expressions.

use std::collections::HashSet;

use crate::ast::{Expr, ExprKind, Literal, OrderItem};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Scalar, SortKey};

use super::collate::require_column;
use super::context::Binder;
use super::errors;
use super::items::Item;

/// What an ORDER BY item names in the select list.
enum Named {
    Item(usize),
    Expression,
}

impl<'a> Binder<'a> {
    /// Binds ORDER BY of a SELECT. With DISTINCT every key must be an item, whose positions are
    /// returned too.
    pub(super) fn bind_order(
        &mut self,
        order: &'a [OrderItem],
        items: &[Item],
        distinct: bool,
    ) -> SqlResult<(Vec<SortKey>, Vec<usize>)> {
        let (mut keys, mut positions) = (Vec::new(), Vec::new());
        for (i, item) in order.iter().enumerate() {
            self.ctx.go_on()?;
            let (ex, position) = match self.named_item(&item.expr, items)? {
                Named::Item(n) => (self.copy(&items[n].ex)?, Some(n)),
                Named::Expression => {
                    let ex = self.bind_expr(&item.expr)?;
                    if matches!(ex.expr, Scalar::Const(_)) || computes_constants(&item.expr) {
                        return Err(SqlError::with(
                            408,
                            16,
                            1,
                            format!(
                                "A constant expression was encountered in the ORDER BY list, \
                                 position {}.",
                                i + 1
                            ),
                        ));
                    }
                    let position = items.iter().position(|x| x.ex.expr.same(&ex.expr));
                    (ex, position)
                }
            };
            require_column(ex.label(), "ORDER BY", i + 1)?;
            if let Scalar::Variable(_) = ex.expr {
                return Err(SqlError::with(
                    1008,
                    16,
                    1,
                    format!(
                        "The SELECT item identified by the ORDER BY number {} contains a variable as \
                         part of the expression identifying a column position. Variables are only \
                         allowed when ordering by an expression referencing a column name.",
                        i + 1
                    ),
                ));
            }
            match position {
                Some(n) => positions.push(n),
                None if distinct => {
                    return Err(SqlError::with(
                        145,
                        15,
                        1,
                        "ORDER BY items must appear in the select list if SELECT DISTINCT is \
                         specified.",
                    ));
                }
                None => {}
            }
            keys.push(SortKey {
                expr: ex.expr,
                ty: ex.ty,
                descending: item.descending,
            });
        }
        self.refuse_repeated(&keys)?;
        Ok((keys, positions))
    }

    /// 169: the same column twice.
    fn refuse_repeated(&self, keys: &[SortKey]) -> SqlResult<()> {
        let mut columns = HashSet::new();
        for key in keys {
            if let Scalar::Slot { level, slot } = key.expr
                && !columns.insert((level, slot))
            {
                return Err(SqlError::with(
                    169,
                    15,
                    1,
                    "A column has been specified more than once in the order by list. Columns in the \
                     order by list must be unique.",
                ));
            }
        }
        Ok(())
    }

    fn named_item(&self, expr: &Expr, items: &[Item]) -> SqlResult<Named> {
        match &expr.kind {
            ExprKind::Literal(Literal::Integer(digits)) => {
                let position: usize = digits.parse().unwrap_or(0);
                if position == 0 || position > items.len() {
                    return Err(SqlError::with(
                        108,
                        16,
                        1,
                        format!(
                            "The ORDER BY position number {digits} is out of range of the number of \
                             items in the select list."
                        ),
                    ));
                }
                Ok(Named::Item(position - 1))
            }
            ExprKind::Column(name) if name.parts.len() == 1 => {
                let wanted = &name.parts[0];
                let mut found = items.iter().enumerate().filter(|(_, item)| {
                    !item.name.is_empty() && self.same_name(&item.name, &wanted.name)
                });
                let Some((first, item)) = found.next() else {
                    return Ok(Named::Expression);
                };
                if found.any(|(_, other)| !other.ex.expr.same(&item.ex.expr)) {
                    return Err(errors::ambiguous(&wanted.name, wanted.pos));
                }
                Ok(Named::Item(first))
            }
            ExprKind::Literal(_)
            | ExprKind::Variable(_)
            | ExprKind::GlobalVariable(_)
            | ExprKind::Column(_)
            | ExprKind::Binary(..)
            | ExprKind::Unary(..)
            | ExprKind::Call(_)
            | ExprKind::Cast { .. }
            | ExprKind::Convert { .. }
            | ExprKind::SimpleCase { .. }
            | ExprKind::SearchedCase { .. }
            | ExprKind::Iif { .. }
            | ExprKind::Subquery(_)
            | ExprKind::Collate(..)
            | ExprKind::AtTimeZone(..) => Ok(Named::Expression),
        }
    }

    /// ORDER BY over the result of a set operator: only its columns can be named (104).
    pub(super) fn bind_order_of_columns(
        &mut self,
        order: &'a [OrderItem],
        items: &[Item],
    ) -> SqlResult<Vec<SortKey>> {
        let mut keys = Vec::new();
        for (i, item) in order.iter().enumerate() {
            self.ctx.go_on()?;
            match self.named_item(&item.expr, items)? {
                Named::Item(n) => {
                    let ex = self.copy(&items[n].ex)?;
                    require_column(ex.label(), "ORDER BY", i + 1)?;
                    keys.push(SortKey {
                        expr: ex.expr,
                        ty: ex.ty,
                        descending: item.descending,
                    });
                }
                Named::Expression => {
                    return Err(SqlError::with(
                        104,
                        16,
                        1,
                        "ORDER BY items must appear in the select list if the statement contains a \
                         UNION, INTERSECT or EXCEPT operator.",
                    ));
                }
            }
        }
        Ok(keys)
    }
}

/// Whether an expression is a literal or computed from literals, in whatever way needs no function.
fn computes_constants(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Unary(_, operand) => computes_constants(operand),
        ExprKind::Binary(_, left, right) => computes_constants(left) && computes_constants(right),
        ExprKind::Cast { expr, .. } => computes_constants(expr),
        ExprKind::Convert { expr, style, .. } => style.is_none() && computes_constants(expr),
        ExprKind::Variable(_)
        | ExprKind::GlobalVariable(_)
        | ExprKind::Column(_)
        | ExprKind::Call(_)
        | ExprKind::SimpleCase { .. }
        | ExprKind::SearchedCase { .. }
        | ExprKind::Iif { .. }
        | ExprKind::Subquery(_)
        | ExprKind::Collate(..)
        | ExprKind::AtTimeZone(..) => false,
    }
}
