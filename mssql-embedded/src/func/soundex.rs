//! How words sound: SOUNDEX, DIFFERENCE.

use super::sig::{DEFAULT, any_null, arity, sig, text, units};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::fold::upper_unit;
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("SOUNDEX", bind_soundex, soundex),
    Function::new("DIFFERENCE", bind_difference, difference),
];

fn bind_soundex(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(DataType::varchar(5, DEFAULT), vec![text(&args[0])])
}

fn soundex(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(if let Value::Str(s) = &args[0] {
        Value::text(&soundex_code(s))
    } else {
        Value::Null
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

fn bind_difference(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
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

#[cfg(test)]
mod tests {
    use super::super::testing::text as shown;
    use super::super::testing::{call, n, t};

    #[test]
    fn words_that_sound_alike() {
        assert_eq!(shown(call("SOUNDEX", &[t("Smythe")])), "S530");
        assert_eq!(
            call("DIFFERENCE", &[t("Smith"), t("Smythe")]).unwrap(),
            n(4)
        );
    }
}
