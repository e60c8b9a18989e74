//! CHECKSUM over integers, and over NEWID(), where any number will do. SQL Server does not publish how
//! it treats other types, so they are refused.

use super::sig::{arity, never_null};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::{DataType, Value};

/// `CHECKSUM(NEWID())`, the usual way to a random integer; the binder puts it in place.
pub const OF_NEWID: &str = "CHECKSUM(NEWID())";

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("CHECKSUM", bind, eval),
    Function::new(
        OF_NEWID,
        |_, _| never_null(DataType::Int, Vec::new()),
        of_newid,
    )
    .random(),
];

fn bind(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 254)?;
    let integer = |ty: &DataType| {
        matches!(
            ty,
            DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::Null
        )
    };
    if let Some(other) = args.iter().find(|a| !integer(&a.ty)) {
        return Err(SqlError::unsupported(format!(
            "CHECKSUM of a value of type {}",
            other.ty.name()
        )));
    }
    never_null(DataType::Int, vec![DataType::Int; args.len()])
}

fn eval(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let one = |value: &Value| {
        if let Value::Int(n) = value {
            *n as u32
        } else {
            i32::MAX as u32
        }
    };
    let (first, rest) = (args.first().map_or(0, one), args.get(1..).unwrap_or(&[]));
    let sum = rest
        .iter()
        .fold(first, |sum, v| sum.rotate_left(4) ^ one(v));
    Ok(Value::Int(i64::from(sum as i32)))
}

fn of_newid(host: &mut dyn Host, _: &Signature, _: &[Value]) -> SqlResult<Value> {
    let [a, b, c, d, ..] = host.newid();
    Ok(Value::Int(i64::from(i32::from_le_bytes([a, b, c, d]))))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, n, t};
    use super::*;

    #[test]
    fn integers_are_folded() {
        assert_eq!(call("CHECKSUM", &[n(7)]).unwrap(), n(7));
        assert_eq!(call("CHECKSUM", &[n(1), n(2)]).unwrap(), n(18));
        assert_eq!(
            call("CHECKSUM", &[Value::Null]).unwrap(),
            n(i64::from(i32::MAX))
        );
        assert_eq!(call("CHECKSUM", &[t("a")]).unwrap_err().number, 40517);
    }
}
