//! Messages with placeholders: FORMATMESSAGE, and what RAISERROR fills in.

use super::sig::{DEFAULT, arity, fitted, int, sig, text, units};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::text::to_string;
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] =
    &[Function::new("FORMATMESSAGE", bind_message, format_message)];

fn bind_message(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 21)?;
    if !args[0].ty.is_string() {
        return Err(SqlError::unsupported("FORMATMESSAGE with a message number"));
    }
    let params = args
        .iter()
        .map(|a| match &a.ty {
            ty if ty.is_integer() => ty.clone(),
            DataType::Bit => DataType::Int,
            DataType::Null
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
            | DataType::DateTimeOffset(_) => text(a),
        })
        .collect();
    sig(DataType::nvarchar(2048, DEFAULT), params)
}

fn format_message(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if args[0].is_null() {
        return Ok(Value::Null);
    }
    let format = to_string(units(&args[0]));
    let message: Vec<u16> = substitute(&format, &args[1..])?.encode_utf16().collect();
    Ok(fitted(message, &signature.ret))
}

/// What a message of RAISERROR shows ("RAISERROR", msg_str), one less than sys.messages holds.
const MESSAGE_UNITS: usize = 2047;

/// More than this no placeholder takes up.
const WIDTH_MAX: usize = 2048;

/// Fills in the placeholders of a message as RAISERROR and FORMATMESSAGE do: `%s`, `%d`, `%i`,
/// `%u`, `%o`, `%x`, `%X`, `%I64d` with flags, width and precision, and `%%`.
///
/// # Errors
///
/// 2786 for a text where a number belongs or the reverse, 2787 for a placeholder that does not exist.
pub fn substitute(format: &str, args: &[Value]) -> SqlResult<String> {
    let mut out = String::new();
    let mut args = args.iter().enumerate();
    let mut rest = format;
    while let Some(i) = rest.find('%') {
        out.push_str(&rest[..i]);
        rest = &rest[i + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let end = rest
            .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | ' ' | '#' | '.' | '*'))
            .unwrap_or(rest.len());
        let (spec, tail) = rest.split_at(end);
        let spec = &given_by_arguments(spec, &mut args)?;
        let (wide, tail) = match tail.strip_prefix("I64") {
            Some(tail) => (true, tail),
            None => (false, tail.strip_prefix(['l', 'h']).unwrap_or(tail)),
        };
        let Some(kind @ ('s' | 'd' | 'i' | 'u' | 'o' | 'x' | 'X')) = tail.chars().next() else {
            return Err(SqlError::new(
                2787,
                format!("Invalid format specification: '%{rest}'."),
            ));
        };
        rest = &tail[1..];
        let argument = args.next();
        if let Some((i, value)) = argument
            && !fits(kind, value)
        {
            return Err(mismatch(i));
        }
        let text = placeholder(kind, argument.map(|(_, value)| value), wide, spec);
        out.push_str(&pad(&text, spec));
    }
    out.push_str(rest);
    Ok(limited(out))
}

/// "The error message can have a maximum of 2,047 characters. If the message contains 2,048 or more characters, only the
/// first 2,044 are displayed and an ellipsis is added" (RAISERROR, FORMATMESSAGE).
fn limited(message: String) -> String {
    if message.len() <= MESSAGE_UNITS {
        return message;
    }
    let units: Vec<u16> = message.encode_utf16().collect();
    if units.len() <= MESSAGE_UNITS {
        return message;
    }
    to_string(&units[..MESSAGE_UNITS - 3]) + "..."
}

/// 2786 for the argument at a position.
fn mismatch(position: usize) -> SqlError {
    let message = format!(
        "The data type of substitution parameter {} does not match the expected type of the format \
         specification.",
        position + 1
    );
    SqlError::new(2786, message)
}

/// Width and precision with each `*` replaced: "the width (or precision) is specified by the associated
/// argument in the argument list, which must be an integer value" (RAISERROR).
fn given_by_arguments<'v>(
    spec: &str,
    args: &mut impl Iterator<Item = (usize, &'v Value)>,
) -> SqlResult<String> {
    let mut given = String::with_capacity(spec.len());
    for c in spec.chars() {
        if c != '*' {
            given.push(c);
            continue;
        }
        match args.next() {
            Some((_, Value::Int(n))) => given.push_str(&n.to_string()),
            Some((i, _)) => return Err(mismatch(i)),
            None => {}
        }
    }
    Ok(given)
}

/// Whether a placeholder takes a value of this kind; NULL fits everywhere.
fn fits(kind: char, value: &Value) -> bool {
    match value {
        Value::Str(_) => kind == 's',
        Value::Int(_) => kind != 's',
        Value::Null
        | Value::Bit(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => true,
    }
}

fn placeholder(kind: char, value: Option<&Value>, wide: bool, spec: &str) -> String {
    match (kind, value) {
        (_, None | Some(Value::Null)) => "(null)".to_owned(),
        ('s', Some(Value::Str(s))) => {
            // No more of a long text than a message can show, and its end.
            let shown = &s[..s.len().min(MESSAGE_UNITS + 1)];
            to_string(shown)
                .chars()
                .take(precision(spec).unwrap_or(usize::MAX))
                .collect()
        }
        (kind, Some(value)) => number(kind, int(value), wide, spec),
    }
}

/// A number with its sign or prefix and at least as many digits as the precision says.
fn number(kind: char, n: i64, wide: bool, spec: &str) -> String {
    let flags = flags(spec);
    let unsigned = if wide { n as u64 } else { u64::from(n as u32) };
    let (prefix, digits) = match kind {
        'u' => ("", unsigned.to_string()),
        'o' => ("0", format!("{unsigned:o}")),
        'x' => ("0x", format!("{unsigned:x}")),
        'X' => ("0X", format!("{unsigned:X}")),
        _ => (sign(n, flags), n.unsigned_abs().to_string()),
    };
    let prefixed = matches!(kind, 'd' | 'i') || flags.contains('#') && n != 0;
    let prefix = if prefixed { prefix } else { "" };
    let zeros = if flags.contains('0') && !flags.contains('-') {
        width(spec).saturating_sub(prefix.len())
    } else {
        0
    };
    let least = precision(spec).unwrap_or(0).min(WIDTH_MAX).max(zeros);
    format!("{prefix}{digits:0>least$}")
}

fn sign(n: i64, flags: &str) -> &'static str {
    if n < 0 {
        "-"
    } else if flags.contains('+') {
        "+"
    } else if flags.contains(' ') {
        " "
    } else {
        ""
    }
}

fn flags(spec: &str) -> &str {
    let end = spec
        .find(|c| !matches!(c, '-' | '+' | ' ' | '#' | '0'))
        .unwrap_or(spec.len());
    &spec[..end]
}

fn precision(spec: &str) -> Option<usize> {
    spec.split_once('.').and_then(|(_, p)| p.parse().ok())
}

fn width(spec: &str) -> usize {
    let width = spec[flags(spec).len()..].split('.').next().unwrap_or("");
    width.parse().unwrap_or(0).min(WIDTH_MAX)
}

/// Brings a text to its width: "when 0 and the minus sign (-) appear, 0 is ignored" (RAISERROR).
fn pad(text: &str, spec: &str) -> String {
    let (flags, width) = (flags(spec), width(spec));
    if flags.contains('-') {
        format!("{text:<width$}")
    } else if flags.contains('0') {
        format!("{text:0>width$}")
    } else {
        format!("{text:>width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::text as shown;
    use super::super::testing::{call, n, t};

    #[test]
    fn placeholders_are_filled_in() {
        assert_eq!(
            shown(call(
                "FORMATMESSAGE",
                &[t("%s has %05d%% %x %-4s|"), t("a"), n(42), n(255), t("b")]
            )),
            "a has 00042% ff b   |"
        );
        assert_eq!(call("FORMATMESSAGE", &[t("%q")]).unwrap_err().number, 2787);
    }
}
