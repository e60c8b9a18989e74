//! SQL Server's JSON path language: `[lax|strict|append] $.name."any name"[0]`.

use super::escape::unescape;
use crate::error::{SqlError, SqlResult};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member of an object; names compare exactly.
    Member(Vec<u16>),
    /// An element of an array, from zero.
    Element(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    /// Whether what is not found is an error.
    pub strict: bool,
    /// Whether JSON_MODIFY adds to the array instead of replacing.
    pub append: bool,
    /// The steps from the root.
    pub steps: Vec<Step>,
}

impl JsonPath {
    /// The path `$`.
    pub fn root() -> Self {
        Self {
            strict: false,
            append: false,
            steps: Vec::new(),
        }
    }

    /// Reads a path.
    ///
    /// # Errors
    ///
    /// 13607 with the unexpected character and its position.
    pub fn parse(text: &[u16]) -> SqlResult<Self> {
        Reader { text, pos: 0 }.path()
    }
}

struct Reader<'a> {
    text: &'a [u16],
    pos: usize,
}

impl Reader<'_> {
    fn unexpected(&self) -> SqlError {
        let shown = self.text.get(self.pos).map_or('.', |u| {
            char::from_u32(u32::from(*u)).unwrap_or(char::REPLACEMENT_CHARACTER)
        });
        SqlError::with(
            13607,
            16,
            4,
            format!(
                "JSON path is not properly formatted. Unexpected character '{shown}' is found at \
                 position {}.",
                self.pos
            ),
        )
    }

    fn peek(&self) -> Option<u8> {
        self.text
            .get(self.pos)
            .map(|u| u8::try_from(*u).unwrap_or(0xFF))
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.pos += 1;
        }
    }

    /// Takes a lower-case word that is followed by a blank or the root.
    fn word(&mut self, word: &str) -> bool {
        let end = self.pos + word.len();
        let matches = self
            .text
            .get(self.pos..end)
            .is_some_and(|t| t.iter().copied().eq(word.encode_utf16()));
        if matches && matches!(self.text.get(end), Some(0x20 | 0x24)) {
            self.pos = end;
            self.skip_blanks();
            return true;
        }
        false
    }

    fn path(mut self) -> SqlResult<JsonPath> {
        self.skip_blanks();
        let append = self.word("append");
        let strict = self.word("strict");
        if !strict {
            self.word("lax");
        }
        if self.peek() != Some(b'$') {
            return Err(self.unexpected());
        }
        self.pos += 1;
        let mut steps = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                None => {
                    return Ok(JsonPath {
                        strict,
                        append,
                        steps,
                    });
                }
                Some(b'.') => {
                    self.pos += 1;
                    steps.push(Step::Member(self.member()?));
                }
                Some(b'[') => {
                    self.pos += 1;
                    steps.push(Step::Element(self.element()?));
                }
                Some(_) => return Err(self.unexpected()),
            }
        }
    }

    fn member(&mut self) -> SqlResult<Vec<u16>> {
        if self.peek() == Some(b'"') {
            self.pos += 1;
            let start = self.pos;
            while self.peek().is_some_and(|c| c != b'"') {
                self.pos += if self.peek() == Some(b'\\') { 2 } else { 1 };
            }
            if self.peek() != Some(b'"') {
                self.pos = self.pos.min(self.text.len());
                return Err(self.unexpected());
            }
            let name = unescape(&self.text[start..self.pos]);
            self.pos += 1;
            return Ok(name);
        }
        let start = self.pos;
        let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | 0x80..);
        while self.peek().is_some_and(plain) {
            self.pos += 1;
        }
        if self.pos == start {
            Err(self.unexpected())
        } else {
            Ok(self.text[start..self.pos].to_vec())
        }
    }

    fn element(&mut self) -> SqlResult<usize> {
        self.skip_blanks();
        let start = self.pos;
        let mut index: usize = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            index = index
                .saturating_mul(10)
                .saturating_add(usize::from(digit - b'0'));
            self.pos += 1;
        }
        let empty = self.pos == start;
        self.skip_blanks();
        if empty || self.peek() != Some(b']') {
            return Err(self.unexpected());
        }
        self.pos += 1;
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> SqlResult<JsonPath> {
        JsonPath::parse(&text.encode_utf16().collect::<Vec<_>>())
    }

    #[test]
    fn paths_are_read() {
        let path = parse("strict $.a.\"b c\"[12].é").unwrap();
        assert!(path.strict);
        let member = |s: &str| Step::Member(s.encode_utf16().collect());
        assert_eq!(
            path.steps,
            [member("a"), member("b c"), Step::Element(12), member("é")]
        );
        assert_eq!(parse("lax $").unwrap(), JsonPath::root());
        assert!(parse("append $.a").unwrap().append);
    }

    #[test]
    fn a_bad_path_names_the_character_and_its_position() {
        let error = parse("$.a b").unwrap_err();
        assert_eq!(error.number, 13607);
        assert!(
            error
                .message
                .contains("character 'b' is found at position 4"),
            "{}",
            error.message
        );
        for bad in ["", "a", "$.", "$[x]", "$[1", "$.\"a", "$."] {
            assert_eq!(parse(bad).unwrap_err().number, 13607, "{bad}");
        }
    }
}
