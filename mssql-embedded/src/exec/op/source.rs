//! Sources without a table: nothing, one row, VALUES, OPENJSON, STRING_SPLIT, FOR JSON.

use crate::adversary::Question;
use crate::error::SqlResult;
use crate::func::string_split::string_split;
use crate::memory::{Charge, row_bytes};
use crate::plan::{JsonField, JsonFormat, Query, Scalar};
use crate::value::json::{
    ForJson, ForJsonOptions, JsonColumn, JsonPath, JsonTable, open_json as key_values,
};
use crate::value::{Collation, Steps, Value};

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

pub struct Values<'p> {
    rows: &'p [Vec<Scalar>],
    next: usize,
    /// The order that the adversary wants, by position.
    order: Option<Vec<usize>>,
    base: usize,
    level: usize,
}

impl<'p> Values<'p> {
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
    let mut made = Made::new(env);
    let mut keep = |row| made.keep(row);
    let mut ask = || env.pause();
    let steps = Steps::new(&mut ask);
    match with {
        Some(fields) => json_table(fields)?.rows(&text, &path, steps, &mut keep)?,
        None => key_values(&text, &path, steps, &mut keep)?,
    }
    Ok(made.finish(base, level, env))
}

/// Rows that a table function has made of one text.
struct Made {
    rows: Vec<Vec<Value>>,
    /// What they hold of the session's memory.
    charge: Charge,
}

impl Made {
    fn new(env: &Env<'_, '_>) -> Self {
        Self {
            rows: Vec::new(),
            charge: env.core.memory.charge(),
        }
    }

    fn keep(&mut self, row: Vec<Value>) -> SqlResult<()> {
        self.charge.add(row_bytes(&row))?;
        self.rows.push(row);
        Ok(())
    }

    /// Nobody promised an order of these rows.
    fn finish(mut self, base: usize, level: usize, env: &Env<'_, '_>) -> Rows {
        if let Some(choices) = &env.core.choices {
            choices.shuffle(Question::RowOrder, &mut self.rows);
        }
        Rows::new(self.rows, base, level).charged(self.charge)
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

pub fn split(
    text: &Scalar,
    separator: &Scalar,
    base: usize,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    let text = eval(text, env)?;
    let separator = eval(separator, env)?;
    let (Value::Str(text), Value::Str(separator)) = (text, separator) else {
        return Ok(Rows::new(Vec::new(), base, level));
    };
    let mut made = Made::new(env);
    let mut ask = || env.pause();
    let steps = Steps::new(&mut ask);
    let collation = Collation::SqlLatin1CiAs;
    string_split(&text, &separator, collation, steps, |part| {
        made.keep(vec![Value::Str(part.into())])
    })?;
    Ok(made.finish(base, level, env))
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
    let mut charge = env.core.memory.charge();
    for row in rows.iter() {
        env.tick()?;
        writer.row(row, &mut |units| charge.add(units * 2))?;
    }
    drop(rows);
    let mut made = Vec::new();
    if let Some(text) = writer.finish() {
        // A text that can be shared is a copy of the one that grew.
        let bytes = text.len() * 2;
        charge.add(bytes)?;
        made.push(vec![Value::Str(text.into())]);
        charge.set(bytes)?;
    }
    Ok(Rows::new(made, base, level).charged(charge))
}
