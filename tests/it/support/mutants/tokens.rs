//! T-SQL cut into words, as far as finding words needs it.

/// A word, a string, a bracketed name or a single character. Comments and blanks are left out.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub start: usize,
    pub text: &'a str,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            let length = match first {
                '\'' => quoted(rest, '\''),
                '[' => quoted(rest, ']'),
                _ if is_part(first) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
                _ => first.len_utf8(),
            };
            let text = &rest[..length];
            tokens.push(Token { start: at, text });
            length
        };
        at += length;
    }
    tokens
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$')
}

/// The length of what begins with a quote and ends with `end`; a doubled `end` stands for itself.
fn quoted(text: &str, end: char) -> usize {
    let mut at = 1;
    while let Some(found) = text[at..].find(end) {
        at += found + 1;
        if !text[at..].starts_with(end) {
            return at;
        }
        at += 1;
    }
    text.len()
}
