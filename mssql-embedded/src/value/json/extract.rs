//! Finding a value by path: JSON_VALUE, JSON_QUERY, ISJSON.

use std::sync::Arc;

use super::escape::unescape;
use super::path::{JsonPath, Step};
use super::scan::{Kind, Scanner, Span};
use crate::error::{SqlError, SqlResult};
use crate::value::{STEPS_PER_TURN, Steps};

/// The most characters JSON_VALUE returns.
const JSON_VALUE_LIMIT: usize = 4000;

/// A value found in JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    pub kind: Kind,
    /// Its text, quotes of strings included.
    pub raw: &'a [u16],
    pub(super) escaped: bool,
}

impl<'a> Found<'a> {
    pub(super) fn new(text: &'a [u16], span: Span) -> Self {
        Self {
            kind: span.kind,
            raw: &text[span.start..span.end],
            escaped: span.escaped,
        }
    }

    /// The text of a scalar: a string without quotes and escapes, anything else as written.
    pub fn scalar_text(&self) -> Arc<[u16]> {
        match self.kind {
            Kind::String if self.escaped => unescape(&self.raw[1..self.raw.len() - 1]).into(),
            Kind::String => self.raw[1..self.raw.len() - 1].into(),
            Kind::Null | Kind::Number | Kind::Bool | Kind::Array | Kind::Object => self.raw.into(),
        }
    }
}

pub(super) fn key_is(text: &[u16], key: Span, name: &[u16]) -> bool {
    let raw = &text[key.start + 1..key.end - 1];
    if key.escaped {
        unescape(raw) == name
    } else {
        raw == name
    }
}

/// The value at `steps` below the value that begins at the scanner, or `None`. Text behind the
/// value found is not looked at.
pub(super) fn find(
    text: &[u16],
    scanner: &mut Scanner<'_>,
    steps: &[Step],
) -> SqlResult<Option<Span>> {
    'steps: for step in steps {
        match (scanner.kind()?, step) {
            (Kind::Object, Step::Member(name)) => {
                let mut more = scanner.enter(b'}')?;
                while more {
                    let key = scanner.key()?;
                    if key_is(text, key, name) {
                        continue 'steps;
                    }
                    scanner.value()?;
                    more = scanner.another(b'}')?;
                }
                return Ok(None);
            }
            (Kind::Array, Step::Element(index)) => {
                let mut more = scanner.enter(b']')?;
                let mut i = 0;
                while more {
                    if i == *index {
                        continue 'steps;
                    }
                    scanner.value()?;
                    i += 1;
                    more = scanner.another(b']')?;
                }
                return Ok(None);
            }
            _ => {
                scanner.value()?;
                return Ok(None);
            }
        }
    }
    scanner.value().map(Some)
}

fn find_in<'a>(
    text: &'a [u16],
    path: &JsonPath,
    state: u8,
    mut steps: Steps<'_>,
) -> SqlResult<Option<Found<'a>>> {
    let mut scanner = Scanner::new(text, state, steps.part());
    scanner.root()?;
    let found = find(text, &mut scanner, &path.steps)?;
    if found.is_none() && path.strict {
        return Err(property_not_found());
    }
    Ok(found.map(|span| Found::new(text, span)))
}

/// 13608: a strict path that leads nowhere.
pub(super) fn property_not_found() -> SqlError {
    SqlError::with(
        13608,
        16,
        5,
        "Property cannot be found on the specified JSON path.",
    )
}

/// 13623: a strict path to an object or array where a scalar is wanted.
pub(super) fn scalar_not_found() -> SqlError {
    SqlError::with(
        13623,
        16,
        2,
        "Scalar value cannot be found in the specified JSON path.",
    )
}

/// 13624: a strict path to a scalar where an object or array is wanted.
pub(super) fn container_not_found() -> SqlError {
    SqlError::with(
        13624,
        16,
        2,
        "Object or array cannot be found in the specified JSON path.",
    )
}

/// 13625: a strict path to a text that JSON_VALUE cannot hold.
pub(super) fn string_truncated() -> SqlError {
    SqlError::new(
        13625,
        "String value in the specified JSON path would be truncated.",
    )
}

/// JSON_VALUE: the text of the scalar at the path. More than 4,000 characters are NULL in lax mode.
///
/// # Errors
///
/// 13609 for malformed text; in strict mode 13608, 13623 and 13625.
pub fn json_value(
    text: &[u16],
    path: &JsonPath,
    steps: Steps<'_>,
) -> SqlResult<Option<Arc<[u16]>>> {
    let Some(found) = find_in(text, path, 2, steps)? else {
        return Ok(None);
    };
    match found.kind {
        Kind::Null => Ok(None),
        kind if kind.is_container() => {
            if path.strict {
                Err(scalar_not_found())
            } else {
                Ok(None)
            }
        }
        Kind::String | Kind::Number | Kind::Bool | Kind::Array | Kind::Object => {
            let value = found.scalar_text();
            if value.len() <= JSON_VALUE_LIMIT {
                return Ok(Some(value));
            }
            if path.strict {
                Err(string_truncated())
            } else {
                Ok(None)
            }
        }
    }
}

/// JSON_QUERY: the object or array at the path, as written.
///
/// # Errors
///
/// 13609 for malformed text; in strict mode 13608 and 13624.
pub fn json_query<'a>(
    text: &'a [u16],
    path: &JsonPath,
    steps: Steps<'_>,
) -> SqlResult<Option<&'a [u16]>> {
    let Some(found) = find_in(text, path, 4, steps)? else {
        return Ok(None);
    };
    if found.kind.is_container() {
        return Ok(Some(found.raw));
    }
    if path.strict {
        Err(container_not_found())
    } else {
        Ok(None)
    }
}
/// ISJSON: whether the whole text is one valid object or array.
///
/// # Errors
///
/// The answer of `steps`, when it is to stop.
pub fn is_json(text: &[u16], mut steps: Steps<'_>) -> SqlResult<bool> {
    // The error of an interrupt is not one of the text.
    let mut stopped = None;
    let mut ask = || {
        let answer = steps.take_many(STEPS_PER_TURN);
        answer.inspect_err(|error| stopped = Some(error.clone()))
    };
    let mut scanner = Scanner::new(text, 1, Steps::new(&mut ask));
    let is_whole = scanner
        .root()
        .and_then(|_| scanner.value())
        .and_then(|_| scanner.end())
        .is_ok();
    stopped.map_or(Ok(is_whole), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(s: &str) -> Vec<u16> {
        s.encode_utf16().collect()
    }

    fn value(json: &str, path: &str) -> SqlResult<Option<String>> {
        let path = JsonPath::parse(&units(path))?;
        Ok(json_value(&units(json), &path, Steps::new(&mut || Ok(())))?
            .map(|v| String::from_utf16_lossy(&v)))
    }

    #[test]
    fn scalars_are_found_and_containers_are_not() {
        let json = r#" {"a":{"b":[1,"x\ny",true,null,{"c":-1.5e3}]},"a b":2} "#;
        let lax = |path| value(json, path).unwrap();
        assert_eq!(lax("$.a.b[0]").as_deref(), Some("1"));
        assert_eq!(lax("$.a.b[1]").as_deref(), Some("x\ny"));
        assert_eq!(lax("$.a.b[2]").as_deref(), Some("true"));
        assert_eq!(lax("$.a.b[3]"), None);
        assert_eq!(lax("$.a.b[4].c").as_deref(), Some("-1.5e3"));
        assert_eq!(lax("$.\"a b\"").as_deref(), Some("2"));
        assert_eq!(lax("$.a"), None);
        assert_eq!(lax("$.A.b[0]"), None);
        assert_eq!(value(json, "strict $.a").unwrap_err().number, 13623);
        assert_eq!(value(json, "strict $.z").unwrap_err().number, 13608);
    }

    #[test]
    fn four_thousand_characters_are_the_limit() {
        let json = |n| format!("{{\"a\":\"{}\"}}", "x".repeat(n));
        assert_eq!(
            value(&json(4000), "$.a").unwrap().map(|v| v.len()),
            Some(4000)
        );
        assert_eq!(value(&json(4001), "$.a").unwrap(), None);
        assert_eq!(value(&json(4001), "strict $.a").unwrap_err().number, 13625);
    }

    #[test]
    fn malformed_text_names_the_character() {
        let error = value("{\"a\":x}", "$.a").unwrap_err();
        assert_eq!((error.number, error.state), (13609, 2));
        assert!(
            error
                .message
                .ends_with("Unexpected character 'x' is found at position 5.")
        );
        assert_eq!(value("1", "$").unwrap_err().number, 13609);
        assert!(
            value("", "$")
                .unwrap_err()
                .message
                .contains("'.' is found at position 0")
        );
    }

    #[test]
    fn only_whole_objects_and_arrays_are_json() {
        for good in [
            "{}",
            "[]",
            " [1, {\"a\": [ ]}, \"\\u00e9\"] ",
            "{\"a\":1e5}",
        ] {
            assert!(
                is_json(&units(good), Steps::new(&mut || Ok(()))).unwrap(),
                "{good}"
            );
        }
        for bad in [
            "",
            "1",
            "\"a\"",
            "{",
            "[1,]",
            "{\"a\"}",
            "[01]",
            "[1]x",
            "['a']",
            "[nul]",
            "[\"\t\"]",
            "[\"\\x\"]",
        ] {
            assert!(
                !is_json(&units(bad), Steps::new(&mut || Ok(()))).unwrap(),
                "{bad}"
            );
        }
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_json(&units(&nested(128)), Steps::new(&mut || Ok(()))).unwrap());
        assert!(!is_json(&units(&nested(129)), Steps::new(&mut || Ok(()))).unwrap());
    }
}
