//! The evaluator: expressions and conditions, wherever their rows come from.

use std::cmp::Ordering;

use crate::ast::CompareOp;
use crate::error::SqlResult;
use crate::func::like::like;
use crate::func::{Callable, Signature};
use crate::memory::{LARGE_BYTES, heap_bytes};
use crate::plan::{Cond, Query, Scalar};
use crate::value::compare::compare;
use crate::value::{CastMode, DataType, Steps, Value, arith, cast_asking, room_for};

/// What an expression reads besides its constants. A running statement has all of it; the row of an
/// index filter has nothing but its columns and refuses the rest.
pub trait Scope {
    fn variable(&self, slot: usize) -> SqlResult<Value>;
    /// The value of a slot of a query level.
    fn column(&self, level: usize, slot: usize) -> SqlResult<Value>;
    /// Lets an operation have made a value, if it is not too large.
    fn made(&mut self, value: Value) -> SqlResult<Value>;
    fn call(
        &mut self,
        function: Callable,
        signature: &Signature,
        args: &[Value],
    ) -> SqlResult<Value>;
    fn subquery(&mut self, query: &Query) -> SqlResult<Value>;
    /// Whether a subquery has a row.
    fn exists(&mut self, query: &Query) -> SqlResult<bool>;
    /// Hands the values of a subquery of one column to `each`, until it says stop.
    fn each_member(&mut self, query: &Query, each: &mut dyn FnMut(&Value) -> bool)
    -> SqlResult<()>;
    /// Asked before so many bytes are filled: 701 when the session may not hold them.
    fn room(&self, bytes: usize) -> SqlResult<()>;
    /// Asked now and then by what lasts: the error of an interrupt when it shall stop.
    fn ask(&mut self) -> SqlResult<()>;
    /// Asks when so many bytes are about to be worked on and they are many: a row is one step, however long its
    /// texts are.
    fn weigh(&mut self, bytes: usize) -> SqlResult<()> {
        if bytes > LARGE_BYTES {
            self.ask()?;
        }
        Ok(())
    }
}

pub fn eval<S: Scope>(expr: &Scalar, scope: &mut S) -> SqlResult<Value> {
    match expr {
        Scalar::Const(v) => Ok(v.clone()),
        Scalar::Variable(slot) => scope.variable(*slot),
        Scalar::Slot { level, slot } => scope.column(*level, *slot),
        Scalar::Arith {
            op,
            left,
            right,
            ty,
            ..
        } => {
            let a = eval(left, scope)?;
            let b = eval(right, scope)?;
            if a.is_null() || b.is_null() {
                return Ok(Value::Null);
            }
            let value = arith::binary(*op, &a, &b, ty)?;
            scope.made(value)
        }
        Scalar::Negate(inner, ty) => {
            let value = eval(inner, scope)?;
            if value.is_null() {
                Ok(value)
            } else {
                arith::negate(&value, ty)
            }
        }
        Scalar::BitNot(inner, ty) => {
            let value = eval(inner, scope)?;
            if value.is_null() {
                Ok(value)
            } else {
                arith::bit_not(&value, ty)
            }
        }
        Scalar::Cast {
            expr,
            from,
            to,
            style,
            try_,
        } => eval_cast(expr, from, to, style.as_deref(), *try_, scope),
        Scalar::Call {
            function,
            args,
            signature,
        } => {
            let mut values = Vec::with_capacity(args.len());
            for arg in args {
                values.push(eval(arg, scope)?);
            }
            scope.call(*function, signature, &values)
        }
        Scalar::Case { whens, otherwise } => {
            for (cond, value) in whens {
                if test(cond, scope)? == Some(true) {
                    return eval(value, scope);
                }
            }
            eval(otherwise, scope)
        }
        Scalar::Coalesce(items) => {
            for item in items {
                let v = eval(item, scope)?;
                if !v.is_null() {
                    return Ok(v);
                }
            }
            Ok(Value::Null)
        }
        Scalar::Subquery(query) => scope.subquery(query),
    }
}

fn eval_cast<S: Scope>(
    expr: &Scalar,
    from: &DataType,
    to: &DataType,
    style: Option<&Scalar>,
    try_: bool,
    scope: &mut S,
) -> SqlResult<Value> {
    let v = eval(expr, scope)?;
    if v.is_null() {
        return Ok(Value::Null);
    }
    let style = match style {
        None => None,
        Some(s) => {
            if let Value::Int(n) = eval(s, scope)? {
                i32::try_from(n).ok()
            } else {
                return Ok(Value::Null);
            }
        }
    };
    let room = room_for(&v, to, style);
    if room > LARGE_BYTES {
        scope.room(room)?;
    }
    let mut stopped = None;
    let mut ask = || {
        let answer = scope.ask();
        stopped = answer.as_ref().err().cloned();
        answer
    };
    let outcome = cast_asking(&v, from, to, style, CastMode::Explicit, &mut ask);
    match (outcome, stopped) {
        (_, Some(stopped)) => Err(stopped),
        // TRY_CAST forgives a value that does not convert, never a conversion that is not allowed or not implemented.
        (Err(e), None) if try_ && e.number != 529 && !e.is_unsupported() => Ok(Value::Null),
        (other, None) => scope.made(other?),
    }
}

/// Tests a condition: true, false or unknown.
pub fn test<S: Scope>(cond: &Cond, scope: &mut S) -> SqlResult<Option<bool>> {
    match cond {
        Cond::Const(b) => Ok(*b),
        Cond::And(list) => {
            let mut result = Some(true);
            for c in list {
                match test(c, scope)? {
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
                match test(c, scope)? {
                    Some(true) => return Ok(Some(true)),
                    None => result = None,
                    Some(false) => {}
                }
            }
            Ok(result)
        }
        Cond::Not(inner) => Ok(test(inner, scope)?.map(|b| !b)),
        Cond::Compare {
            op,
            left,
            right,
            ty,
        } => {
            let a = eval(left, scope)?;
            if a.is_null() {
                return Ok(None);
            }
            let b = eval(right, scope)?;
            if b.is_null() {
                return Ok(None);
            }
            scope.weigh(heap_bytes(&a) + heap_bytes(&b))?;
            Ok(Some(holds(*op, compare(&a, &b, ty))))
        }
        Cond::IsNull(expr) => Ok(Some(eval(expr, scope)?.is_null())),
        Cond::InList { expr, list, ty } => test_in_list(expr, list, ty, scope),
        Cond::Like {
            expr,
            pattern,
            escape,
            collation,
            blanks,
        } => {
            let text = eval(expr, scope)?;
            let pattern = eval(pattern, scope)?;
            let escape = match escape {
                Some(e) => Some(eval(e, scope)?),
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
            let mut ask = || scope.ask();
            let mut steps = Steps::new(&mut ask);
            like(text, pattern, escape, *collation, *blanks, &mut steps).map(Some)
        }
        Cond::Exists(query) => scope.exists(query).map(Some),
        Cond::Quantified {
            op,
            all,
            left,
            query,
            ty,
        } => test_quantified(*op, *all, left, query, ty, scope),
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

fn test_in_list<S: Scope>(
    expr: &Scalar,
    list: &[Scalar],
    ty: &DataType,
    scope: &mut S,
) -> SqlResult<Option<bool>> {
    let a = eval(expr, scope)?;
    if a.is_null() {
        return Ok(None);
    }
    let mut result = Some(false);
    for item in list {
        let b = eval(item, scope)?;
        scope.weigh(heap_bytes(&b))?;
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
fn test_quantified<S: Scope>(
    op: CompareOp,
    all: bool,
    left: &Scalar,
    query: &Query,
    ty: &DataType,
    scope: &mut S,
) -> SqlResult<Option<bool>> {
    let a = eval(left, scope)?;
    let (mut unknown, mut decided) = (false, false);
    scope.each_member(query, &mut |b| {
        if a.is_null() || b.is_null() {
            unknown = true;
        } else {
            decided = holds(op, compare(&a, b, ty)) != all;
        }
        !decided
    })?;
    Ok(match (decided, unknown) {
        (true, _) => Some(!all),
        (false, true) => None,
        (false, false) => Some(all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SqlError;
    use crate::value::Length;

    /// A session that may hold nothing more, or is told to stop.
    struct Narrow {
        room: bool,
    }

    fn never<T>() -> SqlResult<T> {
        Err(SqlError::internal("nothing but constants"))
    }

    impl Scope for Narrow {
        fn variable(&self, _: usize) -> SqlResult<Value> {
            never()
        }

        fn column(&self, _: usize, _: usize) -> SqlResult<Value> {
            never()
        }

        fn made(&mut self, value: Value) -> SqlResult<Value> {
            Ok(value)
        }

        fn call(&mut self, _: Callable, _: &Signature, _: &[Value]) -> SqlResult<Value> {
            never()
        }

        fn subquery(&mut self, _: &Query) -> SqlResult<Value> {
            never()
        }

        fn exists(&mut self, _: &Query) -> SqlResult<bool> {
            never()
        }

        fn each_member(&mut self, _: &Query, _: &mut dyn FnMut(&Value) -> bool) -> SqlResult<()> {
            never()
        }

        fn room(&self, _: usize) -> SqlResult<()> {
            match self.room {
                true => Ok(()),
                false => Err(SqlError::new(701, "no room")),
            }
        }

        fn ask(&mut self) -> SqlResult<()> {
            Err(SqlError::new(1, "stop"))
        }
    }

    /// A conversion asks for room before it fills it, and whether to go on while it does; TRY_CONVERT forgives neither.
    #[test]
    fn a_long_conversion_asks_first() {
        let text = DataType::VarChar(Length::Max, crate::value::Collation::SqlLatin1CiAs);
        let bytes = DataType::VarBinary(Length::Max);
        let digits = Value::Str(vec![0x30; 1 << 20].into());
        let binary = Value::Bytes(vec![0; 1 << 20].into());
        for (value, from, to) in [(digits, &text, &bytes), (binary, &bytes, &text)] {
            for (try_, room, number) in [(false, false, 701), (true, false, 701), (true, true, 1)] {
                let cast = Scalar::Cast {
                    expr: Box::new(Scalar::Const(value.clone())),
                    from: from.clone(),
                    to: to.clone(),
                    style: Some(Box::new(Scalar::Const(Value::Int(2)))),
                    try_,
                };
                let error = eval(&cast, &mut Narrow { room }).unwrap_err();
                assert_eq!(error.number, number, "{from} to {to}");
            }
        }
    }
}
