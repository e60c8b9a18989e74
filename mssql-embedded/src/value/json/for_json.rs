//! FOR JSON PATH: rows to JSON text.

use super::escape::{escape_into, escaped_len};
use crate::error::{SqlError, SqlResult};
use crate::value::number_text::format_float_json;
use crate::value::{DataType, Value, date_format, decimal, guid, text};

/// The options of FOR JSON PATH.
#[derive(Clone, Debug, Default)]
pub struct ForJsonOptions {
    pub root: Option<String>,
    pub include_null_values: bool,
    pub without_array_wrapper: bool,
}

/// 13620: a root is a wrapper.
pub fn root_without_wrapper() -> SqlError {
    SqlError::new(
        13620,
        "ROOT option and WITHOUT_ARRAY_WRAPPER option cannot be used together in FOR JSON. Remove one \
         of these options.",
    )
}

/// 13605: a column that has no name to go by; `position` counts from 1.
pub fn unnamed_column(position: usize) -> SqlError {
    SqlError::new(
        13605,
        format!(
            "Column expressions and data sources without names or aliases cannot be formatted as JSON \
             text using FOR JSON clause. Add alias to the unnamed column or table. (column {position})"
        ),
    )
}

struct Column {
    path: Vec<Vec<u16>>,
    ty: DataType,
    raw: bool,
}

/// The text of FOR JSON PATH, built row by row.
pub struct ForJson {
    columns: Vec<Column>,
    options: ForJsonOptions,
    out: Vec<u16>,
    rows: usize,
}

impl ForJson {
    /// A writer for columns given by alias, type and whether their text already is JSON. Points in
    /// an alias nest objects.
    ///
    /// # Errors
    ///
    /// 13605 for a column without a name, 13601 for aliases that collide, 13620 when ROOT and
    /// WITHOUT_ARRAY_WRAPPER meet.
    pub fn new(columns: &[(String, DataType, bool)], options: ForJsonOptions) -> SqlResult<Self> {
        if options.root.is_some() && options.without_array_wrapper {
            return Err(root_without_wrapper());
        }
        let mut built: Vec<Column> = Vec::new();
        for (alias, ty, raw) in columns {
            if alias.is_empty() {
                return Err(unnamed_column(built.len() + 1));
            }
            let path: Vec<Vec<u16>> = alias
                .split('.')
                .map(|s| s.encode_utf16().collect())
                .collect();
            check_conflict(&built, &path, alias)?;
            built.push(Column {
                path,
                ty: ty.clone(),
                raw: *raw,
            });
        }
        let mut out = Vec::new();
        if let Some(root) = &options.root {
            out.push(u16::from(b'{'));
            write_key(&root.encode_utf16().collect::<Vec<_>>(), true, &mut out);
        }
        if !options.without_array_wrapper {
            out.push(u16::from(b'['));
        }
        Ok(Self {
            columns: built,
            options,
            out,
            rows: 0,
        })
    }

    /// Adds a row with one value per column. `hold` is told of all that is added, and of a long text before it is: it may
    /// be somebody else's, and the row name it many times.
    ///
    /// # Errors
    ///
    /// Those of formatting a value, and what `hold` says.
    pub fn row(
        &mut self,
        values: &[Value],
        hold: &mut dyn FnMut(usize) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let start = self.out.len();
        let mut held = 0;
        if self.rows > 0 {
            self.push(",");
        }
        self.rows += 1;
        self.push("{");
        let mut open: Vec<&[u16]> = Vec::new();
        let mut first = true;
        let (columns, out) = (&self.columns, &mut self.out);
        for (column, value) in columns.iter().zip(values) {
            if value.is_null() && !self.options.include_null_values {
                continue;
            }
            let (name, parents) = match column.path.split_last() {
                Some(split) => split,
                None => continue,
            };
            let shared = open
                .iter()
                .zip(parents)
                .take_while(|(a, b)| **a == b.as_slice())
                .count();
            while open.len() > shared {
                open.pop();
                out.push(u16::from(b'}'));
                first = false;
            }
            for parent in &parents[shared..] {
                write_key(parent, first, out);
                out.push(u16::from(b'{'));
                open.push(parent);
                first = true;
            }
            if let Value::Str(text) = value {
                let long = match column.raw {
                    true => text.len(),
                    false => escaped_len(text),
                };
                hold(long)?;
                held += long;
            }
            write_key(name, first, out);
            write_value(value, &column.ty, column.raw, out)?;
            first = false;
        }
        out.extend(std::iter::repeat_n(u16::from(b'}'), open.len() + 1));
        hold(out.len() - start - held)
    }

    /// The whole text, or `None` when there was no row and no ROOT.
    pub fn finish(mut self) -> Option<Vec<u16>> {
        if self.rows == 0 && self.options.root.is_none() {
            return None;
        }
        if !self.options.without_array_wrapper {
            self.push("]");
        }
        if self.options.root.is_some() {
            self.push("}");
        }
        Some(self.out)
    }

    fn push(&mut self, s: &str) {
        self.out.extend(s.encode_utf16());
    }
}

/// A property cannot appear twice, be both value and object, or be resumed after another one.
fn check_conflict(built: &[Column], path: &[Vec<u16>], alias: &str) -> SqlResult<()> {
    let conflict = || {
        Err(SqlError::new(
            13601,
            format!(
                "Property '{alias}' cannot be generated in JSON output due to a conflict with another \
                 column name or alias. Use different names and aliases for each column in SELECT list."
            ),
        ))
    };
    for (i, column) in built.iter().enumerate() {
        let shared = column
            .path
            .iter()
            .zip(path)
            .take_while(|(a, b)| a == b)
            .count();
        if shared == column.path.len() || shared == path.len() {
            return conflict();
        }
        let interrupted = built[i + 1..].iter().any(|other| {
            other
                .path
                .iter()
                .zip(path)
                .take_while(|(a, b)| a == b)
                .count()
                < shared
        });
        if shared > 0 && interrupted {
            return conflict();
        }
    }
    Ok(())
}

fn write_key(name: &[u16], first: bool, out: &mut Vec<u16>) {
    if !first {
        out.push(u16::from(b','));
    }
    write_string(name, out);
    out.push(u16::from(b':'));
}

fn write_string(text: &[u16], out: &mut Vec<u16>) {
    out.push(0x22);
    escape_into(text, out);
    out.push(0x22);
}

fn write_value(value: &Value, ty: &DataType, raw: bool, out: &mut Vec<u16>) -> SqlResult<()> {
    let plain = match value {
        Value::Null => "null".to_owned(),
        Value::Bit(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Decimal { units, scale } => decimal::format(*units, *scale),
        Value::Float(f) => format_float_json(*f),
        Value::Str(s) if raw => {
            out.extend_from_slice(s);
            return Ok(());
        }
        Value::Str(s) => {
            write_string(s, out);
            return Ok(());
        }
        Value::Guid(g) => {
            write_string(&text::from_str(&guid::format(g)), out);
            return Ok(());
        }
        Value::Bytes(bytes) => {
            write_string(&text::from_str(&to_base64(bytes)), out);
            return Ok(());
        }
        Value::DateTimeOffset { offset: 0, .. } => {
            let shown = date_format::format(value, ty, Some(127))?;
            write_string(&text::from_str(&shown), out);
            return Ok(());
        }
        Value::Date(_) | Value::Time(_) | Value::DateTime { .. } | Value::DateTimeOffset { .. } => {
            let shown = date_format::format(value, ty, Some(126))?;
            write_string(&text::from_str(&shown), out);
            return Ok(());
        }
    };
    out.extend(plain.encode_utf16());
    Ok(())
}

fn to_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |n, b| (n << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            if i <= chunk.len() {
                out.push(char::from(DIGITS[(bits >> (18 - 6 * i)) as usize & 63]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Collation;

    fn writer(names: &[&str], options: ForJsonOptions) -> SqlResult<ForJson> {
        let text = DataType::nvarchar_max(Collation::SqlLatin1CiAs);
        let columns: Vec<_> = names
            .iter()
            .map(|n| ((*n).to_owned(), text.clone(), n.ends_with("raw")))
            .collect();
        ForJson::new(&columns, options)
    }

    fn finish(json: ForJson) -> Option<String> {
        json.finish().map(|t| String::from_utf16(&t).unwrap())
    }

    #[test]
    fn points_nest_and_nulls_are_left_out() {
        let mut json = writer(
            &["a", "b.c", "b.d.e", "raw", "z"],
            ForJsonOptions::default(),
        )
        .unwrap();
        let t = Value::text;
        let first = [
            Value::Int(1),
            t("x/\n"),
            Value::Bit(true),
            t("[1]"),
            Value::Null,
        ];
        let second = [Value::Null, Value::Null, t("q"), Value::Null, Value::Int(2)];
        let mut held = 0;
        for row in [first, second] {
            json.row(&row, &mut |units| {
                held += units;
                Ok(())
            })
            .unwrap();
        }
        // All but the brackets around the rows.
        assert_eq!(held + 1, json.out.len());
        assert_eq!(
            finish(json).unwrap(),
            r#"[{"a":1,"b":{"c":"x\/\n","d":{"e":true}},"raw":[1]},{"b":{"d":{"e":"q"}},"z":2}]"#
        );
    }

    #[test]
    fn options() {
        let with = |root: Option<&str>, nulls, bare| ForJsonOptions {
            root: root.map(str::to_owned),
            include_null_values: nulls,
            without_array_wrapper: bare,
        };
        let mut json = writer(&["a"], with(Some("r"), true, false)).unwrap();
        json.row(&[Value::Null], &mut |_| Ok(())).unwrap();
        assert_eq!(finish(json).unwrap(), r#"{"r":[{"a":null}]}"#);
        let mut json = writer(&["a"], with(None, false, true)).unwrap();
        json.row(&[Value::Bytes([1, 2, 3, 4].into())], &mut |_| Ok(()))
            .unwrap();
        assert_eq!(finish(json).unwrap(), r#"{"a":"AQIDBA=="}"#);
        assert_eq!(
            finish(writer(&["a"], with(None, false, false)).unwrap()),
            None
        );
        assert!(writer(&["a"], with(Some("r"), false, true)).is_err());
    }

    #[test]
    fn colliding_names_are_refused() {
        for names in [&["a", "a"][..], &["a", "a.b"], &["a.b", "c", "a.d"]] {
            let error = writer(names, ForJsonOptions::default())
                .err()
                .map(|e| e.number);
            assert_eq!(error, Some(13601), "{names:?}");
        }
        assert_eq!(
            writer(&[""], ForJsonOptions::default())
                .err()
                .map(|e| e.number),
            Some(13605)
        );
    }
}
