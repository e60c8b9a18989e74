//! String functions that measure, cut and change case.

use super::sig::{
    DEFAULT, any_null, arity, count_type, fitted, int, param_collation, sig, text, units, variable,
};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::fold::{fold_unit, upper_unit};
use crate::value::text::{
    byte_len, char_count, char_offset, cp1252_byte, len, trim_end, trim_start,
};
use crate::value::{DataType, Length, Steps, Value, errors};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("LEN", bind_len, eval_len),
    Function::new("DATALENGTH", bind_data_length, data_length),
    Function::new("SUBSTRING", bind_substring, substring),
    Function::new("LEFT", bind_side, left),
    Function::new("RIGHT", bind_side, right),
    Function::new("UPPER", unary, upper),
    Function::new("LOWER", unary, lower),
    Function::new("LTRIM", unary, ltrim),
    Function::new("RTRIM", unary, rtrim),
    Function::new("TRIM", bind_trim, trim),
    Function::new("REVERSE", unary, reverse),
];

/// One text in, the same variable-length type out.
fn unary(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    let ty = text(&args[0]);
    sig(variable(&ty), vec![ty])
}

fn map(args: &[Value], f: impl Fn(&[u16]) -> Vec<u16>) -> SqlResult<Value> {
    if let Value::Str(s) = &args[0] {
        Ok(Value::Str(f(s).into()))
    } else {
        Ok(Value::Null)
    }
}

/// Each unit replaced by that of the other case. One that the code page does not have stays, and what needs more bytes
/// in UTF-8 than it did is cut to the type.
fn recased(signature: &Signature, args: &[Value], other: fn(u16) -> u16) -> SqlResult<Value> {
    let Value::Str(s) = &args[0] else {
        return Ok(Value::Null);
    };
    let ty = &signature.ret;
    let narrow = !ty.is_unicode() && ty.collation().is_some_and(|c| !c.is_utf8());
    let recased = s.iter().map(|unit| {
        let other = other(*unit);
        if narrow && cp1252_byte(other).is_none() {
            *unit
        } else {
            other
        }
    });
    Ok(fitted(recased.collect(), ty))
}

fn upper(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    recased(signature, args, upper_unit)
}

fn lower(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    recased(signature, args, fold_unit)
}

fn ltrim(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    map(args, |s| trim_start(s).to_vec())
}

fn rtrim(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    map(args, |s| trim_end(s).to_vec())
}

/// `TRIM(s)`, or `TRIM(characters FROM s)`, which arrives as the characters and the text.
fn bind_trim(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 2)?;
    let params: Vec<_> = args.iter().map(text).collect();
    let ret = params.last().map_or(DataType::Null, variable);
    sig(ret, params)
}

fn trim(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let [Value::Str(characters), Value::Str(s)] = args else {
        return match args {
            [_, _] => Ok(Value::Null),
            _ => map(args, |s| trim_start(trim_end(s)).to_vec()),
        };
    };
    let mut ask = || host.go_on();
    let mut steps = Steps::new(&mut ask);
    // Both texts may be long.
    let mut goes = |unit: u16| -> SqlResult<bool> {
        for character in characters.iter() {
            steps.take()?;
            if *character == unit {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let (mut first, mut end) = (0, s.len());
    while first < end && goes(s[first])? {
        first += 1;
    }
    while end > first && goes(s[end - 1])? {
        end -= 1;
    }
    Ok(Value::Str(s[first..end].into()))
}

fn reverse(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let supplementary = param_collation(signature, 0).is_supplementary();
    map(args, |s| {
        if !supplementary {
            return s.iter().rev().copied().collect();
        }
        let chars: Vec<_> = char::decode_utf16(s.iter().copied()).collect();
        let mut out = Vec::with_capacity(s.len());
        for c in chars.into_iter().rev() {
            match c {
                Ok(c) => out.extend_from_slice(c.encode_utf16(&mut [0; 2])),
                Err(lone) => out.push(lone.unpaired_surrogate()),
            }
        }
        out
    })
}

fn bind_len(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    let ty = text(&args[0]);
    sig(count_type(&ty), vec![ty])
}

fn eval_len(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if let Value::Str(s) = &args[0] {
        Ok(Value::Int(len(s, param_collation(signature, 0)) as i64))
    } else {
        Ok(Value::Null)
    }
}

fn bind_data_length(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(count_type(&args[0].ty), vec![args[0].ty.clone()])
}

fn data_length(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let ty = &signature.params[0];
    Ok(match &args[0] {
        Value::Null => Value::Null,
        Value::Str(s) => Value::Int(byte_len(s, ty) as i64),
        Value::Bytes(b) => Value::Int(b.len() as i64),
        Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => Value::Int(i64::from(ty.max_length())),
    })
}

/// A part of constant length cannot be longer than that. Where a character may take several units, the
/// type stays as it is.
fn shortened(ty: DataType, length: &Arg) -> DataType {
    let Some(Value::Int(length)) = length.constant else {
        return ty;
    };
    let Ok(length) = u16::try_from(length.max(1)) else {
        return ty;
    };
    match ty {
        DataType::VarChar(Length::Limited(n), c) if !c.is_utf8() => {
            DataType::varchar(n.min(length), c)
        }
        DataType::NVarChar(Length::Limited(n), c) if !c.is_supplementary() => {
            DataType::nvarchar(n.min(length), c)
        }
        DataType::VarBinary(Length::Limited(n)) => {
            DataType::VarBinary(Length::Limited(n.min(length)))
        }
        other @ (DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Decimal { .. }
        | DataType::Real
        | DataType::Float
        | DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..)
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_)) => other,
    }
}

fn bind_substring(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 3, 3)?;
    let ty = &args[0].ty;
    let ty = if ty.is_string() || ty.is_binary() {
        ty.clone()
    } else if *ty == DataType::Null {
        DataType::varchar(1, DEFAULT)
    } else {
        return Err(errors::invalid_argument(ty, 1, name));
    };
    let ret = shortened(variable(&ty), &args[2]);
    sig(ret, vec![ty, DataType::BigInt, DataType::BigInt])
}

fn substring(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let (start, length) = (int(&args[1]), int(&args[2]));
    if length < 0 {
        return Err(bad_length());
    }
    // Positions before the first character use up length without giving anything.
    let from = start.saturating_sub(1).max(0) as usize;
    let to = start.saturating_sub(1).saturating_add(length).max(0) as usize;
    Ok(match &args[0] {
        Value::Str(s) => {
            let collation = param_collation(signature, 0);
            let (from, to) = (
                char_offset(s, from, collation),
                char_offset(s, to, collation),
            );
            Value::Str(s[from..to.max(from)].into())
        }
        Value::Bytes(b) => {
            let (from, to) = (from.min(b.len()), to.min(b.len()));
            Value::Bytes(b[from..to.max(from)].into())
        }
        Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => Value::Null,
    })
}

fn bad_length() -> SqlError {
    SqlError::with(
        537,
        16,
        3,
        "Invalid length parameter passed to the LEFT or SUBSTRING function.",
    )
}

fn bind_side(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let ty = text(&args[0]);
    let ret = shortened(variable(&ty), &args[1]);
    sig(ret, vec![ty, DataType::BigInt])
}

fn left(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let count = usize::try_from(int(&args[1])).map_err(|_| bad_length())?;
    let s = units(&args[0]);
    let end = char_offset(s, count, param_collation(signature, 0));
    Ok(fitted(s[..end].to_vec(), &signature.ret))
}

fn right(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let count = usize::try_from(int(&args[1])).map_err(|_| {
        SqlError::with(
            536,
            16,
            4,
            "Invalid length parameter passed to the RIGHT function.",
        )
    })?;
    let s = units(&args[0]);
    let collation = param_collation(signature, 0);
    let start = char_offset(s, char_count(s, collation).saturating_sub(count), collation);
    Ok(fitted(s[start..].to_vec(), &signature.ret))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, call_typed, n, t, text};
    use super::*;
    use crate::value::Collation;

    #[test]
    fn lengths() {
        assert_eq!(call("LEN", &[t("ab  ")]).unwrap(), n(2));
        assert_eq!(call("DATALENGTH", &[t("ab  ")]).unwrap(), n(8));
        assert_eq!(call("DATALENGTH", &[n(1)]).unwrap(), n(4));
        let max = DataType::nvarchar_max(Collation::SqlLatin1CiAs);
        assert_eq!(
            call_typed("LEN", &[(t("a"), max)]).unwrap().1,
            DataType::BigInt
        );
        assert_eq!(call("LEN", &[]).unwrap_err().number, 174);
    }

    #[test]
    fn cutting() {
        assert_eq!(text(call("SUBSTRING", &[t("abcdef"), n(2), n(3)])), "bcd");
        assert_eq!(text(call("SUBSTRING", &[t("abcdef"), n(-1), n(3)])), "a");
        assert_eq!(text(call("SUBSTRING", &[t("abc"), n(9), n(3)])), "");
        assert_eq!(
            call("SUBSTRING", &[t("abc"), n(1), n(-1)])
                .unwrap_err()
                .number,
            537
        );
        assert_eq!(text(call("LEFT", &[t("abc"), n(2)])), "ab");
        assert_eq!(text(call("RIGHT", &[t("abc"), n(2)])), "bc");
        assert_eq!(call("RIGHT", &[t("abc"), n(-1)]).unwrap_err().number, 536);
        assert_eq!(text(call("LEFT", &[n(12345), n(2)])), "12");
        assert_eq!(text(call("TRIM", &[t("  a b ")])), "a b");
        assert_eq!(text(call("UPPER", &[t("aßé")])), "AßÉ");
        assert_eq!(text(call("REVERSE", &[t("abc")])), "cba");
    }
}
