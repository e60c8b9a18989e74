//! STRING_SPLIT, a table function.

use crate::error::{SqlError, SqlResult};
use crate::value::Collation;

/// The parts of `text` between separators, in order; empty parts are kept.
///
/// # Errors
///
/// 214 when the separator is not one character.
pub fn string_split<'a>(
    text: &'a [u16],
    separator: &[u16],
    collation: Collation,
) -> SqlResult<Vec<&'a [u16]>> {
    let [separator] = separator else {
        return Err(SqlError::with(
            214,
            16,
            11,
            "Procedure expects parameter 'separator' of type 'nchar(1)/nvarchar(1)'.",
        ));
    };
    let separator = collation.fold(*separator);
    Ok(text.split(|u| collation.fold(*u) == separator).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_parts_are_kept() {
        let text: Vec<u16> = "a,,b".encode_utf16().collect();
        let parts = string_split(&text, &[u16::from(b',')], Collation::Bin2).unwrap();
        assert_eq!(parts, [&text[0..1], &[], &text[3..4]]);
        assert_eq!(
            string_split(&text, &[], Collation::Bin2)
                .unwrap_err()
                .number,
            214
        );
    }
}
