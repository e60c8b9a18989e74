//! Expressions and conditions over the row buffers.

use std::cmp::Ordering;

use crate::ast::CompareOp;
use crate::error::{SqlError, SqlResult};
use crate::func::like::like;
use crate::plan::{Cond, Query, Scalar};
use crate::value::compare::compare;
use crate::value::{CastMode, DataType, Value, arith, cast};

use super::{Env, QueryRun};

/// Computes an expression.
pub fn eval(expr: &Scalar, env: &mut Env<'_, '_>) -> SqlResult<Value> {
    match expr {
        Scalar::Const(v) => Ok(v.clone()),
        Scalar::Variable(slot) => Ok(env.frame.values[*slot].clone()),
        Scalar::Slot { level, slot } => Ok(env.rows[*level][*slot].clone()),
        Scalar::Arith {
            op,
            left,
            right,
            ty,
            ..
        } => {
            let a = eval(left, env)?;
            let b = eval(right, env)?;
            if a.is_null() || b.is_null() {
                return Ok(Value::Null);
            }
            arith::binary(*op, &a, &b, ty)
        }
        Scalar::Negate(inner, ty) => match eval(inner, env)? {
            Value::Null => Ok(Value::Null),
            v => arith::negate(&v, ty),
        },
        Scalar::BitNot(inner, ty) => match eval(inner, env)? {
            Value::Null => Ok(Value::Null),
            v => arith::bit_not(&v, ty),
        },
        Scalar::Cast {
            expr,
            from,
            to,
            style,
            try_,
        } => eval_cast(expr, from, to, style.as_deref(), *try_, env),
        Scalar::Call {
            function,
            args,
            signature,
        } => {
            let mut values = Vec::with_capacity(args.len());
            for arg in args {
                values.push(eval(arg, env)?);
            }
            (function.eval)(env, signature, &values)
        }
        Scalar::Case { whens, otherwise } => {
            for (cond, value) in whens {
                if test(cond, env)? == Some(true) {
                    return eval(value, env);
                }
            }
            eval(otherwise, env)
        }
        Scalar::Coalesce(items) => {
            for item in items {
                let v = eval(item, env)?;
                if !v.is_null() {
                    return Ok(v);
                }
            }
            Ok(Value::Null)
        }
        Scalar::Subquery(query) => eval_subquery(query, env),
    }
}

fn eval_cast(
    expr: &Scalar,
    from: &DataType,
    to: &DataType,
    style: Option<&Scalar>,
    try_: bool,
    env: &mut Env<'_, '_>,
) -> SqlResult<Value> {
    let v = eval(expr, env)?;
    if v.is_null() {
        return Ok(Value::Null);
    }
    let style = match style {
        None => None,
        Some(s) => match eval(s, env)? {
            Value::Int(n) => i32::try_from(n).ok(),
            _ => return Ok(Value::Null),
        },
    };
    match cast(&v, from, to, style, CastMode::Explicit) {
        // TRY_CAST forgives a value that does not convert, never a conversion that is not allowed.
        Err(e) if try_ && e.number != 529 => Ok(Value::Null),
        other => other,
    }
}

fn eval_subquery(query: &Query, env: &mut Env<'_, '_>) -> SqlResult<Value> {
    let mut run = QueryRun::open(query, env)?;
    let mut out = Vec::with_capacity(1);
    if !run.next(env, &mut out)? {
        return Ok(Value::Null);
    }
    let value = out.swap_remove(0);
    if run.next(env, &mut out)? {
        return Err(SqlError::new(
            512,
            "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.",
        ));
    }
    Ok(value)
}

/// Tests a condition: true, false or unknown.
pub fn test(cond: &Cond, env: &mut Env<'_, '_>) -> SqlResult<Option<bool>> {
    match cond {
        Cond::Const(b) => Ok(*b),
        Cond::And(list) => {
            let mut result = Some(true);
            for c in list {
                match test(c, env)? {
                    Some(false) => return Ok(Some(false)),
                    None => result = None,
                    Some(true) => {}
                }
            }
            Ok(result)
        }
        Cond::Or(list) => {
            let mut result = Some(false);
            for c in list {
                match test(c, env)? {
                    Some(true) => return Ok(Some(true)),
                    None => result = None,
                    Some(false) => {}
                }
            }
            Ok(result)
        }
        Cond::Not(inner) => Ok(test(inner, env)?.map(|b| !b)),
        Cond::Compare {
            op,
            left,
            right,
            ty,
        } => {
            let a = eval(left, env)?;
            if a.is_null() {
                return Ok(None);
            }
            let b = eval(right, env)?;
            if b.is_null() {
                return Ok(None);
            }
            Ok(Some(holds(*op, compare(&a, &b, ty))))
        }
        Cond::IsNull(expr) => Ok(Some(eval(expr, env)?.is_null())),
        Cond::InList { expr, list, ty } => test_in_list(expr, list, ty, env),
        Cond::Like {
            expr,
            pattern,
            escape,
            collation,
            blanks,
        } => {
            let text = eval(expr, env)?;
            let pattern = eval(pattern, env)?;
            let escape = match escape {
                Some(e) => Some(eval(e, env)?),
                None => None,
            };
            let (Value::Str(text), Value::Str(pattern)) = (&text, &pattern) else {
                return Ok(None);
            };
            let escape = match &escape {
                None => None,
                Some(Value::Str(e)) => Some(&e[..]),
                Some(_) => return Ok(None),
            };
            like(text, pattern, escape, *collation, *blanks).map(Some)
        }
        Cond::Exists(query) => {
            let mut run = QueryRun::open(query, env)?;
            Ok(Some(run.advance(env)?))
        }
        Cond::Quantified {
            op,
            all,
            left,
            query,
            ty,
        } => test_quantified(*op, *all, left, query, ty, env),
    }
}

/// Whether an ordering satisfies a comparison.
pub fn holds(op: CompareOp, ordering: Ordering) -> bool {
    match op {
        CompareOp::Eq => ordering == Ordering::Equal,
        CompareOp::Ne => ordering != Ordering::Equal,
        CompareOp::Lt => ordering == Ordering::Less,
        CompareOp::Le => ordering != Ordering::Greater,
        CompareOp::Gt => ordering == Ordering::Greater,
        CompareOp::Ge => ordering != Ordering::Less,
    }
}

fn test_in_list(
    expr: &Scalar,
    list: &[Scalar],
    ty: &DataType,
    env: &mut Env<'_, '_>,
) -> SqlResult<Option<bool>> {
    let a = eval(expr, env)?;
    if a.is_null() {
        return Ok(None);
    }
    let mut result = Some(false);
    for item in list {
        let b = eval(item, env)?;
        if b.is_null() {
            result = None;
        } else if compare(&a, &b, ty) == Ordering::Equal {
            return Ok(Some(true));
        }
    }
    Ok(result)
}

/// `x op ANY (…)` is true if it holds for one row, `ALL` if it holds for every row; NULLs make the
/// answer unknown where they could have decided it.
fn test_quantified(
    op: CompareOp,
    all: bool,
    left: &Scalar,
    query: &Query,
    ty: &DataType,
    env: &mut Env<'_, '_>,
) -> SqlResult<Option<bool>> {
    let a = eval(left, env)?;
    let mut run = QueryRun::open(query, env)?;
    let mut out = Vec::with_capacity(1);
    let mut unknown = false;
    while run.next(env, &mut out)? {
        if a.is_null() || out[0].is_null() {
            unknown = true;
            continue;
        }
        let hit = holds(op, compare(&a, &out[0], ty));
        if hit != all {
            return Ok(Some(hit));
        }
    }
    Ok(if unknown { None } else { Some(all) })
}
