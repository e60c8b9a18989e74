//! STRING_SPLIT, a table function.

use crate::error::{SqlError, SqlResult};
use crate::value::{Collation, Steps};

/// Hands the parts of `text` between separators to `part`, in order; empty parts are kept.
///
/// # Errors
///
/// 214 when the separator is not one character, and the errors of `part` and `steps`.
pub fn string_split(
    text: &[u16],
    separator: &[u16],
    collation: Collation,
    mut steps: Steps<'_>,
    mut part: impl FnMut(&[u16]) -> SqlResult<()>,
) -> SqlResult<()> {
    let [separator] = separator else {
        return Err(SqlError::with(
            214,
            16,
            11,
            "Procedure expects parameter 'separator' of type 'nchar(1)/nvarchar(1)'.",
        ));
    };
    let separator = collation.fold(*separator);
    let mut start = 0;
    for (at, unit) in text.iter().enumerate() {
        steps.take()?;
        if collation.fold(*unit) == separator {
            part(&text[start..at])?;
            start = at + 1;
        }
    }
    part(&text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(
        text: &str,
        separator: &str,
        ask: &mut dyn FnMut() -> SqlResult<()>,
    ) -> SqlResult<Vec<String>> {
        let units = |s: &str| s.encode_utf16().collect::<Vec<u16>>();
        let mut parts = Vec::new();
        let steps = Steps::new(ask);
        string_split(
            &units(text),
            &units(separator),
            Collation::Bin2,
            steps,
            |part| {
                parts.push(String::from_utf16_lossy(part));
                Ok(())
            },
        )?;
        Ok(parts)
    }

    #[test]
    fn empty_parts_are_kept() {
        assert_eq!(split("a,,b", ",", &mut || Ok(())).unwrap(), ["a", "", "b"]);
        assert_eq!(split("", ",", &mut || Ok(())).unwrap(), [""]);
        assert_eq!(split("a,", ",", &mut || Ok(())).unwrap(), ["a", ""]);
        assert_eq!(split("a,,b", "", &mut || Ok(())).unwrap_err().number, 214);
    }

    /// A text without any separator asks as often as one of separators only, and ends when told to.
    #[test]
    fn a_long_text_asks_whether_to_go_on() {
        for text in ["x", ","] {
            let mut asked = 0;
            let answer = split(&text.repeat(1 << 20), ",", &mut || {
                asked += 1;
                match asked {
                    100 => Err(SqlError::new(1, "stop")),
                    _ => Ok(()),
                }
            });
            assert_eq!((answer.unwrap_err().number, asked), (1, 100), "{text}");
        }
    }
}
