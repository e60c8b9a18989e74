//! A validating scanner that walks JSON text without building a tree.

use crate::error::{SqlError, SqlResult};
use crate::value::{STEPS_PER_TURN, Steps};

/// How deep objects and arrays may nest, SQL Server's own limit.
const MAX_DEPTH: usize = 128;

/// What a JSON value is; the numbers are those of OPENJSON's `type` column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null = 0,
    String = 1,
    Number = 2,
    /// `true` or `false`
    Bool = 3,
    Array = 4,
    Object = 5,
}

impl Kind {
    /// Whether this is an object or an array.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }
}

/// Where a value stands in the text; strings include their quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether a string holds a backslash.
    pub(super) escaped: bool,
}

pub(super) struct Scanner<'a> {
    text: &'a [u16],
    pub(super) pos: usize,
    /// The state of error 13609, which tells the functions apart.
    state: u8,
    /// A text can be long, and a path can lead over it again for every column.
    steps: Steps<'a>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u16], state: u8, steps: Steps<'a>) -> Self {
        Self {
            text,
            pos: 0,
            state,
            steps,
        }
    }

    /// Another scanner of the same text, at a value that this one has passed.
    pub(super) fn at(&mut self, pos: usize) -> Scanner<'_> {
        Scanner {
            text: self.text,
            pos,
            state: self.state,
            steps: self.steps.part(),
        }
    }

    /// The same scanner at a value that it has passed.
    pub(super) fn back_to(self, pos: usize) -> Self {
        Self { pos, ..self }
    }

    /// What it counts with, when it is no longer needed.
    pub(super) fn into_steps(self) -> Steps<'a> {
        self.steps
    }

    /// Walks over characters of a kind, as many as there are.
    fn skip(&mut self, passes: impl Fn(u16) -> bool) -> SqlResult<()> {
        loop {
            let rest = &self.text[self.pos..];
            let stretch = &rest[..rest.len().min(STEPS_PER_TURN)];
            let passed = stretch.iter().position(|unit| !passes(*unit));
            let count = passed.unwrap_or(stretch.len());
            self.pos += count;
            // The character that ends them counts, too: there may be nothing but such ones.
            self.steps.take_many(count + 1)?;
            if passed.is_some() || stretch.is_empty() {
                return Ok(());
            }
        }
    }

    /// 13609 for the character at the current position; the end of the text shows as a point.
    pub(super) fn unexpected(&self) -> SqlError {
        let shown = self.text.get(self.pos).map_or('.', |u| {
            char::from_u32(u32::from(*u)).unwrap_or(char::REPLACEMENT_CHARACTER)
        });
        SqlError::with(
            13609,
            16,
            self.state,
            format!(
                "JSON text is not properly formatted. Unexpected character '{shown}' is found at \
                 position {}.",
                self.pos
            ),
        )
    }

    /// The first character of the next token.
    pub(super) fn peek(&mut self) -> SqlResult<Option<u8>> {
        self.skip(|unit| matches!(unit, 0x20 | 0x09 | 0x0A | 0x0D))?;
        // Anything beyond ASCII is as unexpected between tokens as a control character.
        let unit = self.text.get(self.pos);
        Ok(unit.map(|u| u8::try_from(*u).unwrap_or(0)))
    }

    pub(super) fn expect(&mut self, wanted: u8) -> SqlResult<()> {
        if self.peek()? == Some(wanted) {
            self.pos += 1;
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    /// The start of the document, which must be an object or an array.
    pub(super) fn root(&mut self) -> SqlResult<Kind> {
        match self.peek()? {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            _ => Err(self.unexpected()),
        }
    }

    /// The kind of the value that begins here.
    pub(super) fn kind(&mut self) -> SqlResult<Kind> {
        match self.peek()? {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(self.unexpected()),
        }
    }

    /// Reads one value of any kind, checking all of it.
    pub(super) fn value(&mut self) -> SqlResult<Span> {
        let kind = self.kind()?;
        let start = self.pos;
        let escaped = match kind {
            Kind::Object | Kind::Array => {
                self.container()?;
                false
            }
            Kind::String => self.string()?.escaped,
            Kind::Number => {
                self.number()?;
                false
            }
            Kind::Bool | Kind::Null => {
                self.word()?;
                false
            }
        };
        Ok(Span {
            kind,
            start,
            end: self.pos,
            escaped,
        })
    }

    /// Reads a string with its quotes.
    pub(super) fn string(&mut self) -> SqlResult<Span> {
        if self.peek()? != Some(b'"') {
            return Err(self.unexpected());
        }
        let start = self.pos;
        self.pos += 1;
        let mut escaped = false;
        loop {
            self.skip(|unit| !matches!(unit, 0x22 | 0x5C | ..0x20))?;
            match self.text.get(self.pos).copied() {
                Some(0x22) => {
                    self.pos += 1;
                    return Ok(Span {
                        kind: Kind::String,
                        start,
                        end: self.pos,
                        escaped,
                    });
                }
                Some(0x5C) => {
                    escaped = true;
                    self.pos += 1;
                    self.escape()?;
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    fn escape(&mut self) -> SqlResult<()> {
        let unit = self
            .text
            .get(self.pos)
            .map(|u| u8::try_from(*u).unwrap_or(0));
        match unit {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.pos += 1;
                Ok(())
            }
            Some(b'u') => {
                for _ in 0..4 {
                    self.pos += 1;
                    let digit = self.text.get(self.pos).and_then(|u| u8::try_from(*u).ok());
                    if !digit.is_some_and(|d| d.is_ascii_hexdigit()) {
                        return Err(self.unexpected());
                    }
                }
                self.pos += 1;
                Ok(())
            }
            _ => Err(self.unexpected()),
        }
    }

    fn digits(&mut self) -> SqlResult<()> {
        let start = self.pos;
        self.skip(|unit| matches!(unit, 0x30..=0x39))?;
        if self.pos == start {
            Err(self.unexpected())
        } else {
            Ok(())
        }
    }

    fn skip_if(&mut self, wanted: &[u8]) -> bool {
        let found = self
            .text
            .get(self.pos)
            .and_then(|u| u8::try_from(*u).ok())
            .is_some_and(|b| wanted.contains(&b));
        self.pos += usize::from(found);
        found
    }

    fn number(&mut self) -> SqlResult<()> {
        self.skip_if(b"-");
        if !self.skip_if(b"0") {
            self.digits()?;
        }
        if self.skip_if(b".") {
            self.digits()?;
        }
        if self.skip_if(b"eE") {
            self.skip_if(b"+-");
            self.digits()?;
        }
        Ok(())
    }

    fn word(&mut self) -> SqlResult<()> {
        let word: &[u8] = match self.text.get(self.pos) {
            Some(0x74) => b"true",
            Some(0x66) => b"false",
            _ => b"null",
        };
        for byte in word {
            if self.text.get(self.pos) != Some(&u16::from(*byte)) {
                return Err(self.unexpected());
            }
            self.pos += 1;
        }
        Ok(())
    }

    /// Walks over an object or array. The stack is a list of closing brackets, so depth costs no
    /// recursion.
    fn container(&mut self) -> SqlResult<()> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            // Here a value is due.
            match self.kind()? {
                Kind::Object => {
                    self.push(&mut open, b'}')?;
                    if self.peek()? != Some(b'}') {
                        self.key()?;
                        continue;
                    }
                }
                Kind::Array => {
                    self.push(&mut open, b']')?;
                    if self.peek()? != Some(b']') {
                        continue;
                    }
                }
                Kind::String => {
                    self.string()?;
                }
                Kind::Number => self.number()?,
                Kind::Bool | Kind::Null => self.word()?,
            }
            // Here a comma or the end of enclosing containers is due.
            loop {
                let Some(close) = open.last().copied() else {
                    return Ok(());
                };
                match self.peek()? {
                    Some(b',') => {
                        self.pos += 1;
                        if close == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                    Some(c) if c == close => {
                        self.pos += 1;
                        open.pop();
                    }
                    _ => return Err(self.unexpected()),
                }
            }
        }
    }

    fn push(&mut self, open: &mut Vec<u8>, close: u8) -> SqlResult<()> {
        if open.len() == MAX_DEPTH {
            return Err(SqlError::unsupported(format!(
                "JSON nested deeper than {MAX_DEPTH} levels"
            )));
        }
        open.push(close);
        self.pos += 1;
        Ok(())
    }

    /// Reads `"key" :`.
    pub(super) fn key(&mut self) -> SqlResult<Span> {
        let span = self.string()?;
        self.expect(b':')?;
        Ok(span)
    }

    /// After a member or element: `true` when another follows, `false` at the closing bracket.
    pub(super) fn another(&mut self, close: u8) -> SqlResult<bool> {
        match self.peek()? {
            Some(b',') => {
                self.pos += 1;
                Ok(true)
            }
            Some(c) if c == close => {
                self.pos += 1;
                Ok(false)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Enters a container: `false` when it is empty (and then already left).
    pub(super) fn enter(&mut self, close: u8) -> SqlResult<bool> {
        self.pos += 1;
        if self.peek()? == Some(close) {
            self.pos += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Nothing but blanks may follow.
    pub(super) fn end(&mut self) -> SqlResult<()> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.unexpected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a text is long of, it is asked about at least every few thousand characters, and reading it ends when
    /// the answer is no.
    #[test]
    fn every_kind_of_long_text_asks_whether_to_go_on() {
        let long = |part: &str| part.repeat((1 << 20) / part.len());
        let texts = [
            ("blanks", format!("[{}]", long(" "))),
            ("a string", format!("[\"{}\"]", long("x"))),
            ("a string of escapes", format!("[\"{}\"]", long("\\n"))),
            ("a number", format!("[{}]", long("7"))),
            ("a fraction", format!("[0.{}]", long("7"))),
            ("short elements", format!("[{}0]", long("0,"))),
            ("empty arrays", format!("[{}0]", long("[],"))),
            ("members", format!("{{{}\"a\":0}}", long("\"a\":0,"))),
            ("words", format!("[{}null]", long("true,"))),
        ];
        for (what, text) in texts {
            let text: Vec<u16> = text.encode_utf16().collect();
            let mut asked = 0;
            let mut count = || {
                asked += 1;
                Ok(())
            };
            Scanner::new(&text, 1, Steps::new(&mut count))
                .value()
                .unwrap();
            assert!(
                asked >= text.len() / (4 * STEPS_PER_TURN),
                "{what}: asked {asked} times"
            );
            let mut stop = || Err(SqlError::new(1, "stop"));
            let mut scanner = Scanner::new(&text, 1, Steps::new(&mut stop));
            assert_eq!(scanner.value().unwrap_err().number, 1, "{what}");
            assert!(
                scanner.pos <= 4 * STEPS_PER_TURN,
                "{what}: read {}",
                scanner.pos
            );
        }
    }
}
