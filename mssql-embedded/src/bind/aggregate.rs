//! Aggregate calls.

use crate::ast::{Call, OrderItem};
use crate::error::{SqlError, SqlResult};
use crate::func::{Aggregate, argument_count};
use crate::plan::{AggregateCall, Scalar, SortKey};
use crate::value::DataType;

use super::collate::{require_for, unsettled};
use super::context::Binder;
use super::errors;
use super::expr::nested_aggregate;
use super::scope::Clause;
use super::typing::{Ex, coerce};

impl<'a> Binder<'a> {
    /// Binds an aggregate of the innermost query; its result is a slot of the grouping.
    pub(super) fn bind_aggregate(&mut self, function: Aggregate, call: &'a Call) -> SqlResult<Ex> {
        self.allow_aggregate()?;
        self.check_recursive_aggregate()?;
        let (args, arg_ty, coll) = self.in_clause(Clause::AggregateArg, |b| {
            b.bind_aggregate_args(function, call)
        })?;
        self.refuse_outer_aggregate(&args)?;
        let order = self.in_clause(Clause::AggregateArg, |b| {
            b.bind_sort_keys(&call.within_group)
        })?;
        let ty = function.result_type(&arg_ty);
        let counts = matches!(function, Aggregate::Count | Aggregate::CountBig);
        let level = self.scopes.len() - 1;
        let scope = self.scope();
        let known = scope.aggregates.iter().find(|a| {
            a.function == function
                && a.distinct == call.distinct
                && a.order.is_empty()
                && order.is_empty()
                && a.args.len() == args.len()
                && a.args.iter().zip(&args).all(|(x, y)| x.same(y))
        });
        let slot = match known {
            Some(known) => known.slot,
            None => {
                let slot = scope.allocate(1);
                scope.computed.push(slot);
                scope.aggregates.push(AggregateCall {
                    function,
                    args,
                    arg_ty,
                    ty: ty.clone(),
                    distinct: call.distinct,
                    order,
                    slot,
                });
                slot
            }
        };
        Ok(Ex {
            expr: Scalar::Slot { level, slot },
            ty,
            nullable: !counts,
            coll,
        })
    }

    /// The converted arguments, the type of the first, and its collation strength.
    pub(super) fn bind_aggregate_args(
        &mut self,
        function: Aggregate,
        call: &'a Call,
    ) -> SqlResult<(Vec<Scalar>, DataType, super::typing::Coercibility)> {
        if call.star {
            if !matches!(function, Aggregate::Count | Aggregate::CountBig) {
                return Err(SqlError::near("*"));
            }
            return Ok((
                Vec::new(),
                DataType::Int,
                super::typing::Coercibility::Default,
            ));
        }
        if call.args.len() != function.arity() {
            return Err(argument_count(function.name(), function.arity()));
        }
        let mut args = Vec::with_capacity(call.args.len());
        let first = self.bind_expr(&call.args[0])?;
        let coll = first.label();
        if call.distinct {
            require_for(coll, "DISTINCT", 11)?;
        }
        let compares = matches!(
            function,
            Aggregate::Min | Aggregate::Max | Aggregate::StringAgg
        );
        if compares && coll.conflict().is_some() {
            return Err(unsettled(&function.name().to_ascii_lowercase()));
        }
        let arg_ty = function.argument_type(&first.ty)?;
        args.push(coerce(first, &arg_ty)?);
        if let Some(separator) = call.args.get(1) {
            let separator = self.bind_expr(separator)?;
            let mut reads = false;
            separator.expr.each_slot(&mut |_, _| reads = true);
            if reads {
                return Err(SqlError::new(
                    8733,
                    "Separator parameter for STRING_AGG must be a string literal or variable.",
                ));
            }
            let ty = if arg_ty.is_unicode() {
                DataType::nvarchar(4000, self.ctx.database.collation)
            } else {
                DataType::varchar(8000, self.ctx.database.collation)
            };
            args.push(coerce(separator, &ty)?);
        }
        Ok((args, arg_ty, coll))
    }

    /// Keys of ORDER BY inside WITHIN GROUP and OVER.
    pub(super) fn bind_sort_keys(&mut self, items: &'a [OrderItem]) -> SqlResult<Vec<SortKey>> {
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let ex = self.bind_expr(&item.expr)?;
            if let Scalar::Const(value) = &ex.expr {
                return Err(constant_order(value));
            }
            keys.push(SortKey {
                expr: ex.expr,
                ty: ex.ty,
                descending: item.descending,
            });
        }
        Ok(keys)
    }

    fn allow_aggregate(&self) -> SqlResult<()> {
        if self.scopes.is_empty() {
            return Err(SqlError::unsupported("an aggregate outside of a query"));
        }
        match self.clause() {
            Clause::Where => Err(SqlError::with(
                147,
                15,
                1,
                "An aggregate may not appear in the WHERE clause unless it is in a subquery contained \
                 in a HAVING clause or a select list, and the column being aggregated is an outer \
                 reference.",
            )),
            Clause::On => Err(SqlError::with(
                1015,
                15,
                1,
                "An aggregate cannot appear in an ON clause unless it is in a subquery contained in a \
                 HAVING clause or select list, and the column being aggregated is an outer reference.",
            )),
            Clause::GroupBy => Err(errors::not_in_group_by()),
            Clause::AggregateArg => Err(nested_aggregate()),
            Clause::Set => Err(SqlError::with(
                157,
                15,
                1,
                "An aggregate may not appear in the set list of an UPDATE statement.",
            )),
            Clause::Output => Err(SqlError::with(
                158,
                15,
                1,
                "An aggregate may not appear in the OUTPUT clause.",
            )),
            Clause::Rule => Err(SqlError::unsupported(
                "an aggregate in a constraint or default",
            )),
            Clause::Other
            | Clause::Select
            | Clause::Having
            | Clause::OrderBy
            | Clause::WindowArg => Ok(()),
        }
    }

    /// An aggregate over columns of an outer query only belongs to that query.
    fn refuse_outer_aggregate(&self, args: &[Scalar]) -> SqlResult<()> {
        let level = self.scopes.len() - 1;
        let (mut inner, mut outer) = (false, false);
        for arg in args {
            arg.each_slot(&mut |l, _| {
                if l < level {
                    outer = true
                } else {
                    inner = true
                }
            });
        }
        if outer && !inner {
            return Err(SqlError::unsupported(
                "an aggregate over columns of an outer query only",
            ));
        }
        Ok(())
    }
}

fn constant_order(value: &crate::value::Value) -> SqlError {
    if matches!(value, crate::value::Value::Int(_)) {
        SqlError::new(
            5308,
            "Windowed functions, aggregates and NEXT VALUE FOR functions do not support integer \
             indices as ORDER BY clause expressions.",
        )
    } else {
        SqlError::new(
            5309,
            "Windowed functions, aggregates and NEXT VALUE FOR functions do not support constants as \
             ORDER BY clause expressions.",
        )
    }
}
