//! Numbers and the texts that stand for them: STR, ISNUMERIC.

use super::sig::{DEFAULT, any_null, arity, float, int, sig, text};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::number_text::parse_float;
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("STR", bind_str, str_of),
    Function::new("ISNUMERIC", bind_isnumeric, isnumeric),
];

fn bind_str(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 3)?;
    let params = [DataType::Float, DataType::Int, DataType::Int];
    sig(
        DataType::varchar(8000, DEFAULT),
        params.into_iter().take(args.len()).collect(),
    )
}

/// Right-aligned in ten characters by default; asterisks when the whole part does not fit.
fn str_of(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let length = args.get(1).map_or(10, int);
    let decimals = args.get(2).map_or(0, int);
    if any_null(args) || !(1..=8000).contains(&length) || decimals < 0 {
        return Ok(Value::Null);
    }
    let length = length as usize;
    let value = float(&args[0]);
    let whole = format!("{:.0}", value.trunc()).len();
    let room = length.saturating_sub(whole + 1);
    let shown = rounded((decimals.min(16) as usize).min(room), value);
    if shown.len() > length {
        return Ok(Value::text(&"*".repeat(length)));
    }
    Ok(Value::text(&format!("{shown:>length$}")))
}

/// A number with so many decimals. What lies in the middle goes away from zero, where Rust takes the even neighbour.
fn rounded(decimals: usize, value: f64) -> String {
    let exact = format!("{value:.*}", decimals + 30);
    let rest = &exact[exact.len() - 30..];
    let middle = rest.starts_with('5') && rest[1..].bytes().all(|b| b == b'0');
    let value = if !middle {
        value
    } else if value < 0.0 {
        value.next_down()
    } else {
        value.next_up()
    };
    format!("{value:.decimals$}")
}

fn bind_isnumeric(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    let ty = &args[0].ty;
    sig(
        DataType::Int,
        vec![if ty.is_numeric() {
            ty.clone()
        } else {
            text(&args[0])
        }],
    )
}

/// Text that any numeric type takes is numeric; that includes currency signs, thousands separators
/// and a lone sign or point.
fn isnumeric(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let numeric = match &args[0] {
        Value::Null => false,
        Value::Str(s) => {
            let shown = String::from_utf16_lossy(s);
            let shown = shown.trim();
            let money: String = shown
                .chars()
                .filter(|c| !matches!(c, ',' | '$' | '€' | '£'))
                .collect();
            let lone = matches!(money.as_str(), "+" | "-" | "." | "");
            !shown.is_empty() && (lone || parse_float(&money).is_some())
        }
        Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => true,
    };
    Ok(Value::Int(i64::from(numeric)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::text as shown;
    use super::super::testing::{call, n, t};
    use super::*;

    #[test]
    fn numbers_as_text() {
        assert_eq!(
            shown(call("STR", &[Value::Float(123.45), n(6), n(1)])),
            " 123.5"
        );
        assert_eq!(shown(call("STR", &[n(5)])), "         5");
        assert_eq!(shown(call("STR", &[n(12345), n(3)])), "***");
    }

    #[test]
    fn texts_that_are_numbers() {
        for (text, expected) in [("1e5", 1), ("$1,000", 1), ("abc", 0), ("", 0), ("-", 1)] {
            assert_eq!(
                call("ISNUMERIC", &[t(text)]).unwrap(),
                n(expected),
                "{text}"
            );
        }
    }
}
