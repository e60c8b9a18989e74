//! Window functions.

use crate::ast::{Call, Frame, FrameBound, Over};
use crate::error::{SqlError, SqlResult};
use crate::func::{Aggregate, argument_count};
use crate::plan::{Scalar, WindowFunction, WindowKind};
use crate::refused::{Kind, refusal};
use crate::value::{DataType, Value};

use super::context::Binder;
use super::scope::Clause;
use super::typing::{Coercibility, Ex, coerce};

/// Whether the function exists only with OVER.
pub(super) fn is_window_only(name: &str) -> bool {
    ranking(name).is_some() || positional(name).is_some()
}

/// Window functions by their upper-case names.
type Named = (&'static str, WindowKind);

/// Those that say where a row stands.
pub(super) const RANKING: &[Named] = &[
    ("ROW_NUMBER", WindowKind::RowNumber),
    ("RANK", WindowKind::Rank),
    ("DENSE_RANK", WindowKind::DenseRank),
    ("NTILE", WindowKind::Ntile),
    ("PERCENT_RANK", WindowKind::PercentRank),
    ("CUME_DIST", WindowKind::CumeDist),
];

/// Those that take a value from another row.
pub(super) const POSITIONAL: &[Named] = &[
    ("LAG", WindowKind::Lag),
    ("LEAD", WindowKind::Lead),
    ("FIRST_VALUE", WindowKind::FirstValue),
    ("LAST_VALUE", WindowKind::LastValue),
];

fn ranking(name: &str) -> Option<WindowKind> {
    of(RANKING, name)
}

fn positional(name: &str) -> Option<WindowKind> {
    of(POSITIONAL, name)
}

fn of(list: &[Named], name: &str) -> Option<WindowKind> {
    let found = list.iter().find(|(known, _)| *known == name)?;
    Some(found.1.clone())
}

/// What a window function takes and yields.
struct Shape {
    kind: WindowKind,
    args: Vec<Scalar>,
    arg_ty: DataType,
    ty: DataType,
    nullable: bool,
    coll: Coercibility,
}

impl<'a> Binder<'a> {
    /// Binds `name(…) OVER (…)`; its result is a slot.
    pub(super) fn bind_window(
        &mut self,
        name: &str,
        call: &'a Call,
        over: &'a Over,
    ) -> SqlResult<Ex> {
        match self.clause() {
            Clause::Select | Clause::OrderBy => {}
            Clause::WindowArg => {
                return Err(SqlError::with(
                    4109,
                    15,
                    1,
                    "Windowed functions cannot be used in the context of another windowed function \
                     or aggregate.",
                ));
            }
            Clause::Other
            | Clause::Where
            | Clause::On
            | Clause::GroupBy
            | Clause::Having
            | Clause::AggregateArg
            | Clause::Set
            | Clause::Output
            | Clause::Rule => {
                return Err(SqlError::with(
                    4108,
                    15,
                    1,
                    "Windowed functions can only appear in the SELECT or ORDER BY clauses.",
                ));
            }
        }
        let shape = self.in_clause(Clause::WindowArg, |b| b.bind_window_shape(name, call))?;
        let (partition, order) = self.in_clause(Clause::WindowArg, |b| {
            let mut partition = Vec::new();
            for expr in &over.partition_by {
                let ex = b.bind_expr(expr)?;
                partition.push((ex.expr, ex.ty));
            }
            Ok((partition, b.bind_sort_keys(&over.order_by)?))
        })?;
        check_frame(name, &shape.kind, over)?;
        let level = self.scopes.len() - 1;
        let scope = self.scope();
        let slot = scope.allocate(1);
        scope.computed.push(slot);
        scope.windows.push(WindowFunction {
            kind: shape.kind,
            args: shape.args,
            partition,
            order,
            frame: over.frame.clone(),
            ty: shape.ty.clone(),
            arg_ty: shape.arg_ty,
            slot,
        });
        let expr = Scalar::Slot { level, slot };
        Ok(Ex {
            expr,
            ty: shape.ty,
            nullable: shape.nullable,
            coll: shape.coll,
        })
    }

    fn bind_window_shape(&mut self, name: &str, call: &'a Call) -> SqlResult<Shape> {
        if let Some(function) = Aggregate::by_name(name) {
            if call.distinct {
                return Err(SqlError::with(
                    10759,
                    15,
                    1,
                    "Use of DISTINCT is not allowed with the OVER clause.",
                ));
            }
            if function == Aggregate::StringAgg {
                return Err(SqlError::with(
                    4113,
                    16,
                    8,
                    "The function 'STRING_AGG' is not a valid windowing function, and cannot be used \
                     with the OVER clause.",
                ));
            }
            let (args, arg_ty, coll) = self.bind_aggregate_args(function, call)?;
            let ty = function.result_type(&arg_ty);
            let nullable = !matches!(function, Aggregate::Count | Aggregate::CountBig);
            let kind = WindowKind::Aggregate(function);
            return Ok(Shape {
                kind,
                args,
                arg_ty,
                ty,
                nullable,
                coll,
            });
        }
        if let Some(kind) = ranking(name) {
            return self.bind_ranking(name, kind, call);
        }
        match positional(name) {
            Some(kind) => self.bind_positional(name, kind, call),
            None if refusal(Kind::Function, name).is_some() => Err(crate::func::unknown(name)),
            None => Err(SqlError::with(
                4113,
                16,
                1,
                format!(
                    "The function '{name}' is not a valid windowing function, and cannot be used \
                     with the OVER clause."
                ),
            )),
        }
    }

    fn bind_ranking(&mut self, name: &str, kind: WindowKind, call: &'a Call) -> SqlResult<Shape> {
        let wanted = usize::from(matches!(kind, WindowKind::Ntile));
        if call.args.len() != wanted {
            return Err(argument_count(name, wanted));
        }
        let mut args = Vec::new();
        for arg in &call.args {
            let ex = self.bind_expr(arg)?;
            args.push(coerce(ex, &DataType::BigInt)?);
        }
        let float = matches!(kind, WindowKind::PercentRank | WindowKind::CumeDist);
        let ty = if float {
            DataType::Float
        } else {
            DataType::BigInt
        };
        let arg_ty = DataType::BigInt;
        Ok(Shape {
            kind,
            args,
            arg_ty,
            ty,
            nullable: false,
            coll: Coercibility::Default,
        })
    }

    fn bind_positional(
        &mut self,
        name: &str,
        kind: WindowKind,
        call: &'a Call,
    ) -> SqlResult<Shape> {
        let most = if matches!(kind, WindowKind::Lag | WindowKind::Lead) {
            3
        } else {
            1
        };
        let Some(first) = call.args.first().filter(|_| call.args.len() <= most) else {
            return Err(argument_count(name, most));
        };
        let first = self.bind_expr(first)?;
        let (ty, coll) = (first.ty.clone(), first.coll);
        let mut args = vec![first.expr];
        if most == 3 {
            args.push(match call.args.get(1) {
                Some(offset) => {
                    let offset = self.bind_expr(offset)?;
                    coerce(offset, &DataType::BigInt)?
                }
                None => Scalar::Const(Value::Int(1)),
            });
            args.push(match call.args.get(2) {
                Some(default) => {
                    let default = self.bind_expr(default)?;
                    coerce(default, &ty)?
                }
                None => Scalar::Const(Value::Null),
            });
        }
        Ok(Shape {
            kind,
            args,
            arg_ty: ty.clone(),
            ty,
            nullable: true,
            coll,
        })
    }
}

fn check_frame(name: &str, kind: &WindowKind, over: &Over) -> SqlResult<()> {
    if over.order_by.is_empty() {
        if !matches!(kind, WindowKind::Aggregate(_)) {
            return Err(SqlError::with(
                4112,
                15,
                1,
                format!("The function '{name}' must have an OVER clause with ORDER BY."),
            ));
        }
        if over.frame.is_some() {
            return Err(SqlError::with(
                10756,
                15,
                1,
                "Window frame with ROWS or RANGE must have an ORDER BY clause.",
            ));
        }
    }
    let Some(Frame { rows, start, end }) = &over.frame else {
        return Ok(());
    };
    let framed = matches!(
        kind,
        WindowKind::Aggregate(_) | WindowKind::FirstValue | WindowKind::LastValue
    );
    if !framed {
        return Err(SqlError::with(
            10752,
            15,
            1,
            format!("The function '{name}' may not have a window frame."),
        ));
    }
    let counted = |b: &FrameBound| matches!(b, FrameBound::Preceding(_) | FrameBound::Following(_));
    if !rows && (counted(start) || counted(end)) {
        return Err(SqlError::new(
            4194,
            "RANGE is only supported with UNBOUNDED and CURRENT ROW window frame delimiters.",
        ));
    }
    Ok(())
}
