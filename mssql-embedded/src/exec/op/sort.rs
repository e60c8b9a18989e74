//! Order: SORT, TOP, OFFSET … FETCH.

use std::cmp::Ordering;

use crate::error::{SqlError, SqlResult};
use crate::memory::row_bytes;
use crate::plan::{Scalar, SortKey};
use crate::value::Value;
use crate::value::compare::encode_key;
use crate::value::errors::rows_not_an_integer;

use super::super::eval::Scope as _;
use super::super::{Env, eval};
use super::ordered::ordered;
use super::{Operator, Rows};

/// Reads everything, sorts it and hands it out.
pub fn sorted(
    mut input: Box<dyn Operator + '_>,
    keys: &[SortKey],
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    let mut charge = env.core.memory.charge();
    while input.next(env)? {
        let key = sort_key(keys, env)?;
        charge.add(key.len() + row_bytes(&env.rows[level]))?;
        rows.push((key, env.rows[level].clone()));
    }
    env.stats.rows_sorted += rows.len() as u64;
    let rows = ordered(rows, |a, b| a.0.cmp(&b.0), &mut || env.tick())?;
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    Ok(Rows::new(rows, 0, level).charged(charge))
}

/// The bytes that order the current row.
pub fn sort_key(keys: &[SortKey], env: &mut Env<'_, '_>) -> SqlResult<Vec<u8>> {
    let mut bytes = Vec::new();
    for key in keys {
        let value = eval(&key.expr, env)?;
        encode_key(&value, &key.ty, key.descending, &mut bytes);
    }
    env.weigh(bytes.len())?;
    Ok(bytes)
}

pub fn top<'p>(
    mut input: Box<dyn Operator + 'p>,
    count: &'p Scalar,
    percent: bool,
    ties: Option<&'p [SortKey]>,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Box<dyn Operator + 'p>> {
    if percent {
        let share = match eval(count, env)? {
            Value::Float(f) => f,
            Value::Int(n) => n as f64,
            Value::Decimal { units, scale } => units as f64 / 10f64.powi(i32::from(scale)),
            Value::Null
            | Value::Bit(_)
            | Value::Str(_)
            | Value::Bytes(_)
            | Value::Guid(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime { .. }
            | Value::DateTimeOffset { .. } => return Err(rows_not_an_integer()),
        };
        if !(0.0..=100.0).contains(&share) {
            return Err(SqlError::new(
                1031,
                "Percent values must be between 0 and 100.",
            ));
        }
        let (mut rows, charge) = super::drain(&mut *input, level, env)?;
        let keep = (rows.len() as f64 * share / 100.0).ceil() as usize;
        rows.truncate(keep);
        return Ok(Box::new(Rows::new(rows, 0, level).charged(charge)));
    }
    let left = match eval(count, env)? {
        Value::Int(n) if n >= 0 => n as u64,
        Value::Int(_) => {
            return Err(SqlError::with(
                127,
                15,
                1,
                "A TOP N or FETCH rowcount value may not be negative.",
            ));
        }
        Value::Null
        | Value::Bit(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => return Err(rows_not_an_integer()),
    };
    Ok(Box::new(Top {
        input,
        left,
        ties,
        last: None,
    }))
}

struct Top<'p> {
    input: Box<dyn Operator + 'p>,
    left: u64,
    ties: Option<&'p [SortKey]>,
    last: Option<Vec<u8>>,
}

impl Operator for Top<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        if self.left > 0 {
            self.left -= 1;
            if !self.input.next(env)? {
                self.left = 0;
                self.ties = None;
                return Ok(false);
            }
            if let (0, Some(keys)) = (self.left, self.ties) {
                self.last = Some(sort_key(keys, env)?);
            }
            return Ok(true);
        }
        let (Some(keys), Some(last)) = (self.ties, &self.last) else {
            return Ok(false);
        };
        if self.input.next(env)? && sort_key(keys, env)?.cmp(last) == Ordering::Equal {
            return Ok(true);
        }
        self.last = None;
        Ok(false)
    }
}

pub struct Offset<'p> {
    input: Box<dyn Operator + 'p>,
    skip: u64,
    left: Option<u64>,
}

impl<'p> Offset<'p> {
    /// Evaluates the two counts.
    pub fn open(
        input: Box<dyn Operator + 'p>,
        offset: &Scalar,
        fetch: Option<&Scalar>,
        env: &mut Env<'_, '_>,
    ) -> SqlResult<Self> {
        let skip = if let Value::Int(n) = eval(offset, env)?
            && n >= 0
        {
            n as u64
        } else {
            return Err(SqlError::with(
                10742,
                15,
                1,
                "The offset specified in a OFFSET clause may not be negative.",
            ));
        };
        let left = match fetch {
            None => None,
            Some(expr) => {
                if let Value::Int(n) = eval(expr, env)?
                    && n > 0
                {
                    Some(n as u64)
                } else {
                    return Err(SqlError::with(
                        10744,
                        15,
                        1,
                        "The number of rows provided for a FETCH clause must be greater then zero.",
                    ));
                }
            }
        };
        Ok(Self { input, skip, left })
    }
}

impl Operator for Offset<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        while self.skip > 0 {
            self.skip -= 1;
            if !self.input.next(env)? {
                self.left = Some(0);
                self.skip = 0;
                return Ok(false);
            }
        }
        match &mut self.left {
            Some(0) => Ok(false),
            Some(n) => {
                *n -= 1;
                self.input.next(env)
            }
            None => self.input.next(env),
        }
    }
}
