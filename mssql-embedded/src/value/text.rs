//! UTF-16 text: to and from Rust strings, code page 1252, lengths.

use std::sync::Arc;

use super::{Collation, DataType};

const SPACE: u16 = 0x20;

/// The characters of code page 1252 from 0x80 to 0x9F; zero where the code page has none.
const CP1252: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
];

/// The text as a Rust string; an unpaired surrogate becomes U+FFFD.
pub fn to_string(text: &[u16]) -> String {
    String::from_utf16_lossy(text)
}

/// A Rust string as UTF-16.
pub fn from_str(text: &str) -> Arc<[u16]> {
    text.encode_utf16().collect()
}

/// The byte of code page 1252 for a code unit.
pub fn cp1252_byte(unit: u16) -> Option<u8> {
    match unit {
        0..=0x7F | 0xA0..=0xFF => Some(unit as u8),
        _ => CP1252
            .iter()
            .position(|u| *u == unit)
            .map(|i| 0x80 + i as u8),
    }
}

/// The code unit for a byte of code page 1252.
pub fn cp1252_unit(byte: u8) -> u16 {
    match byte {
        0x80..=0x9F => CP1252[usize::from(byte - 0x80)],
        _ => u16::from(byte),
    }
}

/// The text as VARCHAR of this collation can hold it: characters outside code page 1252 become
/// '?', each half of a surrogate pair one; UTF-8 collations keep everything.
pub fn to_varchar(text: &Arc<[u16]>, collation: Collation) -> Arc<[u16]> {
    if collation.is_utf8() || text.iter().all(|u| *u < 0x80 || cp1252_byte(*u).is_some()) {
        return Arc::clone(text);
    }
    text.iter()
        .map(|u| {
            if cp1252_byte(*u).is_some() {
                *u
            } else {
                u16::from(b'?')
            }
        })
        .collect()
}

pub fn varchar_bytes(text: &[u16], collation: Collation) -> Vec<u8> {
    if collation.is_utf8() {
        to_string(text).into_bytes()
    } else {
        text.iter()
            .map(|u| cp1252_byte(*u).unwrap_or(b'?'))
            .collect()
    }
}

/// The VARCHAR value of these bytes; malformed UTF-8 becomes U+FFFD.
pub fn from_varchar_bytes(bytes: &[u8], collation: Collation) -> Arc<[u16]> {
    if collation.is_utf8() {
        from_str(&String::from_utf8_lossy(bytes))
    } else {
        bytes.iter().map(|b| cp1252_unit(*b)).collect()
    }
}

pub fn nvarchar_bytes(text: &[u16]) -> Vec<u8> {
    text.iter().flat_map(|u| u.to_le_bytes()).collect()
}

/// The NVARCHAR value of these bytes; a last odd byte is completed by zero.
pub fn from_nvarchar_bytes(bytes: &[u8]) -> Arc<[u16]> {
    bytes
        .chunks(2)
        .map(|c| u16::from_le_bytes([c[0], c.get(1).copied().unwrap_or(0)]))
        .collect()
}

/// The text without trailing spaces.
pub fn trim_end(text: &[u16]) -> &[u16] {
    let len = text.iter().rposition(|u| *u != SPACE).map_or(0, |i| i + 1);
    &text[..len]
}

/// The text without leading spaces.
pub fn trim_start(text: &[u16]) -> &[u16] {
    let start = text.iter().position(|u| *u != SPACE).unwrap_or(text.len());
    &text[start..]
}

/// LEN: characters without trailing spaces. A surrogate pair counts as two, except in
/// supplementary-aware collations.
pub fn len(text: &[u16], collation: Collation) -> usize {
    let trimmed = trim_end(text);
    if collation.is_supplementary() {
        char::decode_utf16(trimmed.iter().copied()).count()
    } else {
        trimmed.len()
    }
}

/// The code-unit position after the first `count` characters, at most the end of the text.
pub fn char_offset(text: &[u16], count: usize, collation: Collation) -> usize {
    if !collation.is_supplementary() {
        return count.min(text.len());
    }
    char::decode_utf16(text.iter().copied())
        .take(count)
        .map(|c| c.map_or(1, char::len_utf16))
        .sum()
}

/// The number of characters of a text, trailing spaces included.
pub fn char_count(text: &[u16], collation: Collation) -> usize {
    if collation.is_supplementary() {
        char::decode_utf16(text.iter().copied()).count()
    } else {
        text.len()
    }
}

/// The bytes a text takes when stored as this character type, which is also DATALENGTH.
pub fn byte_len(text: &[u16], ty: &DataType) -> usize {
    if ty.is_unicode() {
        text.len() * 2
    } else if ty.collation().is_some_and(Collation::is_utf8) {
        utf8_len(text)
    } else {
        text.len()
    }
}

/// The longest prefix that takes at most `limit` units of the type: UTF-16 units for the Unicode
/// types, bytes for the others. UTF-8 is never cut inside a character.
pub fn fitting_prefix<'a>(text: &'a [u16], ty: &DataType, limit: usize) -> &'a [u16] {
    if ty.is_unicode() || !ty.collation().is_some_and(Collation::is_utf8) {
        return &text[..text.len().min(limit)];
    }
    if text.len() * 3 <= limit {
        return text;
    }
    let (mut bytes, mut end) = (0, 0);
    for c in char::decode_utf16(text.iter().copied()) {
        let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        bytes += c.len_utf8();
        if bytes > limit {
            break;
        }
        end += if c as u32 > 0xFFFF { 2 } else { 1 };
    }
    &text[..end]
}

fn utf8_len(text: &[u16]) -> usize {
    char::decode_utf16(text.iter().copied())
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varchar_keeps_its_code_page_and_replaces_the_rest() {
        let text = from_str("€é😀ж");
        assert_eq!(
            to_string(&to_varchar(&text, Collation::SqlLatin1CiAs)),
            "€é???"
        );
        assert_eq!(to_string(&to_varchar(&text, Collation::Bin2Utf8)), "€é😀ж");
        let bytes = varchar_bytes(&from_str("€é"), Collation::SqlLatin1CiAs);
        assert_eq!(bytes, [0x80, 0xE9]);
        assert_eq!(
            to_string(&from_varchar_bytes(&bytes, Collation::SqlLatin1CiAs)),
            "€é"
        );
    }

    #[test]
    fn utf8_is_cut_between_characters() {
        let ty = DataType::varchar(5, Collation::Bin2Utf8);
        let text = from_str("aé😀b");
        assert_eq!(fitting_prefix(&text, &ty, 5), &text[..2]);
        assert_eq!(fitting_prefix(&text, &ty, 7), &text[..4]);
        assert_eq!(byte_len(&text, &ty), 8);
    }

    #[test]
    fn len_ignores_trailing_spaces_and_counts_surrogates() {
        assert_eq!(len(&from_str(" a😀  "), Collation::SqlLatin1CiAs), 4);
        assert_eq!(len(&from_str(" a😀  "), Collation::CiAsUtf8), 3);
    }
}
