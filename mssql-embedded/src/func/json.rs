//! The scalar JSON functions.
//!
//! JSON_MODIFY writes text as a JSON string unless the value comes from JSON_QUERY, JSON_MODIFY or
//! FOR JSON; for those the binder calls `JSON_MODIFY(JSON)`, a name no query can spell.

use super::sig::{DEFAULT, arity, sig, text, units};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::json::{self, JsonPath, NewValue};
use crate::value::{CastMode, DataType, Steps, Value, cast};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ISJSON", bind_isjson, isjson),
    Function::new("JSON_VALUE", bind_value, value),
    Function::new("JSON_QUERY", bind_query, query),
    Function::new("JSON_MODIFY", bind_modify, |host, s, a| {
        modify(host, s, a, false)
    }),
    Function::new("JSON_MODIFY(JSON)", bind_modify, |host, s, a| {
        modify(host, s, a, true)
    }),
];

fn path_type() -> DataType {
    DataType::nvarchar(4000, DEFAULT)
}

/// JSON keeps the collation of its text.
fn max_like(ty: &DataType) -> DataType {
    DataType::nvarchar_max(ty.collation().unwrap_or(DEFAULT))
}

fn bind_isjson(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(DataType::Int, vec![text(&args[0])])
}

fn isjson(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let Value::Str(s) = &args[0] else {
        return Ok(Value::Null);
    };
    let mut ask = || host.go_on();
    let is_json = json::is_json(s, Steps::new(&mut ask))?;
    Ok(Value::Int(i64::from(is_json)))
}

fn bind_value(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let ty = text(&args[0]);
    let ret = DataType::nvarchar(4000, ty.collation().unwrap_or(DEFAULT));
    sig(ret, vec![ty, path_type()])
}

fn value(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let (Value::Str(s), Value::Str(path)) = (&args[0], &args[1]) else {
        return Ok(Value::Null);
    };
    let mut ask = || host.go_on();
    let found = json::json_value(s, &JsonPath::parse(path)?, Steps::new(&mut ask))?;
    Ok(found.map_or(Value::Null, Value::Str))
}

fn bind_query(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 2)?;
    let ty = text(&args[0]);
    let ret = max_like(&ty);
    sig(
        ret,
        [ty, path_type()].into_iter().take(args.len()).collect(),
    )
}

fn query(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let path = match args.get(1) {
        None => JsonPath::root(),
        Some(Value::Str(path)) => JsonPath::parse(path)?,
        Some(_) => return Ok(Value::Null),
    };
    let Value::Str(s) = &args[0] else {
        return Ok(Value::Null);
    };
    let mut ask = || host.go_on();
    let found = json::json_query(s, &path, Steps::new(&mut ask))?;
    Ok(found.map_or(Value::Null, |v| Value::Str(v.into())))
}

fn bind_modify(_: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity("JSON_MODIFY", args, 3, 3)?;
    let ty = text(&args[0]);
    let new = &args[2].ty;
    let new = if *new == DataType::Null {
        DataType::varchar(1, DEFAULT)
    } else if new.is_numeric() || *new == DataType::Bit {
        new.clone()
    } else {
        text(&args[2])
    };
    sig(max_like(&ty), vec![ty, path_type(), new])
}

fn modify(
    host: &mut dyn Host,
    signature: &Signature,
    args: &[Value],
    raw: bool,
) -> SqlResult<Value> {
    let (Value::Str(s), Value::Str(path)) = (&args[0], &args[1]) else {
        return Ok(Value::Null);
    };
    let ty = &signature.params[2];
    let written = match &args[2] {
        Value::Null | Value::Str(_) => args[2].clone(),
        Value::Bit(b) => Value::text(if *b { "true" } else { "false" }),
        number @ (Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. }) => cast(
            number,
            ty,
            &DataType::varchar(60, DEFAULT),
            None,
            CastMode::Explicit,
        )?,
    };
    let new = if written.is_null() {
        NewValue::Null
    } else if raw || !ty.is_string() {
        NewValue::Raw(units(&written))
    } else {
        NewValue::Text(units(&written))
    };
    let mut ask = || host.go_on();
    let changed = json::modify(s, &JsonPath::parse(path)?, new, Steps::new(&mut ask))?;
    Ok(Value::Str(changed.into()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, n, t, text};
    use super::*;

    #[test]
    fn json_functions() {
        let json = t(r#"{"a":{"b":[1,2]},"c":"x"}"#);
        assert_eq!(text(call("JSON_VALUE", &[json.clone(), t("$.c")])), "x");
        assert_eq!(
            call("JSON_VALUE", &[json.clone(), t("$.a")]).unwrap(),
            Value::Null
        );
        assert_eq!(text(call("JSON_QUERY", &[json, t("$.a.b")])), "[1,2]");
        assert_eq!(call("ISJSON", &[t("nope")]).unwrap(), n(0));
        assert_eq!(call("ISJSON", &[Value::Null]).unwrap(), Value::Null);
        assert_eq!(
            text(call("JSON_MODIFY", &[t("{}"), t("$.n"), n(5)])),
            r#"{"n":5}"#
        );
        assert_eq!(
            text(call("JSON_MODIFY", &[t("{}"), t("$.n"), t("[]")])),
            r#"{"n":"[]"}"#
        );
        assert_eq!(
            text(call("JSON_MODIFY(JSON)", &[t("{}"), t("$.n"), t("[]")])),
            r#"{"n":[]}"#
        );
        assert_eq!(
            call("JSON_VALUE", &[t("{}"), t("x")]).unwrap_err().number,
            13607
        );
    }
}
