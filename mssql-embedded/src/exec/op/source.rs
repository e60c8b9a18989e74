//! Sources without a table: nothing, one row, VALUES, OPENJSON, STRING_SPLIT, FOR JSON.

use crate::adversary::Question;
use crate::error::SqlResult;
use crate::func::string_split::string_split;
use crate::plan::{JsonField, JsonFormat, Query, Scalar};
use crate::value::json::{
    ForJson, ForJsonOptions, JsonColumn, JsonPath, JsonTable, open_json as key_values,
};
use crate::value::{Collation, Value};

use super::super::{Env, collect, eval};
use super::{Operator, Rows};

/// One row without columns.
pub struct Once {
    done: bool,
}

impl Once {
    /// Not yet handed out.
    pub fn new() -> Self {
        Self { done: false }
    }
}

impl Operator for Once {
    fn next(&mut self, _env: &mut Env<'_, '_>) -> SqlResult<bool> {
        Ok(!std::mem::replace(&mut self.done, true))
    }
}

/// `VALUES (…), (…)`.
pub struct Values<'p> {
    rows: &'p [Vec<Scalar>],
    next: usize,
    /// The order that the adversary wants, by position.
    order: Option<Vec<usize>>,
    base: usize,
    level: usize,
}

impl<'p> Values<'p> {
    /// Rows of expressions.
    pub fn new(rows: &'p [Vec<Scalar>], base: usize, level: usize, env: &Env<'_, '_>) -> Self {
        let order = env.core.choices.as_ref().map(|choices| {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            choices.shuffle(Question::RowOrder, &mut order);
            order
        });
        Self {
            rows,
            next: 0,
            order,
            base,
            level,
        }
    }
}

impl Operator for Values<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        let position = match &self.order {
            Some(order) => order.get(self.next).copied().unwrap_or(self.next),
            None => self.next,
        };
        let Some(row) = self.rows.get(position) else {
            return Ok(false);
        };
        env.tick()?;
        self.next += 1;
        for (i, expr) in row.iter().enumerate() {
            let value = eval(expr, env)?;
            env.set_slot(self.level, self.base + i, value);
        }
        Ok(true)
    }
}

/// OPENJSON. A NULL document yields no row.
pub fn open_json(
    document: &Scalar,
    path: Option<&Scalar>,
    with: Option<&[JsonField]>,
    base: usize,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    let text = eval(document, env)?;
    let path = match path {
        Some(p) => eval(p, env)?,
        None => Value::text("$"),
    };
    let (Value::Str(text), Value::Str(path)) = (text, path) else {
        return Ok(Rows::new(Vec::new(), base, level));
    };
    let path = JsonPath::parse(&path)?;
    let mut rows = match with {
        Some(fields) => json_table(fields)?.rows(&text, &path)?,
        None => key_values(&text, &path)?
            .into_iter()
            .map(|(key, value, kind)| vec![key, value, Value::Int(kind)])
            .collect(),
    };
    unordered(&mut rows, env);
    Ok(Rows::new(rows, base, level))
}

/// Nobody promised an order of these rows.
fn unordered(rows: &mut [Vec<Value>], env: &Env<'_, '_>) {
    if let Some(choices) = &env.core.choices {
        choices.shuffle(Question::RowOrder, rows);
    }
}

fn json_table(fields: &[JsonField]) -> SqlResult<JsonTable> {
    let mut columns = Vec::with_capacity(fields.len());
    for field in fields {
        let path: Vec<u16> = field.path.encode_utf16().collect();
        columns.push(JsonColumn {
            path: JsonPath::parse(&path)?,
            ty: field.ty.clone(),
            as_json: field.as_json,
        });
    }
    Ok(JsonTable::new(columns))
}

/// STRING_SPLIT.
pub fn split(
    text: &Scalar,
    separator: &Scalar,
    ordinal: bool,
    base: usize,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    let text = eval(text, env)?;
    let separator = eval(separator, env)?;
    let mut rows = Vec::new();
    let (Value::Str(text), Value::Str(separator)) = (text, separator) else {
        return Ok(Rows::new(rows, base, level));
    };
    let pieces = string_split(&text, &separator, Collation::SqlLatin1CiAs)?;
    for (i, piece) in pieces.into_iter().enumerate() {
        let mut row = vec![Value::Str(piece.into())];
        if ordinal {
            row.push(Value::Int(i as i64 + 1));
        }
        rows.push(row);
    }
    unordered(&mut rows, env);
    Ok(Rows::new(rows, base, level))
}

/// FOR JSON: the rows of a query as one text. No rows make no text, which a scalar subquery sees as NULL.
pub fn for_json(
    query: &Query,
    format: &JsonFormat,
    base: usize,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    let rows = collect(query, env)?;
    let columns: Vec<_> = query
        .columns
        .iter()
        .zip(&format.raw)
        .map(|(c, raw)| (c.name.clone(), c.ty.clone(), *raw))
        .collect();
    let options = ForJsonOptions {
        root: format.root.clone(),
        include_null_values: format.include_null_values,
        without_array_wrapper: format.without_array_wrapper,
    };
    let mut writer = ForJson::new(&columns, options)?;
    for row in &rows {
        env.tick()?;
        writer.row(row)?;
    }
    let text = writer.finish().map(|t| vec![Value::Str(t.into())]);
    Ok(Rows::new(text.into_iter().collect(), base, level))
}
