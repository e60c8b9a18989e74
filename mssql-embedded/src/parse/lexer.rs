//! Cuts T-SQL text into tokens, with line and column, in one pass.

use super::errors;
use super::keywords::is_reserved;
use super::switching::Switching;
use super::token::{Tok, Token};
use super::{Progress, TOKENS_PER_TURN};
use crate::ast::Pos;
use crate::error::{SqlError, SqlResult};

/// The longest identifier, in characters.
pub(super) const IDENTIFIER_MAX: usize = 128;

/// Tokenizes a whole batch; the last token is always [`Tok::End`].
pub(super) fn tokenize(
    text: &str,
    quoted_identifier: bool,
    progress: &mut Progress<'_>,
) -> SqlResult<Vec<Token>> {
    if u32::try_from(text.len()).is_err() {
        return Err(SqlError::unsupported("a batch of more than 4 GB"));
    }
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        mark: Pos {
            line: 1,
            col: 1,
            offset: 0,
        },
        quoted_identifier,
        switching: Switching::default(),
    };
    // A guess, and none about a text that may be one literal: what is too long shall fail before it takes memory.
    let mut tokens = Vec::with_capacity((text.len() / 6 + 1).min(TOKENS_PER_TURN));
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == Tok::End {
            progress(tokens.len() % TOKENS_PER_TURN)?;
            return Ok(tokens);
        }
        if tokens.len().is_multiple_of(TOKENS_PER_TURN) {
            progress(TOKENS_PER_TURN)?;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The place of the last token, from which the next place is counted on.
    mark: Pos,
    quoted_identifier: bool,
    switching: Switching,
}

impl Lexer<'_> {
    fn next(&mut self) -> SqlResult<Token> {
        self.skip_blanks()?;
        let pos = self.place(self.at);
        let kind = match self.byte(0) {
            None => Tok::End,
            Some(b) => self.token(b, pos)?,
        };
        let slice = &self.text[pos.offset as usize..self.at];
        if let Some(on) = self.switching.see(kind, slice) {
            self.quoted_identifier = on;
        }
        Ok(Token {
            kind,
            pos,
            end: self.at as u32,
        })
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn current(&self) -> Option<char> {
        self.text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
    }

    /// Line and column of an offset at or after the last one asked for.
    fn place(&mut self, offset: usize) -> Pos {
        for b in &self.bytes[self.mark.offset as usize..offset] {
            match b {
                b'\n' => {
                    self.mark.line += 1;
                    self.mark.col = 1;
                }
                // Columns count characters: what continues one adds none.
                0x80..=0xBF => {}
                _ => self.mark.col += 1,
            }
        }
        self.mark.offset = offset as u32;
        self.mark
    }

    fn skip_blanks(&mut self) -> SqlResult<()> {
        while let Some(b) = self.byte(0) {
            if b <= b' ' {
                self.at += 1;
            } else if b == b'-' && self.byte(1) == Some(b'-') {
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            } else if b == b'/' && self.byte(1) == Some(b'*') {
                self.skip_comment()?;
            } else if b >= 0x80 && self.current().is_some_and(is_blank) {
                self.at += self.current().map_or(1, char::len_utf8);
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Comments nest in T-SQL.
    fn skip_comment(&mut self) -> SqlResult<()> {
        let mut depth = 0usize;
        while let Some(b) = self.byte(0) {
            match (b, self.byte(1)) {
                (b'/', Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => self.at += 1,
            }
        }
        let end = self.text.len();
        Err(errors::unclosed_comment(self.place(end).line))
    }

    fn token(&mut self, b: u8, pos: Pos) -> SqlResult<Tok> {
        match b {
            b'\'' => self.delimited(1, b'\'', Tok::Str, pos),
            b'"' if self.quoted_identifier => self.delimited(1, b'"', Tok::Quoted, pos),
            b'"' => self.delimited(1, b'"', Tok::Str, pos),
            b'[' => self.delimited(1, b']', Tok::Quoted, pos),
            b'N' | b'n' if self.byte(1) == Some(b'\'') => self.delimited(2, b'\'', Tok::NStr, pos),
            b'0'..=b'9' => Ok(self.number()),
            b'.' if self.byte(1).is_some_and(|b| b.is_ascii_digit()) => Ok(self.number()),
            b'$' => Ok(self.dollar()),
            _ if self.current().is_some_and(starts_word) => self.word(pos),
            _ => Ok(self.symbol(b)),
        }
    }

    /// A string or delimited identifier whose closing mark is doubled to stand for itself.
    fn delimited(&mut self, open: usize, close: u8, kind: Tok, pos: Pos) -> SqlResult<Tok> {
        let start = self.at + open;
        self.at = start;
        let mut doubled = 0;
        loop {
            match self.byte(0) {
                None => {
                    return Err(errors::unclosed_quote(&self.text[start..], pos.line));
                }
                Some(b) if b == close && self.byte(1) == Some(close) => {
                    self.at += 2;
                    doubled += 1;
                }
                Some(b) if b == close => break,
                Some(_) => self.at += 1,
            }
        }
        let content = &self.text[start..self.at];
        self.at += 1;
        if kind == Tok::Quoted {
            if content.is_empty() {
                return Err(errors::empty_name(4, pos.line));
            }
            check_length(content, doubled, pos)?;
        }
        Ok(kind)
    }

    fn number(&mut self) -> Tok {
        if self.byte(0) == Some(b'0') && matches!(self.byte(1), Some(b'x' | b'X')) {
            self.at += 2;
            self.skip(|b| b.is_ascii_hexdigit());
            return Tok::Binary;
        }
        let mut kind = Tok::Int;
        self.skip(|b| b.is_ascii_digit());
        if self.byte(0) == Some(b'.') {
            kind = Tok::Decimal;
            self.at += 1;
            self.skip(|b| b.is_ascii_digit());
        }
        if matches!(self.byte(0), Some(b'e' | b'E')) {
            kind = Tok::Float;
            self.at += 1;
            if matches!(self.byte(0), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip(|b| b.is_ascii_digit());
        }
        kind
    }

    fn dollar(&mut self) -> Tok {
        self.at += 1;
        if self.current().is_some_and(char::is_alphabetic) {
            self.skip_word();
            return Tok::Pseudo;
        }
        self.skip(|b| b.is_ascii_digit() || b == b'.');
        Tok::Money
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn skip_word(&mut self) {
        loop {
            self.skip(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'@' | b'#' | b'$'));
            match self.current() {
                Some(c) if !c.is_ascii() && c.is_alphanumeric() => self.at += c.len_utf8(),
                _ => return,
            }
        }
    }

    fn word(&mut self, pos: Pos) -> SqlResult<Tok> {
        let start = self.at;
        self.skip_word();
        let word = &self.text[start..self.at];
        check_length(word, 0, pos)?;
        Ok(if word.starts_with("@@") {
            Tok::Global
        } else if word.starts_with('@') {
            Tok::Variable
        } else if word.starts_with('#') {
            Tok::Temp
        } else if is_reserved(word) {
            Tok::Reserved
        } else {
            Tok::Word
        })
    }

    fn symbol(&mut self, b: u8) -> Tok {
        let next = self.byte(1);
        let (kind, length) = match (b, next) {
            (b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^', Some(b'=')) => {
                (Tok::CompoundAssign, 2)
            }
            (b'<', Some(b'=')) | (b'!', Some(b'>')) => (Tok::Le, 2),
            (b'>', Some(b'=')) | (b'!', Some(b'<')) => (Tok::Ge, 2),
            (b'<', Some(b'>')) | (b'!', Some(b'=')) => (Tok::Ne, 2),
            (b':', Some(b':')) => (Tok::ColonColon, 2),
            (b'(', _) => (Tok::LParen, 1),
            (b')', _) => (Tok::RParen, 1),
            (b',', _) => (Tok::Comma, 1),
            (b'.', _) => (Tok::Dot, 1),
            (b';', _) => (Tok::Semi, 1),
            (b':', _) => (Tok::Colon, 1),
            (b'+', _) => (Tok::Plus, 1),
            (b'-', _) => (Tok::Minus, 1),
            (b'*', _) => (Tok::Star, 1),
            (b'/', _) => (Tok::Slash, 1),
            (b'%', _) => (Tok::Percent, 1),
            (b'&', _) => (Tok::Amp, 1),
            (b'|', _) => (Tok::Pipe, 1),
            (b'^', _) => (Tok::Caret, 1),
            (b'~', _) => (Tok::Tilde, 1),
            (b'=', _) => (Tok::Eq, 1),
            (b'<', _) => (Tok::Lt, 1),
            (b'>', _) => (Tok::Gt, 1),
            _ => (Tok::Other, self.current().map_or(1, char::len_utf8)),
        };
        self.at += length;
        kind
    }
}

/// Of a mark that is `doubled` to stand for itself one counts.
fn check_length(name: &str, doubled: usize, pos: Pos) -> SqlResult<()> {
    let max = IDENTIFIER_MAX + doubled;
    // Byte length bounds character length, so short names need no counting.
    if name.len() > max && name.chars().count() > max {
        return Err(errors::too_long(name, IDENTIFIER_MAX, pos.line));
    }
    Ok(())
}

/// No-break space, ideographic space, the byte-order mark and their kin separate tokens as a space does.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}' || c == '\u{200b}'
}

fn starts_word(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '@' | '#')
}
