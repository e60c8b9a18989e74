//! String functions that put text together.

use std::cell::RefCell;

use super::sig::{
    DEFAULT, any_null, arity, fitted, int, param_collation, sig, text, units, variable, widest,
};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::json::{escape_into, escaped_len};
use crate::value::text::{char_count, char_offset, from_str, to_string};
use crate::value::{Collation, DataType, Length, Steps, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("REPLACE", bind_replace, replace),
    Function::new("REPLICATE", bind_replicate, replicate),
    Function::new("SPACE", bind_space, space),
    Function::new("STUFF", bind_stuff, stuff),
    Function::new("CONCAT", |name, a| bind_concat(name, a, 2), concat),
    Function::new("CONCAT_WS", |name, a| bind_concat(name, a, 3), concat_ws),
    Function::new("QUOTENAME", bind_quotename, quotename),
    Function::new("TRANSLATE", bind_translate, translate),
    Function::new("STRING_ESCAPE", bind_escape, string_escape),
];

fn bind_replace(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 3, 3)?;
    let types: Vec<_> = args.iter().map(text).collect();
    let ret = widest(&types.iter().collect::<Vec<_>>());
    sig(ret, types)
}

fn replace(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let (s, from, to) = (units(&args[0]), units(&args[1]), units(&args[2]));
    if from.is_empty() || from.len() > s.len() {
        return Ok(fitted(s.to_vec(), &signature.ret));
    }
    let collation = signature.ret.collation().unwrap_or(DEFAULT);
    let from: Vec<u16> = from.iter().map(|u| collation.fold(*u)).collect();
    // Who asks whether to go on also asks for room.
    let host = RefCell::new(host);
    let mut ask = || host.borrow_mut().go_on();
    let mut steps = Steps::new(&mut ask);
    let mut out = Vec::with_capacity(s.len());
    let mut i = 0;
    while i < s.len() {
        if begins_with(&s[i..], &from, collation, &mut steps)? {
            // One text may become as long as two others multiplied.
            if out.len() + to.len() > out.capacity() {
                host.borrow().room((out.len() + to.len()) * 2)?;
            }
            out.extend_from_slice(to);
            i += from.len();
        } else {
            out.push(s[i]);
            i += 1;
        }
    }
    Ok(fitted(out, &signature.ret))
}

/// Whether a text begins with another one, which is folded already.
fn begins_with(
    text: &[u16],
    wanted: &[u16],
    collation: Collation,
    steps: &mut Steps<'_>,
) -> SqlResult<bool> {
    if text.len() < wanted.len() {
        steps.take()?;
        return Ok(false);
    }
    for (a, b) in text.iter().zip(wanted) {
        steps.take()?;
        if collation.fold(*a) != *b {
            return Ok(false);
        }
    }
    Ok(true)
}

fn bind_replicate(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let ty = text(&args[0]);
    sig(widest(&[&ty]), vec![ty, DataType::BigInt])
}

/// The most units REPLICATE builds for a MAX type, so that one call cannot exhaust the memory.
const MOST_UNITS: usize = 512 << 20;

fn replicate(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let s = units(&args[0]);
    let count = int(&args[1]);
    if any_null(args) || count < 0 {
        return Ok(Value::Null);
    }
    let limit = match signature.ret.length() {
        Some(Length::Limited(n)) => usize::from(n),
        _ => MOST_UNITS,
    };
    let count = if s.is_empty() {
        0
    } else {
        (count as usize).min(limit / s.len() + 1)
    };
    host.room(s.len() * count * 2)?;
    Ok(fitted(s.repeat(count), &signature.ret))
}

fn bind_space(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(DataType::varchar(8000, DEFAULT), vec![DataType::Int])
}

fn space(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    if let Value::Int(n) = &args[0]
        && *n >= 0
    {
        Ok(Value::Str(vec![0x20; (*n).min(8000) as usize].into()))
    } else {
        Ok(Value::Null)
    }
}

fn bind_stuff(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 4, 4)?;
    let (ty, with) = (text(&args[0]), text(&args[3]));
    sig(
        widest(&[&ty, &with]),
        vec![ty, DataType::BigInt, DataType::BigInt, with],
    )
}

fn stuff(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    // A NULL replacement only deletes.
    if any_null(&args[..3]) {
        return Ok(Value::Null);
    }
    let s = units(&args[0]);
    let (start, length) = (int(&args[1]), int(&args[2]));
    let collation = param_collation(signature, 0);
    if start < 1 || length < 0 || start > char_count(s, collation) as i64 {
        return Ok(Value::Null);
    }
    let from = char_offset(s, start as usize - 1, collation);
    let to = char_offset(s, (start - 1).saturating_add(length) as usize, collation);
    joined(&[&s[..from], units(&args[3]), &s[to..]], host, signature)
}

/// The result is as long as all arguments together; never NULL.
fn bind_concat(name: &str, args: &[Arg], least: usize) -> SqlResult<Signature> {
    arity(name, args, least, 254)?;
    let types: Vec<_> = args.iter().map(text).collect();
    let refs: Vec<_> = types.iter().collect();
    let total: usize = types
        .iter()
        .map(|t| match t.length() {
            Some(Length::Limited(n)) => usize::from(n),
            _ => 0,
        })
        .sum();
    let separators = if name == "CONCAT_WS" {
        let each = match types[0].length() {
            Some(Length::Limited(n)) => usize::from(n),
            _ => 0,
        };
        each * types.len().saturating_sub(3)
    } else {
        0
    };
    let ret = match widest(&refs) {
        DataType::NVarChar(Length::Limited(most), c) => {
            DataType::nvarchar((total + separators).clamp(1, usize::from(most)) as u16, c)
        }
        DataType::VarChar(Length::Limited(most), c) => {
            DataType::varchar((total + separators).clamp(1, usize::from(most)) as u16, c)
        }
        max @ (DataType::Null
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
        | DataType::DateTimeOffset(_)) => max,
    };
    Ok(Signature {
        ret,
        params: types,
        nullable: false,
    })
}

fn concat(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let parts: Vec<&[u16]> = args.iter().map(units).collect();
    joined(&parts, host, signature)
}

fn concat_ws(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let mut parts = Vec::with_capacity(args.len() * 2);
    for value in args[1..].iter().filter(|a| !a.is_null()) {
        if !parts.is_empty() {
            parts.push(units(&args[0]));
        }
        parts.push(units(value));
    }
    joined(&parts, host, signature)
}

/// Texts one after another. They may all be the same long one, so there must be room before they are put together.
fn joined(parts: &[&[u16]], host: &dyn Host, signature: &Signature) -> SqlResult<Value> {
    let total: usize = parts.iter().map(|part| part.len()).sum();
    host.room(total * 2)?;
    Ok(fitted(parts.concat(), &signature.ret))
}

fn bind_quotename(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 2)?;
    let name = DataType::nvarchar(4000, DEFAULT);
    let params = [name, DataType::nvarchar(1, DEFAULT)]
        .into_iter()
        .take(args.len())
        .collect();
    sig(DataType::nvarchar(258, DEFAULT), params)
}

fn quotename(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let s = units(&args[0]);
    let quote = args
        .get(1)
        .map_or_else(|| from_str("["), |q| units(q).into());
    let pair = match quote.first().copied().and_then(|u| u8::try_from(u).ok()) {
        Some(b'[' | b']') => (b'[', b']'),
        Some(q @ (b'\'' | b'"' | b'`')) => (q, q),
        Some(b'(' | b')') => (b'(', b')'),
        Some(b'<' | b'>') => (b'<', b'>'),
        Some(b'{' | b'}') => (b'{', b'}'),
        _ => return Ok(Value::Null),
    };
    if any_null(args) || s.len() > 128 {
        return Ok(Value::Null);
    }
    let (open, close) = (u16::from(pair.0), u16::from(pair.1));
    let mut out = vec![open];
    for unit in s {
        out.push(*unit);
        if *unit == close {
            out.push(close);
        }
    }
    out.push(close);
    Ok(Value::Str(out.into()))
}

fn bind_translate(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 3, 3)?;
    let mut types: Vec<_> = args.iter().map(text).collect();
    let ret = variable(&types[0]);
    // What comes in must be of the code page of the text it comes into.
    if let DataType::VarChar(_, collation) = ret {
        types[2] = DataType::VarChar(Length::Max, collation);
    }
    sig(ret, types)
}

fn translate(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let (s, from, to) = (units(&args[0]), units(&args[1]), units(&args[2]));
    if from.len() != to.len() {
        return Err(SqlError::new(
            9828,
            "The second and third arguments of the TRANSLATE built-in function must contain an equal \
             number of characters.",
        ));
    }
    let collation = param_collation(signature, 0);
    let mut out = Vec::with_capacity(s.len());
    let mut ask = || host.go_on();
    let mut steps = Steps::new(&mut ask);
    for unit in s {
        steps.take()?;
        let folded = collation.fold(*unit);
        let mut becomes = *unit;
        for (f, t) in from.iter().zip(to) {
            steps.take()?;
            if collation.fold(*f) == folded {
                becomes = *t;
                break;
            }
        }
        out.push(becomes);
    }
    Ok(fitted(out, &signature.ret))
}

fn bind_escape(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let ty = text(&args[0]);
    let collation = ty.collation().unwrap_or(DEFAULT);
    sig(
        DataType::nvarchar_max(collation),
        vec![ty, DataType::nvarchar(60, DEFAULT)],
    )
}

fn string_escape(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let kind = to_string(units(&args[1]));
    if !kind.eq_ignore_ascii_case("json") {
        return Err(SqlError::new(
            13622,
            "An invalid value was specified for argument 2 of STRING_ESCAPE.",
        ));
    }
    let s = units(&args[0]);
    host.room(escaped_len(s) * 2)?;
    let mut out = Vec::new();
    escape_into(s, &mut out);
    Ok(Value::Str(out.into()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, call_typed, n, t, text};
    use super::*;

    #[test]
    fn replacing_follows_the_collation() {
        assert_eq!(
            text(call("REPLACE", &[t("aXbx"), t("x"), t("--")])),
            "a--b--"
        );
        assert_eq!(text(call("REPLACE", &[t("abc"), t(""), t("z")])), "abc");
        let bin = DataType::nvarchar(10, crate::value::Collation::Bin2);
        let args = [
            (t("aXbx"), bin.clone()),
            (t("x"), bin.clone()),
            (t(""), bin),
        ];
        assert_eq!(text(call_typed("REPLACE", &args).map(|r| r.0)), "aXb");
    }

    #[test]
    fn building() {
        assert_eq!(text(call("REPLICATE", &[t("ab"), n(3)])), "ababab");
        let long = call("REPLICATE", &[t("ab"), n(100_000)]).unwrap();
        assert!(matches!(long, Value::Str(s) if s.len() == 4000));
        assert_eq!(call("REPLICATE", &[t("ab"), n(-1)]).unwrap(), Value::Null);
        assert_eq!(
            text(call("STUFF", &[t("abcdef"), n(2), n(3), t("X")])),
            "aXef"
        );
        assert_eq!(
            text(call("STUFF", &[t("abc"), n(1), n(1), Value::Null])),
            "bc"
        );
        assert_eq!(
            call("STUFF", &[t("abc"), n(4), n(1), t("x")]).unwrap(),
            Value::Null
        );
        assert_eq!(text(call("CONCAT", &[t("a"), Value::Null, n(5)])), "a5");
        assert_eq!(
            text(call("CONCAT_WS", &[t(","), t("a"), Value::Null, t("b")])),
            "a,b"
        );
        assert_eq!(call("CONCAT", &[t("a")]).unwrap_err().number, 189);
        assert_eq!(text(call("QUOTENAME", &[t("a]b")])), "[a]]b]");
        assert_eq!(text(call("QUOTENAME", &[t("a'b"), t("'")])), "'a''b'");
        assert_eq!(
            call("QUOTENAME", &[t(&"x".repeat(129))]).unwrap(),
            Value::Null
        );
    }

    #[test]
    fn characters_are_replaced_one_by_one() {
        assert_eq!(
            text(call("TRANSLATE", &[t("2*[3+4]"), t("[]"), t("()")])),
            "2*(3+4)"
        );
        assert_eq!(
            call("TRANSLATE", &[t("a"), t("ab"), t("c")])
                .unwrap_err()
                .number,
            9828
        );
        assert_eq!(
            text(call("STRING_ESCAPE", &[t("a\"/"), t("json")])),
            "a\\\"\\/"
        );
    }
}
