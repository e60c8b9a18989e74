//! Bytes as hexadecimal digits and back: styles 1 and 2 of CONVERT. Both texts may be as long as memory allows, so whoever
//! converts asks for room first ([`super::room_for`]), and both go on only as long as they are told to.

use std::sync::Arc;

use crate::error::SqlResult;
use crate::value::{STEPS_PER_TURN, Steps};

const DIGITS: [u8; 16] = *b"0123456789ABCDEF";

/// Two digits for each byte, behind `prefix`.
pub(super) fn digits(prefix: &str, bytes: &[u8], mut steps: Steps<'_>) -> SqlResult<Arc<[u16]>> {
    let start = prefix.len();
    // Where they stay from the beginning: a second copy would need as much room again.
    let mut text: Arc<[u16]> = std::iter::repeat_n(0, start + bytes.len() * 2).collect();
    if let Some(text) = Arc::get_mut(&mut text) {
        for (unit, c) in text.iter_mut().zip(prefix.bytes()) {
            *unit = c.into();
        }
        let places = text[start..].chunks_mut(STEPS_PER_TURN * 2);
        for (places, bytes) in places.zip(bytes.chunks(STEPS_PER_TURN)) {
            steps.take_many(bytes.len())?;
            for (pair, byte) in places.chunks_exact_mut(2).zip(bytes) {
                pair[0] = DIGITS[usize::from(byte >> 4)].into();
                pair[1] = DIGITS[usize::from(byte & 0xF)].into();
            }
        }
    }
    Ok(text)
}

/// The bytes that digits stand for; `None` for what are no pairs of digits.
pub(super) fn bytes(digits: &[u16], mut steps: Steps<'_>) -> SqlResult<Option<Vec<u8>>> {
    if !digits.len().is_multiple_of(2) {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for part in digits.chunks(STEPS_PER_TURN * 2) {
        steps.take_many(part.len() / 2)?;
        for pair in part.chunks_exact(2) {
            let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
                return Ok(None);
            };
            bytes.push(high << 4 | low);
        }
    }
    Ok(Some(bytes))
}

fn digit(unit: u16) -> Option<u8> {
    let digit = char::from(u8::try_from(unit).ok()?).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SqlError;

    /// Every byte, there and back, in either case of the letters.
    #[test]
    fn digits_are_read_as_they_are_written() {
        let all: Vec<u8> = (0..=255).collect();
        let text = digits("0x", &all, Steps::new(&mut || Ok(()))).unwrap();
        let shown = String::from_utf16(&text).unwrap();
        assert!(shown.starts_with("0x000102") && shown.ends_with("FDFEFF"));
        for shown in [shown.to_lowercase(), shown.to_uppercase()] {
            let units: Vec<u16> = shown[2..].encode_utf16().collect();
            let read = bytes(&units, Steps::new(&mut || Ok(()))).unwrap();
            assert_eq!(read.as_deref(), Some(&all[..]));
        }
        for wrong in ["A", "0G", "0é", "😀"] {
            let units: Vec<u16> = wrong.encode_utf16().collect();
            let read = bytes(&units, Steps::new(&mut || Ok(()))).unwrap();
            assert_eq!(read, None, "{wrong}");
        }
    }

    /// What is long asks on its way, and ends when told to.
    #[test]
    fn long_ones_ask_whether_to_go_on() {
        let stop_at = |at: usize, asked: &mut usize| {
            *asked += 1;
            match *asked >= at {
                true => Err(SqlError::new(1, "stop")),
                false => Ok(()),
            }
        };
        let mut asked = 0;
        let mut ask = || stop_at(10, &mut asked);
        let stopped = digits("", &vec![7; 1 << 20], Steps::new(&mut ask));
        assert_eq!((stopped.unwrap_err().number, asked), (1, 10));
        let mut asked = 0;
        let mut ask = || stop_at(10, &mut asked);
        let stopped = bytes(&vec![0x30; 1 << 20], Steps::new(&mut ask));
        assert_eq!((stopped.unwrap_err().number, asked), (1, 10));
    }
}
