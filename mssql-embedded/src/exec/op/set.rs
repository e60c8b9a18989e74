//! Queries inside queries: derived tables, UNION ALL, EXCEPT, INTERSECT, recursive CTEs.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::ast::SetOp;
use crate::error::{SqlError, SqlResult};
use crate::memory::{Charge, KeptRows};
use crate::plan::Query;
use crate::value::compare::encode_key;
use crate::value::{DataType, Value};

use super::super::eval::Scope as _;
use super::super::{Env, QueryRun, collect};
use super::{Operator, Rows, Shared, SharedRows};

/// A derived table: the outputs of a query, copied into slots.
pub struct Derived<'p> {
    run: QueryRun<'p>,
    out: Vec<Value>,
    base: usize,
    level: usize,
}

impl<'p> Derived<'p> {
    pub fn open(
        query: &'p Query,
        base: usize,
        level: usize,
        env: &mut Env<'_, '_>,
    ) -> SqlResult<Self> {
        Ok(Self {
            run: QueryRun::open(query, env)?,
            out: Vec::new(),
            base,
            level,
        })
    }
}

impl Operator for Derived<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        if !self.run.next(env, &mut self.out)? {
            return Ok(false);
        }
        let buffer = &mut env.rows[self.level];
        for (i, value) in self.out.drain(..).enumerate() {
            buffer[self.base + i] = value;
        }
        Ok(true)
    }
}

/// UNION ALL.
pub struct Concat<'p> {
    inputs: std::slice::Iter<'p, Query>,
    current: Option<Derived<'p>>,
    base: usize,
    level: usize,
}

impl<'p> Concat<'p> {
    /// One after the other.
    pub fn new(inputs: &'p [Query], base: usize, level: usize) -> Self {
        Self {
            inputs: inputs.iter(),
            current: None,
            base,
            level,
        }
    }
}

impl Operator for Concat<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        loop {
            if let Some(current) = &mut self.current
                && current.next(env)?
            {
                return Ok(true);
            }
            let Some(query) = self.inputs.next() else {
                return Ok(false);
            };
            self.current = Some(Derived::open(query, self.base, self.level, env)?);
        }
    }
}

fn row_key(row: &[Value], types: &[DataType]) -> Vec<u8> {
    let mut key = Vec::new();
    for (value, ty) in row.iter().zip(types) {
        encode_key(value, ty, false, &mut key);
    }
    key
}

/// EXCEPT and INTERSECT, which also remove duplicates; NULL equals NULL here.
pub fn set_operator(
    op: SetOp,
    left: &Query,
    right: &Query,
    base: usize,
    types: &[DataType],
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    let mut charge = env.core.memory.charge();
    let mut note = |keys: &mut HashSet<Vec<u8>>, key: Vec<u8>| {
        let bytes = key.len() + size_of::<Vec<u8>>();
        let is_new = keys.insert(key);
        if is_new {
            charge.add(bytes)?;
        }
        SqlResult::Ok(is_new)
    };
    let mut others = HashSet::new();
    for row in collect(right, env)? {
        env.tick()?;
        let key = row_key(&row, types);
        env.weigh(key.len())?;
        note(&mut others, key)?;
    }
    let mut seen = HashSet::new();
    let mut rows = KeptRows::new(&env.core.memory);
    for row in collect(left, env)? {
        env.tick()?;
        let key = row_key(&row, types);
        env.weigh(key.len())?;
        let wanted = match op {
            SetOp::Except => !others.contains(&key),
            SetOp::Intersect => others.contains(&key),
            SetOp::Union => true,
        };
        if wanted && note(&mut seen, key)? {
            rows.push(row)?;
        }
    }
    let (rows, charge) = rows.into_parts();
    Ok(Rows::new(rows, base, level).charged(charge))
}

/// A recursive CTE: each step reads the rows of the one before, until one yields nothing.
pub struct Recursive {
    steps: std::vec::IntoIter<Shared>,
    current: SharedRows,
    base: usize,
    level: usize,
    /// What the rows of all steps hold of the session's memory.
    _charge: Charge,
}

/// What a step takes besides its rows.
const BYTES_PER_STEP: usize = size_of::<Shared>() + size_of::<Vec<Vec<Value>>>();

impl Recursive {
    pub fn open(
        id: usize,
        anchor: &Query,
        recursive: &[Query],
        base: usize,
        max_recursion: Option<NonZeroU32>,
        level: usize,
        env: &mut Env<'_, '_>,
    ) -> SqlResult<Self> {
        let (rows, mut charge) = collect(anchor, env)?.into_parts();
        let mut step = Arc::new(rows);
        let mut steps = Vec::new();
        let mut depth = 0;
        while !step.is_empty() {
            if let Some(limit) = max_recursion
                && depth >= limit.get()
            {
                // The step beyond the limit fails only if it yields a row.
                let next = run_step(id, recursive, &step, env)?;
                if next.is_empty() {
                    steps.push(step);
                    break;
                }
                return Err(SqlError::new(
                    530,
                    format!(
                        "The statement terminated. The maximum recursion {limit} has been exhausted before statement completion."
                    ),
                ));
            }
            let (next, of_next) = run_step(id, recursive, &step, env)?.into_parts();
            charge.take_over(of_next);
            charge.add(BYTES_PER_STEP)?;
            steps.push(std::mem::replace(&mut step, Arc::new(next)));
            depth += 1;
        }
        Ok(Self {
            steps: steps.into_iter(),
            current: SharedRows::new(Shared::default(), base, level),
            base,
            level,
            _charge: charge,
        })
    }
}

impl Operator for Recursive {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        while !self.current.next(env)? {
            let Some(step) = self.steps.next() else {
                return Ok(false);
            };
            self.current = SharedRows::new(step, self.base, self.level);
        }
        Ok(true)
    }
}

fn run_step(
    id: usize,
    recursive: &[Query],
    step: &Shared,
    env: &mut Env<'_, '_>,
) -> SqlResult<KeptRows> {
    env.working.push((id, Arc::clone(step)));
    let mut next = KeptRows::new(&env.core.memory);
    let mut outcome = Ok(());
    for query in recursive {
        match collect(query, env) {
            Ok(rows) => next.append(rows),
            Err(e) => {
                outcome = Err(e);
                break;
            }
        }
    }
    env.working.pop();
    outcome.map(|()| next)
}

/// The rows of the previous step.
pub fn working(
    id: usize,
    base: usize,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<SharedRows> {
    let rows = env
        .working
        .iter()
        .rev()
        .find(|(i, _)| *i == id)
        .map(|(_, rows)| Arc::clone(rows));
    let rows = rows.ok_or_else(|| SqlError::internal("a recursive reference outside its CTE"))?;
    Ok(SharedRows::new(rows, base, level))
}
