//! Splits the ADO.NET form, `key=value;…`.

use super::OptionsError;
use super::key::Key;

/// Splits `key=value;…`. Values may be in single or double quotes (doubled inside) or braces.
pub(super) fn split(text: &str) -> Result<Vec<(String, String)>, OptionsError> {
    let mut pairs = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ';' || c.is_whitespace());
        if rest.is_empty() {
            return Ok(pairs);
        }
        let (key, after) = rest.split_once('=').ok_or(OptionsError::NotKeyValue)?;
        if key.contains(';') {
            return Err(OptionsError::NotKeyValue);
        }
        let (value, remaining) =
            take_value(after.trim_start()).ok_or_else(|| OptionsError::Quote {
                option: match Key::find(key) {
                    Some(key) => format!("{:?}", key.name()),
                    None => (pairs.len() + 1).to_string(),
                },
            })?;
        pairs.push((key.to_owned(), value));
        rest = remaining;
    }
}

/// The value at the beginning of `text`, and what follows; `None` when its quotes do not match.
fn take_value(text: &str) -> Option<(String, &str)> {
    let Some(open) = text.chars().next().filter(|c| "'\"{".contains(*c)) else {
        let end = text.find(';').unwrap_or(text.len());
        return Some((text[..end].trim_end().to_owned(), &text[end..]));
    };
    let close = if open == '{' { '}' } else { open };
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != close {
            value.push(c);
        } else if matches!(chars.peek(), Some((_, next)) if *next == close) {
            chars.next();
            value.push(close);
        } else {
            let rest = text[at + c.len_utf8()..].trim_start();
            let ends_here = rest.is_empty() || rest.starts_with(';');
            return ends_here.then_some((value, rest));
        }
    }
    None
}
