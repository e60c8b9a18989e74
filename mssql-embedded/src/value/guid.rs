//! UNIQUEIDENTIFIER: text form, storage form and SQL Server's order.

use std::cmp::Ordering;

/// The order in which SQL Server weighs the bytes of the text form: the last group first.
const WEIGHT: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];

/// The 36-character text in capitals, as CAST gives it.
pub fn format(bytes: &[u8; 16]) -> String {
    let mut out = String::with_capacity(36);
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.push_str(&format!("{byte:02X}"));
    }
    out
}

/// Reads the text form, with or without braces; anything after the 36th character is ignored as
/// SQL Server does.
pub fn parse(text: &str) -> Option<[u8; 16]> {
    let text = text.as_bytes();
    let text = match text.first() {
        Some(b'{') if text.get(37) == Some(&b'}') => text.get(1..37)?,
        _ => text.get(..36)?,
    };
    let mut bytes = [0_u8; 16];
    let mut nibbles = 0;
    for (i, c) in text.iter().enumerate() {
        if matches!(i, 8 | 13 | 18 | 23) {
            if *c != b'-' {
                return None;
            }
            continue;
        }
        let digit = char::from(*c).to_digit(16)? as u8;
        bytes[nibbles / 2] = (bytes[nibbles / 2] << 4) | digit;
        nibbles += 1;
    }
    Some(bytes)
}

/// SQL Server's order.
pub fn compare(a: &[u8; 16], b: &[u8; 16]) -> Ordering {
    sort_key(a).cmp(&sort_key(b))
}

/// Bytes whose `memcmp` order is SQL Server's order.
pub fn sort_key(bytes: &[u8; 16]) -> [u8; 16] {
    WEIGHT.map(|i| bytes[i])
}

/// Between the text form's byte order and the storage form, whose first three groups are
/// little-endian. The swap is its own inverse.
pub fn swap_groups(bytes: &[u8; 16]) -> [u8; 16] {
    const STORED: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    STORED.map(|i| bytes[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_braces_are_read() {
        let text = "0E984725-C51C-4BF4-9960-E1C80E27ABA0";
        let guid = parse(text).unwrap();
        assert_eq!(format(&guid), text);
        assert_eq!(parse(&format!("{{{}}}", text.to_lowercase())), Some(guid));
        assert_eq!(parse(&format!("{text}wrong")), Some(guid));
        assert_eq!(parse("0E984725xC51C-4BF4-9960-E1C80E27ABA0"), None);
        assert_eq!(swap_groups(&guid)[..4], [0x25, 0x47, 0x98, 0x0E]);
    }

    #[test]
    fn the_last_group_decides_the_order() {
        let low = parse("FFFFFFFF-FFFF-FFFF-FFFF-000000000001").unwrap();
        let high = parse("00000000-0000-0000-0000-000000000002").unwrap();
        assert_eq!(compare(&low, &high), Ordering::Less);
    }
}
