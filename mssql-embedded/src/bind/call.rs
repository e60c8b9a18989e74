//! Function calls, and the forms that look like functions but evaluate their arguments lazily.

use crate::ast::{Call, CompareOp, Expr, ExprKind, Pos};
use crate::catalog::dotted;
use crate::error::{SqlError, SqlResult};
use crate::func::{Aggregate, Arg, Callable, OF_NEWID, argument_count, lookup};
use crate::plan::Scalar;
use crate::value::{DataType, Value};

use super::collate::{Meeting, arguments};
use super::compare::compare;
use super::context::Binder;
use super::errors;
use super::expr::common;
use super::query::is_json;
use super::typing::{Ex, coerce};
use super::window::is_window_only;

/// What looks like a function and is bound in its own way.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Coalesce,
    IsNull,
    NullIf,
    Grouping,
}

pub(super) const FORMS: &[(&str, Form)] = &[
    ("COALESCE", Form::Coalesce),
    ("ISNULL", Form::IsNull),
    ("NULLIF", Form::NullIf),
    ("GROUPING", Form::Grouping),
    ("GROUPING_ID", Form::Grouping),
];

impl<'a> Binder<'a> {
    pub(super) fn bind_call(&mut self, call: &'a Call, pos: Pos) -> SqlResult<Ex> {
        let [name] = call.name.parts.as_slice() else {
            return Err(unknown_dotted(call));
        };
        let upper = name.name.to_uppercase();
        let aggregate = Aggregate::by_name(&upper);
        if !call.within_group.is_empty() && aggregate.is_some_and(|a| a != Aggregate::StringAgg) {
            let message = format!(
                "The function '{}' may not have a WITHIN GROUP clause.",
                name.name
            );
            return Err(SqlError::with(10757, 15, 9, message));
        }
        if let Some(over) = &call.over {
            return self.bind_window(&upper, call, over);
        }
        if let Some(aggregate) = aggregate {
            return self.bind_aggregate(aggregate, call);
        }
        if is_window_only(&upper) {
            return Err(SqlError::with(
                10753,
                15,
                1,
                format!("The function '{}' must have an OVER clause.", name.name),
            ));
        }
        if call.star || call.distinct || !call.within_group.is_empty() {
            return Err(SqlError::near(&name.name));
        }
        if let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == upper) {
            return match form {
                Form::Coalesce => self.bind_coalesce(call),
                Form::IsNull => self.bind_isnull(call),
                Form::NullIf => self.bind_nullif(call),
                Form::Grouping => self.bind_grouping_function(&upper, call),
            };
        }
        if upper == "CHECKSUM" && is_newid(&call.args) {
            return self.call_named(OF_NEWID, Vec::new());
        }
        let function =
            lookup(&upper).ok_or_else(|| crate::func::unknown(&name.name).at(pos.line))?;
        let args = self.bind_arguments(function, &call.args)?;
        let function = embedding(function, &args);
        self.call_function(function, args)
    }

    /// Calls a function that only the binder can name.
    pub(super) fn call_named(&self, name: &str, args: Vec<Ex>) -> SqlResult<Ex> {
        let function = lookup(name).ok_or_else(|| crate::func::unknown(name))?;
        self.call_function(function, args)
    }

    fn bind_arguments(&mut self, function: Callable, args: &'a [Expr]) -> SqlResult<Vec<Ex>> {
        let mut bound = Vec::with_capacity(args.len());
        for (i, arg) in args.iter().enumerate() {
            let is_word = matches!(&arg.kind, ExprKind::Column(name) if name.parts.len() == 1);
            if i == 0 && function.takes_date_part() && !is_word {
                return Err(errors::no_date_part(function.name()).at(arg.pos.line));
            }
            match &arg.kind {
                ExprKind::Column(name) if i == 0 && function.takes_date_part() => {
                    let part = &name.parts[0].name;
                    let ty = DataType::varchar(30, self.ctx.database.collation);
                    bound.push(Ex::new(Scalar::Const(Value::text(part)), ty, false));
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
                | ExprKind::AtTimeZone(..) => bound.push(self.bind_expr(arg)?),
            }
        }
        Ok(bound)
    }

    /// Types a call and converts its arguments.
    pub(super) fn call_function(&self, function: Callable, mut args: Vec<Ex>) -> SqlResult<Ex> {
        let (coll, collation) = arguments(function, &mut args)?;
        let known: Vec<Arg> = args
            .iter()
            .map(|ex| Arg {
                ty: ex.ty.clone(),
                constant: if let Scalar::Const(value) = &ex.expr {
                    Some(value.clone())
                } else {
                    None
                },
            })
            .collect();
        let mut signature = function.bind(&known)?;
        let collation = collation.unwrap_or(self.ctx.database.collation);
        signature.ret = signature.ret.with_collation(collation);
        let mut converted = Vec::with_capacity(args.len());
        for (ex, ty) in args.into_iter().zip(&signature.params) {
            converted.push(coerce(ex, ty)?);
        }
        let (ty, nullable) = (signature.ret.clone(), signature.nullable);
        let expr = Scalar::Call {
            function,
            args: converted,
            signature: Box::new(signature),
        };
        Ok(Ex {
            expr,
            ty,
            nullable,
            coll,
        })
    }

    fn bind_list(&mut self, args: &'a [Expr]) -> SqlResult<Vec<Ex>> {
        args.iter().map(|a| self.bind_expr(a)).collect()
    }

    fn bind_coalesce(&mut self, call: &'a Call) -> SqlResult<Ex> {
        let args = self.bind_list(&call.args)?;
        if args.len() < 2 {
            return Err(SqlError::near(")"));
        }
        if args.iter().all(|a| matches!(a.ty, DataType::Null)) {
            return Err(SqlError::new(
                4127,
                "At least one of the arguments to COALESCE must be an expression that is not the \
                 NULL constant.",
            ));
        }
        // SQL Server makes a CASE of it, and messages say so.
        let common = common(args, Meeting::Joined("CASE"))?;
        // SQL Server calls the result nullable even if the last argument is not.
        Ok(Ex {
            expr: Scalar::Coalesce(common.values),
            ty: common.ty,
            nullable: common.nullable,
            coll: common.coll,
        })
    }

    fn bind_isnull(&mut self, call: &'a Call) -> SqlResult<Ex> {
        let args = self.bind_list(&call.args)?;
        let Ok([first, second]) = <[Ex; 2]>::try_from(args) else {
            return Err(argument_count("isnull", 2));
        };
        // The second argument is converted to the first one's type, collation included.
        let (ty, coll) = if matches!(first.ty, DataType::Null) {
            (second.ty.clone(), second.coll)
        } else {
            (first.ty.clone(), first.coll)
        };
        let nullable = first.nullable && second.nullable;
        let values = vec![coerce(first, &ty)?, coerce(second, &ty)?];
        Ok(Ex {
            expr: Scalar::Coalesce(values),
            ty,
            nullable,
            coll,
        })
    }

    fn bind_nullif(&mut self, call: &'a Call) -> SqlResult<Ex> {
        let args = self.bind_list(&call.args)?;
        let Ok([first, second]) = <[Ex; 2]>::try_from(args) else {
            return Err(argument_count("nullif", 2));
        };
        if matches!(first.ty, DataType::Null) {
            return Err(SqlError::new(
                4151,
                "The type of the first argument to NULLIF cannot be the NULL constant because the \
                 type of the first argument has to be known.",
            ));
        }
        let equal = compare(CompareOp::Eq, self.copy(&first)?, second)?;
        let expr = Scalar::Case {
            whens: vec![(equal, Scalar::Const(Value::Null))],
            otherwise: Box::new(first.expr),
        };
        Ok(Ex {
            expr,
            ty: first.ty,
            nullable: true,
            coll: first.coll,
        })
    }
}

/// Whether the only argument is `NEWID()`.
fn is_newid(args: &[Expr]) -> bool {
    let [
        Expr {
            kind: ExprKind::Call(call),
            ..
        },
    ] = args
    else {
        return false;
    };
    matches!(call.name.parts.as_slice(), [name] if name.name.eq_ignore_ascii_case("newid"))
}

/// JSON_MODIFY embeds a value that already is JSON text and quotes any other.
fn embedding(function: Callable, args: &[Ex]) -> Callable {
    match args {
        [_, _, value] if function.name() == "JSON_MODIFY" && is_json(&value.expr) => {
            lookup("JSON_MODIFY(JSON)").unwrap_or(function)
        }
        _ => function,
    }
}

fn unknown_dotted(call: &Call) -> SqlError {
    let (full, first) = (
        dotted(&call.name),
        call.name.parts.first().map_or("", |p| p.name.as_str()),
    );
    SqlError::new(
        4121,
        format!(
            "Cannot find either column \"{first}\" or the user-defined function or aggregate \
             \"{full}\", or the name is ambiguous."
        ),
    )
}
