//! OPENJSON: rows out of an object or array, in one pass over the text.

use super::extract::{
    Found, container_not_found, find, key_is, property_not_found, scalar_not_found,
    string_truncated,
};
use super::path::{JsonPath, Step};
use super::scan::{Kind, Scanner, Span};
use crate::error::SqlResult;
use crate::value::{CastMode, DataType, Length, Steps, Value, cast, text as utf16};

/// The state of 13609 when OPENJSON raises it.
const STATE: u8 = 4;

/// "key: An nvarchar(4000) value that contains the name of the specified property" (OPENJSON).
const KEY_UNITS: usize = 4000;

/// Hands the rows of OPENJSON without WITH to `row`: key, value and the number of the value's kind.
///
/// # Errors
///
/// 13609 for malformed text, 13608 when a strict path finds nothing, 13624 when it finds a scalar, and
/// the errors of `row` and `steps`.
pub fn open_json(
    text: &[u16],
    path: &JsonPath,
    steps: Steps<'_>,
    row: &mut dyn FnMut(Vec<Value>) -> SqlResult<()>,
) -> SqlResult<()> {
    for_each(text, path, steps, |item| {
        let key = match item.key {
            Key::Member(key) => {
                let key = Found::new(text, key).scalar_text();
                Value::Str(match key.get(..KEY_UNITS) {
                    Some(start) if key.len() > KEY_UNITS => start.into(),
                    _ => key,
                })
            }
            Key::Element(index) => Value::text(&index.to_string()),
        };
        let found = Found::new(text, item.value);
        let value = match found.kind {
            Kind::Null => Value::Null,
            Kind::String | Kind::Number | Kind::Bool | Kind::Array | Kind::Object => {
                Value::Str(found.scalar_text())
            }
        };
        row(vec![key, value, Value::Int(found.kind as i64)])
    })
}

enum Key {
    Member(Span),
    Element(usize),
}

struct Item {
    key: Key,
    value: Span,
}

/// Stands the scanner on the container at the path, or says that there is none.
fn seek<'a>(
    text: &'a [u16],
    path: &JsonPath,
    steps: Steps<'a>,
) -> SqlResult<Option<(Scanner<'a>, Kind)>> {
    let mut scanner = Scanner::new(text, STATE, steps);
    let root = scanner.root()?;
    if path.steps.is_empty() {
        return Ok(Some((scanner, root)));
    }
    match find(text, &mut scanner, &path.steps)? {
        Some(span) if span.kind.is_container() => {
            Ok(Some((scanner.back_to(span.start), span.kind)))
        }
        Some(_) if path.strict => Err(container_not_found()),
        None if path.strict => Err(property_not_found()),
        _ => Ok(None),
    }
}

/// Calls `row` for every member or element of the container at the path. At the root the rest of
/// the text must be blank.
fn for_each(
    text: &[u16],
    path: &JsonPath,
    mut steps: Steps<'_>,
    mut row: impl FnMut(Item) -> SqlResult<()>,
) -> SqlResult<()> {
    let Some((mut scanner, kind)) = seek(text, path, steps.part())? else {
        return Ok(());
    };
    if kind == Kind::Object {
        let mut more = scanner.enter(b'}')?;
        while more {
            let key = Key::Member(scanner.key()?);
            let value = scanner.value()?;
            row(Item { key, value })?;
            more = scanner.another(b'}')?;
        }
    } else {
        let mut more = scanner.enter(b']')?;
        let mut index = 0;
        while more {
            let value = scanner.value()?;
            row(Item {
                key: Key::Element(index),
                value,
            })?;
            index += 1;
            more = scanner.another(b']')?;
        }
    }
    if path.steps.is_empty() {
        scanner.end()
    } else {
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub struct JsonColumn {
    /// Where its value stands, from the row's object.
    pub path: JsonPath,
    pub ty: DataType,
    pub as_json: bool,
}

/// OPENJSON with WITH, compiled.
#[derive(Clone, Debug)]
pub struct JsonTable {
    columns: Vec<JsonColumn>,
}

impl JsonTable {
    pub fn new(columns: Vec<JsonColumn>) -> Self {
        Self { columns }
    }

    /// Hands the rows to `row`: one per element of an array, one for an object.
    ///
    /// # Errors
    ///
    /// 13609 for malformed text, what a strict path raises, the errors of the conversion into the
    /// column's type, and those of `row` and `steps`.
    pub fn rows(
        &self,
        text: &[u16],
        path: &JsonPath,
        mut steps: Steps<'_>,
        row: &mut dyn FnMut(Vec<Value>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Some((mut scanner, kind)) = seek(text, path, steps.part())? else {
            return Ok(());
        };
        if kind == Kind::Object {
            row(self.row(text, &mut scanner)?)?;
        } else {
            let mut more = scanner.enter(b']')?;
            while more {
                row(self.row(text, &mut scanner)?)?;
                more = scanner.another(b']')?;
            }
        }
        if path.steps.is_empty() {
            scanner.end()?;
        }
        Ok(())
    }

    /// Reads the value at the scanner as one row. Members are matched as they pass, so a wide text
    /// is walked once however many columns there are.
    fn row(&self, text: &[u16], scanner: &mut Scanner<'_>) -> SqlResult<Vec<Value>> {
        let mut spans: Vec<Option<Span>> = vec![None; self.columns.len()];
        let whole = if scanner.kind()? == Kind::Object {
            let start = scanner.pos;
            let mut more = scanner.enter(b'}')?;
            while more {
                let key = scanner.key()?;
                let value = scanner.value()?;
                self.offer(text, scanner, key, value, &mut spans)?;
                more = scanner.another(b'}')?;
            }
            Span {
                kind: Kind::Object,
                start,
                end: scanner.pos,
                escaped: false,
            }
        } else {
            let value = scanner.value()?;
            for (column, span) in self.columns.iter().zip(&mut spans) {
                if !column.path.steps.is_empty() {
                    *span = find(text, &mut scanner.at(value.start), &column.path.steps)?;
                }
            }
            value
        };
        self.columns
            .iter()
            .zip(spans)
            .map(|(column, span)| {
                let span = if column.path.steps.is_empty() {
                    Some(whole)
                } else {
                    span
                };
                column.value(span.map(|span| Found::new(text, span)))
            })
            .collect()
    }

    /// Gives a member to the columns whose path begins with its name; the first of equal names wins.
    fn offer(
        &self,
        text: &[u16],
        scanner: &mut Scanner<'_>,
        key: Span,
        value: Span,
        spans: &mut [Option<Span>],
    ) -> SqlResult<()> {
        for (column, span) in self.columns.iter().zip(spans) {
            let Some((Step::Member(name), rest)) = column.path.steps.split_first() else {
                continue;
            };
            if span.is_some() || !key_is(text, key, name) {
                continue;
            }
            *span = if rest.is_empty() {
                Some(value)
            } else {
                find(text, &mut scanner.at(value.start), rest)?
            };
        }
        Ok(())
    }
}

impl JsonColumn {
    fn value(&self, found: Option<Found<'_>>) -> SqlResult<Value> {
        let strict = self.path.strict;
        let Some(found) = found else {
            return if strict {
                Err(property_not_found())
            } else {
                Ok(Value::Null)
            };
        };
        if self.as_json {
            return if found.kind.is_container() {
                Ok(Value::Str(found.raw.into()))
            } else if strict {
                Err(container_not_found())
            } else {
                Ok(Value::Null)
            };
        }
        match found.kind {
            Kind::Null => Ok(Value::Null),
            kind if kind.is_container() => {
                if strict {
                    Err(scalar_not_found())
                } else {
                    Ok(Value::Null)
                }
            }
            Kind::String | Kind::Number | Kind::Bool | Kind::Array | Kind::Object => {
                self.convert(&found)
            }
        }
    }

    fn convert(&self, found: &Found<'_>) -> SqlResult<Value> {
        let value = found.scalar_text();
        if self.ty.is_binary() {
            let bytes = from_base64(&value);
            let from = DataType::VarBinary(Length::Max);
            return cast(
                &Value::Bytes(bytes.into()),
                &from,
                &self.ty,
                None,
                CastMode::Assign,
            );
        }
        if let Some(Length::Limited(limit)) = self.ty.length() {
            // A string that does not fit is treated as JSON_VALUE treats one beyond 4,000.
            if utf16::fitting_prefix(&value, &self.ty, usize::from(limit)).len() < value.len() {
                return if self.path.strict {
                    Err(string_truncated())
                } else {
                    Ok(Value::Null)
                };
            }
        }
        let collation = self
            .ty
            .collation()
            .unwrap_or(super::super::Collation::SqlLatin1CiAs);
        let from = DataType::nvarchar_max(collation);
        if self.ty == from {
            return Ok(Value::Str(value));
        }
        // A number may be written with an exponent, which only FLOAT reads from text.
        let exponent = found.kind == Kind::Number
            && (self.ty.is_numeric())
            && value.iter().any(|u| matches!(*u, 0x45 | 0x65));
        let value = Value::Str(value);
        if exponent {
            let float = cast(&value, &from, &DataType::Float, None, CastMode::Assign)?;
            return cast(&float, &DataType::Float, &self.ty, None, CastMode::Assign);
        }
        cast(&value, &from, &self.ty, None, CastMode::Assign)
    }
}

/// Base64, the form of binary data in JSON; what is not base64 is skipped.
fn from_base64(text: &[u16]) -> Vec<u8> {
    let (mut out, mut bits, mut held) = (Vec::with_capacity(text.len() * 3 / 4), 0_u32, 0);
    for unit in text {
        let six = match u8::try_from(*unit) {
            Ok(c @ b'A'..=b'Z') => c - b'A',
            Ok(c @ b'a'..=b'z') => c - b'a' + 26,
            Ok(c @ b'0'..=b'9') => c - b'0' + 52,
            Ok(b'+') => 62,
            Ok(b'/') => 63,
            _ => continue,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Collation;

    fn units(s: &str) -> Vec<u16> {
        s.encode_utf16().collect()
    }

    fn column(path: &str, ty: DataType) -> JsonColumn {
        JsonColumn {
            path: JsonPath::parse(&units(path)).unwrap(),
            ty,
            as_json: false,
        }
    }

    fn open(json: &str, path: &JsonPath) -> SqlResult<Vec<Vec<Value>>> {
        let mut rows = Vec::new();
        open_json(&units(json), path, Steps::new(&mut || Ok(())), &mut |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    fn typed(table: &JsonTable, json: &str) -> SqlResult<Vec<Vec<Value>>> {
        let (mut rows, root) = (Vec::new(), JsonPath::root());
        let mut keep = |row| {
            rows.push(row);
            Ok(())
        };
        table.rows(&units(json), &root, Steps::new(&mut || Ok(())), &mut keep)?;
        Ok(rows)
    }

    #[test]
    fn default_columns() {
        let json = r#"{"a":"x\"y","b":[1],"c":null,"d":true}"#;
        let rows = open(json, &JsonPath::root());
        let row = |k: &str, v: Value, t| vec![Value::text(k), v, Value::Int(t)];
        assert_eq!(
            rows.unwrap(),
            [
                row("a", Value::text("x\"y"), 1),
                row("b", Value::text("[1]"), 4),
                row("c", Value::Null, 0),
                row("d", Value::text("true"), 3),
            ]
        );
        let path = JsonPath::parse(&units("$.b")).unwrap();
        let rows = open(r#"{"b":[7]}"#, &path).unwrap();
        assert_eq!(rows, [row("0", Value::text("7"), 2)]);
        let malformed = open("[1] x", &JsonPath::root()).unwrap_err();
        assert_eq!(malformed.number, 13609);
        assert!(open("{}", &path).unwrap().is_empty());
        let strict = JsonPath::parse(&units("strict $.b")).unwrap();
        assert_eq!(open("{}", &strict).unwrap_err().number, 13608);
    }

    #[test]
    fn typed_columns() {
        let c = Collation::SqlLatin1CiAs;
        let mut raw = column("$.o", DataType::nvarchar_max(c));
        raw.as_json = true;
        let table = JsonTable::new(vec![
            column("$.id", DataType::BigInt),
            column("$.o.k", DataType::nvarchar_max(c)),
            raw,
            column("$.flag", DataType::Bit),
        ]);
        let json = r#"[{"id":1e2,"o":{"k":"v\n"},"flag":true,"id":5},{"id":"7"},{}]"#;
        let rows = typed(&table, json).unwrap();
        assert_eq!(
            rows,
            [
                vec![
                    Value::Int(100),
                    Value::text("v\n"),
                    Value::text(r#"{"k":"v\n"}"#),
                    Value::Bit(true)
                ],
                vec![Value::Int(7), Value::Null, Value::Null, Value::Null],
                vec![Value::Null; 4],
            ]
        );
        let whole = JsonTable::new(vec![column("$", DataType::Int)]);
        let rows = typed(&whole, "[3,4]").unwrap();
        assert_eq!(rows, [vec![Value::Int(3)], vec![Value::Int(4)]]);
        let strict = JsonTable::new(vec![column("strict $.x", DataType::Int)]);
        assert_eq!(typed(&strict, "[{}]").unwrap_err().number, 13608);
        assert_eq!(typed(&whole, "[\"a\"]").unwrap_err().number, 245);
    }

    #[test]
    fn too_long_strings_are_null_unless_strict() {
        let c = Collation::SqlLatin1CiAs;
        let lax = JsonTable::new(vec![column("$.a", DataType::nvarchar(3, c))]);
        let json = r#"[{"a":"abcd"},{"a":"abc"}]"#;
        let rows = typed(&lax, json).unwrap();
        assert_eq!(rows, [vec![Value::Null], vec![Value::text("abc")]]);
        let strict = JsonTable::new(vec![column("strict $.a", DataType::nvarchar(3, c))]);
        assert_eq!(typed(&strict, json).unwrap_err().number, 13625);
    }

    #[test]
    fn binary_is_base64() {
        assert_eq!(from_base64(&units("AQID/w==")), [1, 2, 3, 255]);
    }
}
