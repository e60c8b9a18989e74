//! Operators that pass rows on: filter, compute, distinct.

use std::collections::HashSet;

use crate::error::SqlResult;
use crate::memory::Charge;
use crate::plan::{Cond, Scalar};
use crate::value::DataType;
use crate::value::compare::encode_key;

use super::super::eval::Scope as _;
use super::super::{Env, eval, test};
use super::Operator;

pub struct Filter<'p> {
    input: Box<dyn Operator + 'p>,
    cond: &'p Cond,
}

impl<'p> Filter<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, cond: &'p Cond) -> Self {
        Self { input, cond }
    }
}

impl Operator for Filter<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        while self.input.next(env)? {
            if test(self.cond, env)? == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Computes expressions into slots.
pub struct Compute<'p> {
    input: Box<dyn Operator + 'p>,
    exprs: &'p [(usize, Scalar)],
    level: usize,
}

impl<'p> Compute<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, exprs: &'p [(usize, Scalar)], level: usize) -> Self {
        Self {
            input,
            exprs,
            level,
        }
    }
}

impl Operator for Compute<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        if !self.input.next(env)? {
            return Ok(false);
        }
        for (slot, expr) in self.exprs {
            let value = eval(expr, env)?;
            env.set_slot(self.level, *slot, value);
        }
        Ok(true)
    }
}

pub struct Distinct<'p> {
    input: Box<dyn Operator + 'p>,
    keys: &'p [(usize, DataType)],
    level: usize,
    seen: HashSet<Vec<u8>>,
    /// What it holds of the session's memory, once it has seen a row.
    charge: Option<Charge>,
}

impl<'p> Distinct<'p> {
    /// Rows of `input` that differ in `keys`.
    pub fn new(input: Box<dyn Operator + 'p>, keys: &'p [(usize, DataType)], level: usize) -> Self {
        Self {
            input,
            keys,
            level,
            seen: HashSet::new(),
            charge: None,
        }
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        while self.input.next(env)? {
            let mut key = Vec::new();
            for (slot, ty) in self.keys {
                encode_key(env.slot(self.level, *slot), ty, false, &mut key);
            }
            env.weigh(key.len())?;
            let bytes = key.len() + std::mem::size_of::<Vec<u8>>();
            if self.seen.insert(key) {
                let charge = self.charge.get_or_insert_with(|| env.core.memory.charge());
                charge.add(bytes)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
