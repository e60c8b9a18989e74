//! Query operators. Each fills its slots of the row buffer of its level and is pulled row by row.

mod filter_place;
mod group;
mod join;
mod ordered;
mod pass;
mod scan;
mod set;
mod sort;
mod source;
mod spooled;
mod window;

use crate::error::SqlResult;
use crate::memory::{Charge, row_bytes};
use crate::plan::Node;
use crate::value::Value;

use super::Env;
use super::spool::Shared;

pub trait Operator {
    /// Moves to the next row: true when the buffer holds one.
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool>;
}

/// Starts an operator. The row buffer of `level` is in place, and in it the slots of the operators
/// to the left of a join.
pub fn open<'p>(
    node: &'p Node,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Box<dyn Operator + 'p>> {
    Ok(match node {
        Node::Once => Box::new(source::Once::new()),
        Node::Values { rows, base } => Box::new(source::Values::new(rows, *base, level, env)),
        Node::Scan(scan) => Box::new(scan::TableScan::open(scan, level, env)?),
        Node::LocalScan(scan) => Box::new(scan::LocalTableScan::open(scan, level, env)?),
        Node::SystemView {
            view,
            database,
            base,
        } => {
            let database = database.as_deref();
            Box::new(scan::system_view(view, database, *base, level, env)?)
        }
        Node::OpenJson {
            json,
            path,
            with,
            base,
        } => Box::new(source::open_json(
            json,
            path.as_ref(),
            with.as_deref(),
            *base,
            level,
            env,
        )?),
        Node::StringSplit {
            text,
            separator,
            base,
        } => Box::new(source::split(text, separator, *base, level, env)?),
        Node::Derived { query, base } => Box::new(set::Derived::open(query, *base, level, env)?),
        Node::Recursive {
            id,
            anchor,
            recursive,
            base,
            max_recursion,
        } => Box::new(set::Recursive::open(
            *id,
            anchor,
            recursive,
            *base,
            *max_recursion,
            level,
            env,
        )?),
        Node::Working { id, base } => Box::new(set::working(*id, *base, level, env)?),
        Node::Filter { input, cond } => Box::new(pass::Filter::new(open(input, level, env)?, cond)),
        Node::Loop {
            kind,
            left,
            right,
            on,
            right_slots,
        } => Box::new(join::Loop::new(
            *kind,
            open(left, level, env)?,
            right,
            on.as_ref(),
            right_slots.clone(),
            level,
        )),
        Node::Hash(join) => Box::new(join::Hash::open(join, level, env)?),
        Node::Full {
            left,
            right,
            on,
            left_slots,
            right_slots,
        } => Box::new(join::Full::open(
            left,
            right,
            on,
            (left_slots.clone(), right_slots.clone()),
            level,
            env,
        )?),
        Node::Compute { input, exprs } => {
            Box::new(pass::Compute::new(open(input, level, env)?, exprs, level))
        }
        Node::Group(group) => Box::new(group::GroupBy::open(group, level, env)?),
        Node::Window { input, functions } => Box::new(window::open_window(
            open(input, level, env)?,
            functions,
            level,
            env,
        )?),
        Node::Distinct { input, keys } => {
            Box::new(pass::Distinct::new(open(input, level, env)?, keys, level))
        }
        Node::Sort { input, keys } => {
            Box::new(sort::sorted(open(input, level, env)?, keys, level, env)?)
        }
        Node::Top {
            input,
            count,
            percent,
            ties,
        } => {
            let input = open(input, level, env)?;
            sort::top(input, count, *percent, ties.as_deref(), level, env)?
        }
        Node::Offset {
            input,
            offset,
            fetch,
        } => {
            let input = open(input, level, env)?;
            Box::new(sort::Offset::open(input, offset, fetch.as_ref(), env)?)
        }
        Node::Concat { inputs, base } => Box::new(set::Concat::new(inputs, *base, level)),
        Node::Set {
            op,
            left,
            right,
            base,
            types,
        } => Box::new(set::set_operator(
            *op, left, right, *base, types, level, env,
        )?),
        Node::ForJson {
            query,
            format,
            base,
        } => Box::new(source::for_json(query, format, *base, level, env)?),
    })
}

/// Rows that were computed ahead and are handed out one by one, into the slots from `base`.
pub struct Rows {
    rows: std::vec::IntoIter<Vec<Value>>,
    base: usize,
    level: usize,
    /// What they hold of the session's memory.
    _charge: Option<Charge>,
}

impl Rows {
    /// Rows for the slots from `base` of `level`.
    pub fn new(rows: Vec<Vec<Value>>, base: usize, level: usize) -> Self {
        Self {
            rows: rows.into_iter(),
            base,
            level,
            _charge: None,
        }
    }

    /// The same rows with what they hold of the session's memory.
    pub fn charged(self, charge: Charge) -> Self {
        Self {
            _charge: Some(charge),
            ..self
        }
    }
}

impl Operator for Rows {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        let Some(row) = self.rows.next() else {
            return Ok(false);
        };
        env.tick()?;
        let buffer = &mut env.rows[self.level];
        for (i, value) in row.into_iter().enumerate() {
            buffer[self.base + i] = value;
        }
        Ok(true)
    }
}

/// Hands out rows that others may be reading as well, into the slots from `base`.
pub struct SharedRows {
    rows: Shared,
    next: usize,
    base: usize,
    level: usize,
}

impl SharedRows {
    /// Rows for the slots from `base` of `level`.
    pub fn new(rows: Shared, base: usize, level: usize) -> Self {
        Self {
            rows,
            next: 0,
            base,
            level,
        }
    }
}

impl Operator for SharedRows {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        let Some(row) = self.rows.get(self.next) else {
            return Ok(false);
        };
        env.tick()?;
        self.next += 1;
        env.rows[self.level][self.base..self.base + row.len()].clone_from_slice(row);
        Ok(true)
    }
}

/// Pulls everything from an operator and returns copies of the whole buffer, and what they hold of the
/// session's memory.
pub fn drain(
    input: &mut dyn Operator,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<(Vec<Vec<Value>>, Charge)> {
    let mut rows = Vec::new();
    let mut charge = env.core.memory.charge();
    while input.next(env)? {
        charge.add(row_bytes(&env.rows[level]))?;
        rows.push(env.rows[level].clone());
    }
    Ok((rows, charge))
}
