//! Integers and floating-point numbers to and from text, as CAST does.

/// Why text is not an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseIntError {
    /// It is not `[+-]digits`.
    Syntax,
    /// It has too many digits for 64 bits.
    Overflow,
}

/// Reads an integer with spaces around it; blank text is zero.
pub fn parse_int(text: &str) -> Result<i64, ParseIntError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(0);
    }
    let (negative, digits) = match text.as_bytes()[0] {
        b'-' => (true, text[1..].trim_start()),
        b'+' => (false, text[1..].trim_start()),
        _ => (false, text),
    };
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ParseIntError::Syntax);
    }
    if digits.is_empty() {
        return Ok(0);
    }
    let magnitude: i128 = digits.parse().map_err(|_| ParseIntError::Overflow)?;
    i64::try_from(if negative { -magnitude } else { magnitude })
        .map_err(|_| ParseIntError::Overflow)
}

/// Reads a floating-point number with spaces around it; blank text is zero.
pub fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() {
        return Some(0.0);
    }
    let plain =
        |b: u8| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E' | b'd' | b'D');
    if !text.bytes().all(plain) || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let value: f64 = text.replace(['d', 'D'], "e").parse().ok()?;
    value.is_finite().then_some(value)
}

/// A floating-point number as CONVERT writes it: style 0 with up to six digits, 1 with eight, 2
/// with sixteen, 3 with seventeen, the last three always scientific.
pub fn format_float(value: f64, style: i32) -> String {
    match style {
        1 => scientific(value, 8, false),
        2 => scientific(value, 16, false),
        3 => scientific(value, 17, false),
        _ => general(value, 6),
    }
}

/// A floating-point number as it is shown in JSON: scientific with sixteen digits.
pub fn format_float_json(value: f64) -> String {
    scientific(value, 16, false)
}

/// A floating-point number as messages show it: six digits after the point, of which and before which no more than
/// seventeen are its own and the rest zeros.
pub fn format_fixed(value: f64) -> String {
    let exact = format!("{value:.16e}");
    match exact.split_once('e') {
        Some((mantissa, exponent)) if exponent.parse().is_ok_and(|e: usize| e > 10) => {
            let exponent: usize = exponent.parse().unwrap_or(0);
            let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
            let digits = format!("{digits:0<width$}", width = exponent + 7);
            let (whole, rest) = digits.split_at(exponent + 1);
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{whole}.{}", &rest[..6])
        }
        Some(_) | None => format!("{value:.6}"),
    }
}

fn general(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.*e}", digits - 1);
    let exponent: i32 = text
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        return scientific(value, digits, true);
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trim_zeros(&format!("{value:.decimals$}")).to_owned()
}

fn scientific(value: f64, digits: usize, trim: bool) -> String {
    let text = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = if trim { trim_zeros(mantissa) } else { mantissa };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:03}", exponent.abs())
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_with_six_digits_and_a_three_digit_exponent() {
        for (value, text) in [
            (1_000_000.0, "1e+006"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+006"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-005"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.3"),
        ] {
            assert_eq!(format_float(value, 0), text);
        }
        assert_eq!(format_float(1.5, 2), "1.500000000000000e+000");
    }

    #[test]
    fn messages_show_seventeen_digits() {
        for (value, text) in [
            (70_000.0, "70000.000000"),
            (-1.5, "-1.500000"),
            (1e30, "1000000000000000000000000000000.000000"),
            (f64::from(1e20_f32), "100000002004087730000.000000"),
            (-123_456_789_012_345.12, "-123456789012345.120000"),
        ] {
            assert_eq!(format_fixed(value), text);
        }
    }

    #[test]
    fn integers_may_be_blank_but_not_fractional() {
        assert_eq!(parse_int("  "), Ok(0));
        assert_eq!(parse_int(" -12 "), Ok(-12));
        assert_eq!(parse_int("1.0"), Err(ParseIntError::Syntax));
        assert_eq!(
            parse_int("9223372036854775808"),
            Err(ParseIntError::Overflow)
        );
        assert_eq!(parse_int(&"9".repeat(60)), Err(ParseIntError::Overflow));
        assert_eq!(parse_float("nan"), None);
        assert_eq!(parse_float("1e3"), Some(1000.0));
    }
}
