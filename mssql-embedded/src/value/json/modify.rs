//! JSON_MODIFY: the text with one value replaced, added or removed.

use super::escape::escape_into;
use super::extract::{find, key_is, property_not_found};
use super::path::{JsonPath, Step};
use super::scan::{Kind, Scanner, Span};
use crate::error::{SqlError, SqlResult};
use crate::value::Steps;

/// The state of 13609 when JSON_MODIFY raises it.
const STATE: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewValue<'a> {
    /// SQL NULL: removes a member in lax mode, writes `null` in strict mode.
    Null,
    /// Text that becomes a JSON string.
    Text(&'a [u16]),
    /// A number, boolean, object or array that is written as it is.
    Raw(&'a [u16]),
}

impl NewValue<'_> {
    fn write(self, out: &mut Vec<u16>) {
        match self {
            Self::Null => out.extend("null".encode_utf16()),
            Self::Raw(raw) => out.extend_from_slice(raw),
            Self::Text(text) => {
                out.push(0x22);
                escape_into(text, out);
                out.push(0x22);
            }
        }
    }
}

/// The text after the change.
///
/// # Errors
///
/// 13609 for malformed text, 13608 when a strict path finds nothing, 13619 for the path `$`.
pub fn modify(
    text: &[u16],
    path: &JsonPath,
    value: NewValue<'_>,
    mut steps: Steps<'_>,
) -> SqlResult<Vec<u16>> {
    let mut scanner = Scanner::new(text, STATE, steps.part());
    scanner.root()?;
    scanner.value()?;
    scanner.end()?;
    if path.append {
        return append(text, scanner.back_to(0), path, value);
    }
    let Some((last, parents)) = path.steps.split_last() else {
        return Err(SqlError::new(
            13619,
            "Unsupported JSON path found in argument 2 of JSON_MODIFY.",
        ));
    };
    let missing = || {
        if path.strict {
            Err(property_not_found())
        } else {
            Ok(text.to_vec())
        }
    };
    let Some(parent) = find(text, &mut scanner.at(0), parents)? else {
        return missing();
    };
    match (parent.kind, last) {
        (Kind::Object, Step::Member(name)) => {
            let inside = scanner.back_to(parent.start);
            member(text, inside, parent, name, path.strict, value)
        }
        (Kind::Array, Step::Element(index)) => {
            let inside = scanner.back_to(parent.start);
            element(text, inside, *index, path.strict, value)
        }
        _ => missing(),
    }
}

/// Text with `start..end` replaced by what `write` adds.
fn splice(text: &[u16], start: usize, end: usize, write: impl FnOnce(&mut Vec<u16>)) -> Vec<u16> {
    let mut out = text[..start].to_vec();
    write(&mut out);
    out.extend_from_slice(&text[end..]);
    out
}

fn member(
    text: &[u16],
    mut scanner: Scanner<'_>,
    parent: Span,
    name: &[u16],
    strict: bool,
    value: NewValue<'_>,
) -> SqlResult<Vec<u16>> {
    let mut more = scanner.enter(b'}')?;
    let mut previous_end = None;
    while more {
        let key = scanner.key()?;
        let span = scanner.value()?;
        if key_is(text, key, name) {
            if value != NewValue::Null || strict {
                return Ok(splice(text, span.start, span.end, |out| value.write(out)));
            }
            // The comma before the member goes with it, or the one behind it for the first.
            let followed = scanner.another(b'}')?;
            let (start, end) = match previous_end {
                Some(end) => (end, span.end),
                None if followed => (key.start, scanner.pos),
                None => (key.start, span.end),
            };
            return Ok(splice(text, start, end, |_| {}));
        }
        previous_end = Some(span.end);
        more = scanner.another(b'}')?;
    }
    if strict {
        return Err(property_not_found());
    }
    if value == NewValue::Null {
        return Ok(text.to_vec());
    }
    let at = previous_end.unwrap_or(parent.start + 1);
    Ok(splice(text, at, at, |out| {
        if previous_end.is_some() {
            out.push(u16::from(b','));
        }
        NewValue::Text(name).write(out);
        out.push(u16::from(b':'));
        value.write(out);
    }))
}

fn element(
    text: &[u16],
    mut scanner: Scanner<'_>,
    index: usize,
    strict: bool,
    value: NewValue<'_>,
) -> SqlResult<Vec<u16>> {
    let steps = [Step::Element(index)];
    match find(text, &mut scanner, &steps)? {
        Some(span) => Ok(splice(text, span.start, span.end, |out| value.write(out))),
        None if strict => Err(property_not_found()),
        None => Ok(text.to_vec()),
    }
}

fn append(
    text: &[u16],
    mut scanner: Scanner<'_>,
    path: &JsonPath,
    value: NewValue<'_>,
) -> SqlResult<Vec<u16>> {
    let array = find(text, &mut scanner.at(0), &path.steps)?;
    match array {
        Some(span) if span.kind == Kind::Array => {
            let empty = !scanner.at(span.start).enter(b']')?;
            let end = span.end - 1;
            Ok(splice(text, end, end, |out| {
                if !empty {
                    out.push(u16::from(b','));
                }
                value.write(out);
            }))
        }
        None if !path.strict && !path.steps.is_empty() => {
            let mut array = vec![u16::from(b'[')];
            value.write(&mut array);
            array.push(u16::from(b']'));
            let set = JsonPath {
                append: false,
                ..path.clone()
            };
            modify(text, &set, NewValue::Raw(&array), scanner.into_steps())
        }
        _ if path.strict => Err(property_not_found()),
        _ => Ok(text.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(s: &str) -> Vec<u16> {
        s.encode_utf16().collect()
    }

    fn change(json: &str, path: &str, value: Option<&str>) -> String {
        let path = JsonPath::parse(&units(path)).unwrap();
        let new = value.map(units);
        let value = new.as_deref().map_or(NewValue::Null, NewValue::Text);
        String::from_utf16(&modify(&units(json), &path, value, Steps::new(&mut || Ok(()))).unwrap())
            .unwrap()
    }

    #[test]
    fn members_are_set_added_and_removed() {
        assert_eq!(change(r#"{"a":1}"#, "$.a", Some("x\"")), r#"{"a":"x\""}"#);
        assert_eq!(change(r#"{"a":1}"#, "$.b", Some("x")), r#"{"a":1,"b":"x"}"#);
        assert_eq!(change("{}", "$.b", Some("x")), r#"{"b":"x"}"#);
        assert_eq!(change(r#"{"a":1,"b":2}"#, "$.a", None), r#"{"b":2}"#);
        assert_eq!(change(r#"{"a":1,"b":2}"#, "$.b", None), r#"{"a":1}"#);
        assert_eq!(change(r#"{"a":1}"#, "$.a", None), "{}");
        assert_eq!(change(r#"{"a":1}"#, "strict $.a", None), r#"{"a":null}"#);
        assert_eq!(change(r#"{"a":1}"#, "$.z.y", Some("x")), r#"{"a":1}"#);
    }

    #[test]
    fn arrays_are_changed_and_extended() {
        assert_eq!(change("[1,2]", "$[1]", Some("x")), r#"[1,"x"]"#);
        assert_eq!(
            change(r#"{"a":[1]}"#, "append $.a", Some("x")),
            r#"{"a":[1,"x"]}"#
        );
        assert_eq!(
            change(r#"{"a":[ ]}"#, "append $.a", Some("x")),
            r#"{"a":[ "x"]}"#
        );
        assert_eq!(change("{}", "append $.a", Some("x")), r#"{"a":["x"]}"#);
    }
}
