//! Appending the primitive shapes of TDS to a buffer.

/// A value does not fit the type it was declared with: a fault of the engine, never of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch;

/// Little-endian numbers and counted text, appended to a byte buffer.
pub(crate) trait Put {
    fn put_u8(&mut self, v: u8);
    fn put_u16(&mut self, v: u16);
    fn put_u32(&mut self, v: u32);
    fn put_u64(&mut self, v: u64);
    /// UTF-16 code units, as they are.
    fn put_units(&mut self, units: &[u16]);
    /// Text cut at 255 code units, after its length as one byte (B_VARCHAR).
    fn put_b_varchar(&mut self, text: &str);
    /// Text of at most `limit` code units, after its length as two bytes (US_VARCHAR).
    fn put_us_varchar(&mut self, text: &str, limit: u16);
}

impl Put for Vec<u8> {
    fn put_u8(&mut self, v: u8) {
        self.push(v);
    }

    fn put_u16(&mut self, v: u16) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn put_u32(&mut self, v: u32) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn put_u64(&mut self, v: u64) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn put_units(&mut self, units: &[u16]) {
        let start = self.len();
        self.resize(start + units.len() * 2, 0);
        for (pair, unit) in self[start..].chunks_exact_mut(2).zip(units) {
            pair.copy_from_slice(&unit.to_le_bytes());
        }
    }

    fn put_b_varchar(&mut self, text: &str) {
        let at = self.len();
        self.push(0);
        self[at] = put_text(self, text, usize::from(u8::MAX)) as u8;
    }

    fn put_us_varchar(&mut self, text: &str, limit: u16) {
        let at = self.len();
        self.put_u16(0);
        let n = put_text(self, text, usize::from(limit)) as u16;
        self[at..at + 2].copy_from_slice(&n.to_le_bytes());
    }
}

/// Appends text cut at `limit` code units and returns how many it took.
fn put_text(out: &mut Vec<u8>, text: &str, limit: usize) -> usize {
    let start = out.len();
    for unit in text.encode_utf16().take(limit) {
        out.put_u16(unit);
    }
    (out.len() - start) / 2
}

#[cfg(test)]
mod tests {
    use super::Put;

    /// A length prefix always agrees with what follows, also when the text is cut.
    #[test]
    fn counted_text_is_cut_to_what_its_length_can_say() {
        let mut out = Vec::new();
        out.put_b_varchar(&"x".repeat(300));
        assert_eq!((out[0], out.len()), (255, 1 + 2 * 255));
        out.clear();
        out.put_us_varchar("abc", 2);
        assert_eq!(out, [2, 0, b'a', 0, b'b', 0]);
    }
}
