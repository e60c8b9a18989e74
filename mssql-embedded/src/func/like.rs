//! LIKE: patterns with `%`, `_`, `[set]` and `[^set]`, compared by a collation.

use std::cmp::Ordering;

use crate::error::{SqlError, SqlResult};
use crate::value::text::trim_end;
use crate::value::{Collation, Steps};

/// One element of a pattern.
enum Token {
    /// `%`
    Any,
    /// `_`
    One,
    /// A character, folded.
    Unit(u16),
    /// `[…]`: negated, single characters, ranges.
    Set {
        negated: bool,
        ranges: Vec<(u16, u16)>,
    },
}

pub struct Pattern {
    tokens: Vec<Token>,
    collation: Collation,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// 506 when the escape text is not one character.
    pub fn new(pattern: &[u16], escape: Option<&[u16]>, collation: Collation) -> SqlResult<Self> {
        let escape = match escape {
            None => None,
            Some([unit]) => Some(*unit),
            Some(other) => {
                let shown = String::from_utf16_lossy(other);
                return Err(SqlError::new(
                    506,
                    format!(
                        "The invalid escape character \"{shown}\" was specified in a LIKE predicate."
                    ),
                ));
            }
        };
        let mut tokens = Vec::new();
        let mut i = 0;
        while i < pattern.len() {
            let unit = pattern[i];
            if Some(unit) == escape && i + 1 < pattern.len() {
                tokens.push(Token::Unit(collation.fold(pattern[i + 1])));
                i += 2;
                continue;
            }
            i += 1;
            match u8::try_from(unit) {
                Ok(b'%') => {
                    if !matches!(tokens.last(), Some(Token::Any)) {
                        tokens.push(Token::Any);
                    }
                }
                Ok(b'_') => tokens.push(Token::One),
                Ok(b'[') => match parse_set(&pattern[i..], escape) {
                    Some((token, used)) => {
                        tokens.push(token);
                        i += used;
                    }
                    // A bracket that is never closed matches nothing, as a set without members.
                    None => tokens.push(Token::Set {
                        negated: false,
                        ranges: Vec::new(),
                    }),
                },
                _ => tokens.push(Token::Unit(collation.fold(unit))),
            }
        }
        Ok(Self { tokens, collation })
    }

    /// Whether the whole text matches.
    ///
    /// # Errors
    ///
    /// What `steps` says when it is time to stop.
    pub fn matches(&self, text: &[u16], steps: &mut Steps<'_>) -> SqlResult<bool> {
        let (mut t, mut p) = (0, 0);
        // Where to resume when the last `%` must take one more character.
        let mut resume: Option<(usize, usize)> = None;
        while t < text.len() {
            steps.take()?;
            match self.tokens.get(p) {
                Some(Token::Any) => {
                    resume = Some((p + 1, t));
                    p += 1;
                }
                Some(token) if self.matches_one(token, text[t]) => {
                    p += 1;
                    t += 1;
                }
                _ => match resume {
                    Some((after, from)) => {
                        resume = Some((after, from + 1));
                        (p, t) = (after, from + 1);
                    }
                    None => return Ok(false),
                },
            }
        }
        Ok(self.tokens[p..]
            .iter()
            .all(|token| matches!(token, Token::Any)))
    }

    fn matches_one(&self, token: &Token, unit: u16) -> bool {
        match token {
            Token::Any => false,
            Token::One => true,
            Token::Unit(wanted) => self.collation.fold(unit) == *wanted,
            Token::Set { negated, ranges } => {
                if ranges.is_empty() {
                    return false;
                }
                let within = ranges.iter().any(|(low, high)| {
                    self.order(*low, unit) != Ordering::Greater
                        && self.order(unit, *high) != Ordering::Greater
                });
                within != *negated
            }
        }
    }

    fn order(&self, a: u16, b: u16) -> Ordering {
        if self.collation.fold(a) == self.collation.fold(b) {
            Ordering::Equal
        } else {
            self.collation.compare(&[a], &[b])
        }
    }
}

/// Reads the inside of `[…]`; returns the token and the units used including the bracket.
fn parse_set(rest: &[u16], escape: Option<u16>) -> Option<(Token, usize)> {
    let mut i = 0;
    let negated = rest.first() == Some(&u16::from(b'^'));
    if negated {
        i += 1;
    }
    let mut ranges = Vec::new();
    let first = i;
    loop {
        let mut unit = *rest.get(i)?;
        if unit == u16::from(b']') && i > first {
            return Some((Token::Set { negated, ranges }, i + 1));
        }
        if Some(unit) == escape {
            i += 1;
            unit = *rest.get(i)?;
        }
        i += 1;
        let dash = rest.get(i) == Some(&u16::from(b'-'));
        match rest.get(i + 1) {
            Some(high) if dash && *high != u16::from(b']') => {
                ranges.push((unit, *high));
                i += 2;
            }
            _ => ranges.push((unit, unit)),
        }
    }
}

/// Whether `text LIKE pattern [ESCAPE escape]`. With `blanks`, those at the end of the text need no
/// match, as for VARCHAR.
///
/// # Errors
///
/// 506 when the escape text is not one character, and what `steps` says when it is time to stop.
pub fn like(
    text: &[u16],
    pattern: &[u16],
    escape: Option<&[u16]>,
    collation: Collation,
    blanks: bool,
    steps: &mut Steps<'_>,
) -> SqlResult<bool> {
    let pattern = Pattern::new(pattern, escape, collation)?;
    let shortest = if blanks {
        trim_end(text).len()
    } else {
        text.len()
    };
    for length in (shortest..=text.len()).rev() {
        if pattern.matches(&text[..length], steps)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(text: &str, pattern: &str) -> bool {
        let units = |s: &str| s.encode_utf16().collect::<Vec<_>>();
        like(
            &units(text),
            &units(pattern),
            Some(&[u16::from(b'!')]),
            Collation::SqlLatin1CiAs,
            false,
            &mut Steps::new(&mut || Ok(())),
        )
        .unwrap()
    }

    #[test]
    fn wildcards() {
        for (text, pattern) in [
            ("abc", "ABC"),
            ("abc", "a%"),
            ("abc", "%c"),
            ("abc", "%b%"),
            ("abc", "a_c"),
            ("", "%"),
            ("abc", "[a-c]bc"),
            ("xbc", "[^a-c]bc"),
            ("a%c", "a!%c"),
            ("a]c", "a[]]c"),
            ("a-c", "a[b-]c"),
            ("aaab", "%a%b"),
            ("a[c", "a[[]c"),
        ] {
            assert!(matches(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in [
            ("abc", "ab"),
            ("abc", "a_"),
            ("abc ", "abc"),
            ("bbc", "[^a-c]bc"),
            ("abc", "a!%c"),
            ("", "_"),
            ("abc", "[abc"),
        ] {
            assert!(!matches(text, pattern), "{text} {pattern}");
        }
    }

    #[test]
    fn a_long_escape_is_refused() {
        let error = like(
            &[],
            &[],
            Some(&[1, 2]),
            Collation::Bin2,
            false,
            &mut Steps::new(&mut || Ok(())),
        )
        .unwrap_err();
        assert_eq!(error.number, 506);
    }
}
