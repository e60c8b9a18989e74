//! One of several arguments: GREATEST, LEAST, CHOOSE.

use std::cmp::Ordering;

use super::sig::{arity, sig};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::compare::compare;
use crate::value::precedence::common_type;
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "GREATEST",
        bind: |a| bind_extreme("GREATEST", a),
        eval: |_, s, a| Ok(extreme(s, a, Ordering::Greater)),
        date_part: false,
    },
    Function {
        name: "LEAST",
        bind: |a| bind_extreme("LEAST", a),
        eval: |_, s, a| Ok(extreme(s, a, Ordering::Less)),
        date_part: false,
    },
    Function {
        name: "CHOOSE",
        bind: bind_choose,
        eval: choose,
        date_part: false,
    },
];

fn bind_extreme(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 254)?;
    let mut ty = DataType::Null;
    for arg in args {
        ty = common_type(&ty, &arg.ty)?;
    }
    sig(ty.clone(), vec![ty; args.len()])
}

/// NULL arguments do not count.
fn extreme(signature: &Signature, args: &[Value], wanted: Ordering) -> Value {
    let mut best = Value::Null;
    for value in args.iter().filter(|v| !v.is_null()) {
        if best.is_null() || compare(value, &best, &signature.ret) == wanted {
            best = value.clone();
        }
    }
    best
}

fn bind_choose(args: &[Arg]) -> SqlResult<Signature> {
    arity("CHOOSE", args, 2, 254)?;
    let mut ty = DataType::Null;
    for arg in &args[1..] {
        ty = common_type(&ty, &arg.ty)?;
    }
    let mut params = vec![ty.clone(); args.len()];
    params[0] = DataType::Int;
    sig(ty, params)
}

fn choose(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let chosen = if let Value::Int(n) = &args[0]
        && *n >= 1
    {
        args.get(*n as usize)
    } else {
        None
    };
    Ok(chosen.cloned().unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, n, t};
    use super::*;

    #[test]
    fn choices() {
        assert_eq!(call("GREATEST", &[n(1), Value::Null, n(3)]).unwrap(), n(3));
        assert_eq!(call("LEAST", &[t("b"), t("A")]).unwrap(), t("A"));
        assert_eq!(call("CHOOSE", &[n(2), t("a"), t("b")]).unwrap(), t("b"));
        assert_eq!(
            call("CHOOSE", &[n(3), t("a"), t("b")]).unwrap(),
            Value::Null
        );
    }
}
