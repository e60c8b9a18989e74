//! Checked reading from a request's bytes.

use crate::error::{SqlError, SqlResult};

/// The unread rest of a message. Every method fails instead of reading past the end.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether everything was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte, without consuming it.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// All that is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `n` bytes.
    pub(crate) fn bytes(&mut self, n: usize) -> SqlResult<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or_else(ended_early)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> SqlResult<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or_else(ended_early)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> SqlResult<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// A little-endian 16-bit number.
    pub(crate) fn u16(&mut self) -> SqlResult<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// A little-endian 32-bit number.
    pub(crate) fn u32(&mut self) -> SqlResult<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// A little-endian 64-bit number.
    pub(crate) fn u64(&mut self) -> SqlResult<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// `n` UTF-16 code units as text; unpaired surrogates become U+FFFD.
    pub(crate) fn text(&mut self, n: usize) -> SqlResult<String> {
        Ok(utf16_text(self.bytes(n.saturating_mul(2))?))
    }

    /// Text after its length in characters as one byte (B_VARCHAR).
    pub(crate) fn b_varchar(&mut self) -> SqlResult<String> {
        let n = self.u8()?;
        self.text(usize::from(n))
    }
}

/// UTF-16LE bytes as text; a last odd byte is dropped.
pub(crate) fn utf16_text(bytes: &[u8]) -> String {
    let pairs = bytes.chunks_exact(2);
    // Nearly all batches are ASCII and nothing else, and they are long.
    if pairs.clone().all(|pair| pair[0] < 0x80 && pair[1] == 0)
        && let Ok(text) = String::from_utf8(pairs.clone().map(|pair| pair[0]).collect())
    {
        return text;
    }
    let units = pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// The error for a message that promises more bytes than it holds.
pub(crate) fn ended_early() -> SqlError {
    SqlError::new(
        4002,
        "The incoming tabular data stream (TDS) protocol stream is incorrect. \
         The stream ended unexpectedly.",
    )
}
