//! Character codes, STR, TRANSLATE, SOUNDEX, STRING_ESCAPE and FORMATMESSAGE.

use super::sig::{
    DEFAULT, any_null, arity, fitted, float, int, param_collation, sig, text, units, variable,
};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::fold::upper_unit;
use crate::value::json::escape_into;
use crate::value::text::{cp1252_byte, cp1252_unit, to_string};
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "CHAR",
        bind: |a| code("CHAR", a, DataType::Char(1, DEFAULT)),
        eval: char_of,
        date_part: false,
    },
    Function {
        name: "NCHAR",
        bind: |a| code("NCHAR", a, DataType::NChar(1, DEFAULT)),
        eval: nchar_of,
        date_part: false,
    },
    Function {
        name: "ASCII",
        bind: |a| first("ASCII", a),
        eval: ascii,
        date_part: false,
    },
    Function {
        name: "UNICODE",
        bind: |a| first("UNICODE", a),
        eval: unicode,
        date_part: false,
    },
    Function {
        name: "STR",
        bind: bind_str,
        eval: str_of,
        date_part: false,
    },
    Function {
        name: "TRANSLATE",
        bind: bind_translate,
        eval: translate,
        date_part: false,
    },
    Function {
        name: "SOUNDEX",
        bind: bind_soundex,
        eval: soundex,
        date_part: false,
    },
    Function {
        name: "DIFFERENCE",
        bind: bind_difference,
        eval: difference,
        date_part: false,
    },
    Function {
        name: "STRING_ESCAPE",
        bind: bind_escape,
        eval: string_escape,
        date_part: false,
    },
    Function {
        name: "FORMATMESSAGE",
        bind: bind_message,
        eval: format_message,
        date_part: false,
    },
];

fn code(name: &str, args: &[Arg], ret: DataType) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(ret, vec![DataType::Int])
}

fn char_of(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(match &args[0] {
        Value::Int(n) => {
            u8::try_from(*n).map_or(Value::Null, |b| Value::Str([cp1252_unit(b)].into()))
        }
        _ => Value::Null,
    })
}

fn nchar_of(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(match &args[0] {
        Value::Int(n) => u16::try_from(*n).map_or(Value::Null, |u| Value::Str([u].into())),
        _ => Value::Null,
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

fn bind_str(args: &[Arg]) -> SqlResult<Signature> {
    arity("STR", args, 1, 3)?;
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
    let shown = format!("{value:.*}", (decimals.min(16) as usize).min(room));
    if shown.len() > length {
        return Ok(Value::text(&"*".repeat(length)));
    }
    Ok(Value::text(&format!("{shown:>length$}")))
}

fn bind_translate(args: &[Arg]) -> SqlResult<Signature> {
    arity("TRANSLATE", args, 3, 3)?;
    let types: Vec<_> = args.iter().map(text).collect();
    sig(variable(&types[0]), types)
}

fn translate(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
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
    let out = s
        .iter()
        .map(|u| {
            let found = from
                .iter()
                .position(|f| collation.fold(*f) == collation.fold(*u));
            found.map_or(*u, |i| to[i])
        })
        .collect();
    Ok(fitted(out, &signature.ret))
}

fn bind_soundex(args: &[Arg]) -> SqlResult<Signature> {
    arity("SOUNDEX", args, 1, 1)?;
    sig(DataType::varchar(5, DEFAULT), vec![text(&args[0])])
}

fn soundex(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(match &args[0] {
        Value::Str(s) => Value::text(&soundex_code(s)),
        _ => Value::Null,
    })
}

/// The first letter and three digits for the consonants that follow; reading stops at the first
/// character that is not a letter.
fn soundex_code(s: &[u16]) -> String {
    let letters: Vec<u8> = s
        .iter()
        .map_while(|u| {
            u8::try_from(upper_unit(*u))
                .ok()
                .filter(u8::is_ascii_uppercase)
        })
        .collect();
    let Some(initial) = letters.first() else {
        return "0000".to_owned();
    };
    let digit = |c: u8| match c {
        b'B' | b'F' | b'P' | b'V' => b'1',
        b'C' | b'G' | b'J' | b'K' | b'Q' | b'S' | b'X' | b'Z' => b'2',
        b'D' | b'T' => b'3',
        b'L' => b'4',
        b'M' | b'N' => b'5',
        b'R' => b'6',
        _ => 0,
    };
    let mut out = String::from(char::from(*initial));
    let mut last = digit(*initial);
    for letter in &letters[1..] {
        let code = digit(*letter);
        if code != 0 && code != last && out.len() < 4 {
            out.push(char::from(code));
        }
        // H and W do not separate equal codes, vowels do.
        if !matches!(letter, b'H' | b'W') {
            last = code;
        }
    }
    format!("{out:0<4}")
}

fn bind_difference(args: &[Arg]) -> SqlResult<Signature> {
    arity("DIFFERENCE", args, 2, 2)?;
    sig(DataType::Int, args.iter().map(text).collect())
}

fn difference(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let (a, b) = (soundex_code(units(&args[0])), soundex_code(units(&args[1])));
    let same = a.bytes().zip(b.bytes()).filter(|(x, y)| x == y).count();
    Ok(Value::Int(same as i64))
}

fn bind_escape(args: &[Arg]) -> SqlResult<Signature> {
    arity("STRING_ESCAPE", args, 2, 2)?;
    let ty = text(&args[0]);
    let collation = ty.collation().unwrap_or(DEFAULT);
    sig(
        DataType::nvarchar_max(collation),
        vec![ty, DataType::nvarchar(60, DEFAULT)],
    )
}

fn string_escape(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
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
    let mut out = Vec::new();
    escape_into(units(&args[0]), &mut out);
    Ok(Value::Str(out.into()))
}

fn bind_message(args: &[Arg]) -> SqlResult<Signature> {
    arity("FORMATMESSAGE", args, 1, 21)?;
    if !args[0].ty.is_string() {
        return Err(SqlError::unsupported("FORMATMESSAGE with a message number"));
    }
    let params = args
        .iter()
        .map(|a| match &a.ty {
            ty if ty.is_integer() => ty.clone(),
            DataType::Bit => DataType::Int,
            _ => text(a),
        })
        .collect();
    sig(DataType::nvarchar(2048, DEFAULT), params)
}

fn format_message(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    if args[0].is_null() {
        return Ok(Value::Null);
    }
    let format = to_string(units(&args[0]));
    Ok(Value::text(&substitute(&format, &args[1..])?))
}

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
            .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | ' ' | '#' | '.'))
            .unwrap_or(rest.len());
        let (spec, tail) = rest.split_at(end);
        let tail = tail
            .strip_prefix("I64")
            .or_else(|| tail.strip_prefix(['l', 'h']))
            .unwrap_or(tail);
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
            return Err(SqlError::new(
                2786,
                format!(
                    "The data type of substitution parameter {} does not match the expected type of \
                     the format specification.",
                    i + 1
                ),
            ));
        }
        let text = placeholder(kind, argument.map(|(_, value)| value), spec);
        out.push_str(&pad(&text, spec));
    }
    out.push_str(rest);
    Ok(out)
}

/// Whether a placeholder takes a value of this kind; NULL fits everywhere.
fn fits(kind: char, value: &Value) -> bool {
    match value {
        Value::Str(_) => kind == 's',
        Value::Int(_) => kind != 's',
        _ => true,
    }
}

fn placeholder(kind: char, value: Option<&Value>, spec: &str) -> String {
    match (kind, value) {
        (_, None | Some(Value::Null)) => "(null)".to_owned(),
        ('s', Some(Value::Str(s))) => {
            let precision = spec.split_once('.').and_then(|(_, p)| p.parse().ok());
            to_string(s)
                .chars()
                .take(precision.unwrap_or(usize::MAX))
                .collect()
        }
        (kind, Some(value)) => {
            let n = int(value);
            match kind {
                'u' => (n as u32).to_string(),
                'o' => format!("{:o}", n as u32),
                'x' => format!("{:x}", n as u32),
                'X' => format!("{:X}", n as u32),
                _ if spec.contains('+') && n >= 0 => format!("+{n}"),
                _ => n.to_string(),
            }
        }
    }
}

fn pad(text: &str, spec: &str) -> String {
    let flags = spec.split('.').next().unwrap_or("");
    let width: usize = flags
        .trim_start_matches(['-', '+', ' ', '#'])
        .parse()
        .unwrap_or(0);
    let width = width.min(2048);
    if flags.contains('-') {
        format!("{text:<width$}")
    } else if flags.trim_start_matches(['+', ' ', '#']).starts_with('0') {
        format!("{text:0>width$}")
    } else {
        format!("{text:>width$}")
    }
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
    fn the_rest() {
        assert_eq!(
            shown(call("TRANSLATE", &[t("2*[3+4]"), t("[]"), t("()")])),
            "2*(3+4)"
        );
        assert_eq!(
            call("TRANSLATE", &[t("a"), t("ab"), t("c")])
                .unwrap_err()
                .number,
            9828
        );
        assert_eq!(shown(call("SOUNDEX", &[t("Smythe")])), "S530");
        assert_eq!(
            call("DIFFERENCE", &[t("Smith"), t("Smythe")]).unwrap(),
            n(4)
        );
        assert_eq!(
            shown(call("STRING_ESCAPE", &[t("a\"/"), t("json")])),
            "a\\\"\\/"
        );
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
