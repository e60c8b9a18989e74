//! Characters and their codes: CHAR, NCHAR, ASCII, UNICODE.

use super::sig::{DEFAULT, arity, param_collation, sig, text, units};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::text::{cp1252_byte, cp1252_unit};
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "CHAR",
        |name, a| code(name, a, DataType::Char(1, DEFAULT)),
        char_of,
    ),
    Function::new(
        "NCHAR",
        |name, a| code(name, a, DataType::NChar(1, DEFAULT)),
        nchar_of,
    ),
    Function::new("ASCII", first, ascii),
    Function::new("UNICODE", first, unicode),
];

fn code(name: &str, args: &[Arg], ret: DataType) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(ret, vec![DataType::Int])
}

fn char_of(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(if let Value::Int(n) = &args[0] {
        u8::try_from(*n).map_or(Value::Null, |b| Value::Str([cp1252_unit(b)].into()))
    } else {
        Value::Null
    })
}

fn nchar_of(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(if let Value::Int(n) = &args[0] {
        u16::try_from(*n).map_or(Value::Null, |u| Value::Str([u].into()))
    } else {
        Value::Null
    })
}

fn first(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(DataType::Int, vec![text(&args[0])])
}

fn ascii(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let unit = units(&args[0]).first();
    Ok(unit.map_or(Value::Null, |u| {
        Value::Int(i64::from(cp1252_byte(*u).unwrap_or(b'?')))
    }))
}

fn unicode(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let s = units(&args[0]);
    if param_collation(signature, 0).is_supplementary()
        && let Some(Ok(c)) = char::decode_utf16(s.iter().copied()).next()
    {
        return Ok(Value::Int(i64::from(u32::from(c))));
    }
    Ok(s.first().map_or(Value::Null, |u| Value::Int(i64::from(*u))))
}

#[cfg(test)]
mod tests {
    use super::super::testing::text as shown;
    use super::super::testing::{call, n, t};
    use super::*;

    #[test]
    fn codes() {
        assert_eq!(shown(call("CHAR", &[n(128)])), "€");
        assert_eq!(call("CHAR", &[n(256)]).unwrap(), Value::Null);
        assert_eq!(call("ASCII", &[t("€")]).unwrap(), n(128));
        assert_eq!(call("UNICODE", &[t("ж")]).unwrap(), n(0x436));
        assert_eq!(call("ASCII", &[t("")]).unwrap(), Value::Null);
    }
}
