//! Floating-point mathematics.

use super::sig::{any_null, arity, float, never_null, sig};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::arith::float_result;
use crate::value::{DataType, Value};

/// A function of one FLOAT.
macro_rules! unary {
    ($($name:literal => $f:expr),* $(,)?) => {
        &[$(Function::new($name, |name, args| bind(name, args, 1, 1), |_, _, args| one(args, $f)),)*
        Function::new("LOG", |name, a| bind(name, a, 1, 2), log),
        Function::new("ATN2", |name, a| bind(name, a, 2, 2), atn2),
        Function::new("PI", bind_pi, |_, _, _| Ok(Value::Float(std::f64::consts::PI))),
        Function::new("RAND", bind_rand, rand).random(),
        ]
    };
}

pub(super) static FUNCTIONS: &[Function] = unary![
    "SQRT" => f64::sqrt,
    "SQUARE" => |x| x * x,
    "EXP" => f64::exp,
    "LOG10" => |x| if x > 0.0 { x.log10() } else { f64::NAN },
    "SIN" => f64::sin,
    "COS" => f64::cos,
    "TAN" => f64::tan,
    "COT" => |x| 1.0 / x.tan(),
    "ASIN" => f64::asin,
    "ACOS" => f64::acos,
    "ATAN" => f64::atan,
];

fn bind(name: &str, args: &[Arg], least: usize, most: usize) -> SqlResult<Signature> {
    arity(name, args, least, most)?;
    sig(DataType::Float, vec![DataType::Float; args.len()])
}

/// 3623 for an argument outside the function's domain.
fn checked(value: f64) -> SqlResult<Value> {
    if value.is_nan() {
        return Err(SqlError::new(
            3623,
            "An invalid floating point operation occurred.",
        ));
    }
    float_result(value, &DataType::Float)
}

fn one(args: &[Value], f: impl Fn(f64) -> f64) -> SqlResult<Value> {
    if any_null(args) {
        Ok(Value::Null)
    } else {
        checked(f(float(&args[0])))
    }
}

fn log(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let x = float(&args[0]);
    let base = args.get(1).map(float);
    let domain = x > 0.0 && base.is_none_or(|b| b > 0.0 && b != 1.0);
    if !domain {
        return checked(f64::NAN);
    }
    checked(base.map_or_else(|| x.ln(), |b| x.ln() / b.ln()))
}

fn atn2(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        Ok(Value::Null)
    } else {
        checked(float(&args[0]).atan2(float(&args[1])))
    }
}

fn bind_pi(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 0, 0)?;
    never_null(DataType::Float, Vec::new())
}

fn bind_rand(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 0, 1)?;
    sig(DataType::Float, vec![DataType::Int; args.len()])
}

fn rand(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let seed = match args.first() {
        Some(Value::Int(n)) => Some(*n as i32),
        Some(_) => return Ok(Value::Null),
        None => None,
    };
    Ok(Value::Float(host.rand(seed)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, n, t};
    use super::*;

    #[test]
    fn values_and_domains() {
        assert_eq!(call("SQRT", &[n(16)]).unwrap(), Value::Float(4.0));
        assert_eq!(call("SQUARE", &[t("3")]).unwrap(), Value::Float(9.0));
        assert_eq!(call("SQRT", &[n(-1)]).unwrap_err().number, 3623);
        assert_eq!(call("LOG", &[n(0)]).unwrap_err().number, 3623);
        assert_eq!(call("EXP", &[n(1000)]).unwrap_err().number, 8115);
        assert_eq!(call("SIN", &[Value::Null]).unwrap(), Value::Null);
    }
}
