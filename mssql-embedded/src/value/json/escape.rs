//! Strings of JSON text: reading and writing escapes.

/// The text of a string whose quotes are already removed and whose escapes are known to be valid.
pub fn unescape(raw: &[u16]) -> Vec<u16> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(i) = rest.iter().position(|u| *u == 0x5C) {
        out.extend_from_slice(&rest[..i]);
        let code = rest.get(i + 1).copied().unwrap_or(0x5C);
        let mut used = 2;
        out.push(match u8::try_from(code) {
            Ok(b'b') => 0x08,
            Ok(b'f') => 0x0C,
            Ok(b'n') => 0x0A,
            Ok(b'r') => 0x0D,
            Ok(b't') => 0x09,
            Ok(b'u') => {
                used = 6;
                let digits = rest.get(i + 2..i + 6).unwrap_or(&[]);
                digits.iter().fold(0, |n, u| (n << 4) | hex(*u))
            }
            _ => code,
        });
        rest = rest.get(i + used..).unwrap_or(&[]);
    }
    out.extend_from_slice(rest);
    out
}

fn hex(unit: u16) -> u16 {
    let digit = char::from_u32(u32::from(unit)).and_then(|c| c.to_digit(16));
    digit.unwrap_or(0) as u16
}

/// How long [`escape_into`] makes a text, so that room for it can be asked for.
pub fn escaped_len(text: &[u16]) -> usize {
    let len = |unit: &u16| match u8::try_from(*unit) {
        Ok(b'"' | b'\\' | b'/' | 0x08 | 0x0C | 0x0A | 0x0D | 0x09) => 2,
        Ok(0..0x20) => 6,
        _ => 1,
    };
    text.iter().map(len).sum()
}

/// Appends text with the escapes FOR JSON and STRING_ESCAPE use; the solidus is escaped too.
pub fn escape_into(text: &[u16], out: &mut Vec<u16>) {
    out.reserve(text.len());
    for &unit in text {
        let short = match u8::try_from(unit) {
            Ok(b'"') => b'"',
            Ok(b'\\') => b'\\',
            Ok(b'/') => b'/',
            Ok(0x08) => b'b',
            Ok(0x0C) => b'f',
            Ok(0x0A) => b'n',
            Ok(0x0D) => b'r',
            Ok(0x09) => b't',
            Ok(0..0x20) => {
                out.extend(format!("\\u{unit:04x}").encode_utf16());
                continue;
            }
            _ => {
                out.push(unit);
                continue;
            }
        };
        out.extend_from_slice(&[0x5C, u16::from(short)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_round_trip() {
        let text: Vec<u16> = "a\"\\/\u{8}\u{c}\n\r\t\u{1}é😀".encode_utf16().collect();
        let mut escaped = Vec::new();
        escape_into(&text, &mut escaped);
        let shown = String::from_utf16(&escaped).unwrap();
        assert_eq!(shown, "a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001é😀");
        assert_eq!(unescape(&escaped), text);
        let surrogates: Vec<u16> = "\\uD83D\\ude00".encode_utf16().collect();
        assert_eq!(
            unescape(&surrogates),
            "😀".encode_utf16().collect::<Vec<_>>()
        );
    }
}
