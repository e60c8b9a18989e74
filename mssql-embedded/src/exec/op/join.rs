//! Joins.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::SqlResult;
use crate::memory::{Charge, row_bytes};
use crate::plan::{Cond, HashJoin, LoopKind, Node};
use crate::value::Value;
use crate::value::compare::encode_key;

use super::super::eval::Scope as _;
use super::super::{Env, eval, test};
use super::spooled::open_side;
use super::{Operator, drain, open};

/// Nested loops: the right side is opened anew for every row of the left.
pub struct Loop<'p> {
    kind: LoopKind,
    left: Box<dyn Operator + 'p>,
    right: &'p Node,
    on: Option<&'p Cond>,
    right_slots: Range<usize>,
    level: usize,
    current: Option<(Box<dyn Operator + 'p>, bool)>,
}

impl<'p> Loop<'p> {
    pub fn new(
        kind: LoopKind,
        left: Box<dyn Operator + 'p>,
        right: &'p Node,
        on: Option<&'p Cond>,
        right_slots: Range<usize>,
        level: usize,
    ) -> Self {
        Self {
            kind,
            left,
            right,
            on,
            right_slots,
            level,
            current: None,
        }
    }
}

impl Operator for Loop<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        loop {
            if let Some((right, matched)) = &mut self.current {
                while right.next(env)? {
                    env.tick()?;
                    if match self.on {
                        Some(cond) => test(cond, env)? == Some(true),
                        None => true,
                    } {
                        *matched = true;
                        return Ok(true);
                    }
                }
                let unmatched = self.kind == LoopKind::Left && !*matched;
                self.current = None;
                if unmatched {
                    clear(env, self.level, &self.right_slots);
                    return Ok(true);
                }
            }
            if !self.left.next(env)? {
                return Ok(false);
            }
            env.tick()?;
            let right = open_side(self.right, &self.right_slots, self.level, env)?;
            self.current = Some((right, false));
        }
    }
}

fn clear(env: &mut Env<'_, '_>, level: usize, slots: &Range<usize>) {
    env.rows[level][slots.clone()].fill(Value::Null);
}

/// Hash join: the right side is read once into a table by its keys.
pub struct Hash<'p> {
    join: &'p HashJoin,
    left: Box<dyn Operator + 'p>,
    table: HashMap<Vec<u8>, Vec<Vec<Value>>>,
    /// What the table holds of the session's memory.
    _charge: Charge,
    level: usize,
    current: Option<Current>,
}

struct Current {
    key: Vec<u8>,
    position: usize,
    matched: bool,
}

impl<'p> Hash<'p> {
    /// Reads the right side.
    pub fn open(join: &'p HashJoin, level: usize, env: &mut Env<'_, '_>) -> SqlResult<Self> {
        let mut table: HashMap<Vec<u8>, Vec<Vec<Value>>> = HashMap::new();
        let mut charge = env.core.memory.charge();
        let mut right = open(&join.right, level, env)?;
        'rows: while right.next(env)? {
            let mut key = Vec::new();
            for (_, expr, ty) in &join.keys {
                let v = eval(expr, env)?;
                if v.is_null() {
                    continue 'rows;
                }
                encode_key(&v, ty, false, &mut key);
            }
            env.weigh(key.len())?;
            let row = &env.rows[level][join.right_slots.clone()];
            charge.add(key.len() + row_bytes(row))?;
            let row = row.to_vec();
            table.entry(key).or_default().push(row);
        }
        drop(right);
        Ok(Self {
            join,
            left: open(&join.left, level, env)?,
            table,
            _charge: charge,
            level,
            current: None,
        })
    }

    fn probe(&self, env: &mut Env<'_, '_>) -> SqlResult<Current> {
        let mut key = Vec::new();
        for (expr, _, ty) in &self.join.keys {
            let v = eval(expr, env)?;
            if v.is_null() {
                // No row has this key: rows with NULL keys were left out.
                return Ok(Current {
                    key: Vec::new(),
                    position: 0,
                    matched: false,
                });
            }
            encode_key(&v, ty, false, &mut key);
        }
        env.weigh(key.len())?;
        Ok(Current {
            key,
            position: 0,
            matched: false,
        })
    }
}

impl Operator for Hash<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        loop {
            if let Some(mut current) = self.current.take() {
                let empty = Vec::new();
                let rows = self.table.get(&current.key).unwrap_or(&empty);
                while let Some(row) = rows.get(current.position) {
                    current.position += 1;
                    env.tick()?;
                    env.rows[self.level][self.join.right_slots.clone()].clone_from_slice(row);
                    let hit = match &self.join.residual {
                        Some(cond) => test(cond, env)? == Some(true),
                        None => true,
                    };
                    if hit {
                        current.matched = true;
                        self.current = Some(current);
                        return Ok(true);
                    }
                }
                if self.join.kind == LoopKind::Left && !current.matched {
                    clear(env, self.level, &self.join.right_slots);
                    return Ok(true);
                }
            }
            if !self.left.next(env)? {
                return Ok(false);
            }
            self.current = Some(self.probe(env)?);
        }
    }
}

/// FULL OUTER JOIN: every pair is tested; what found no partner comes with NULLs.
pub struct Full<'p> {
    left: Box<dyn Operator + 'p>,
    right: Vec<(Vec<Value>, bool)>,
    /// What they hold of the session's memory.
    _charge: Charge,
    on: &'p Cond,
    left_slots: Range<usize>,
    right_slots: Range<usize>,
    level: usize,
    position: Option<(usize, bool)>,
    rest: Option<usize>,
}

impl<'p> Full<'p> {
    /// Reads the right side.
    pub fn open(
        left: &'p Node,
        right: &'p Node,
        on: &'p Cond,
        slots: (Range<usize>, Range<usize>),
        level: usize,
        env: &mut Env<'_, '_>,
    ) -> SqlResult<Self> {
        let (left_slots, right_slots) = slots;
        let mut input = open(right, level, env)?;
        let (rows, charge) = drain(&mut *input, level, env)?;
        drop(input);
        let right = rows
            .into_iter()
            .map(|r| (r[right_slots.clone()].to_vec(), false))
            .collect();
        let left = open(left, level, env)?;
        Ok(Self {
            left,
            right,
            _charge: charge,
            on,
            left_slots,
            right_slots,
            level,
            position: None,
            rest: None,
        })
    }

    fn unmatched_right(&mut self, from: usize, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        for i in from..self.right.len() {
            env.tick()?;
            if !self.right[i].1 {
                clear(env, self.level, &self.left_slots);
                env.rows[self.level][self.right_slots.clone()].clone_from_slice(&self.right[i].0);
                self.rest = Some(i + 1);
                return Ok(true);
            }
        }
        self.rest = Some(self.right.len());
        Ok(false)
    }
}

impl Operator for Full<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        if let Some(from) = self.rest {
            return self.unmatched_right(from, env);
        }
        loop {
            if let Some((mut i, mut matched)) = self.position.take() {
                while i < self.right.len() {
                    env.tick()?;
                    env.rows[self.level][self.right_slots.clone()]
                        .clone_from_slice(&self.right[i].0);
                    i += 1;
                    if test(self.on, env)? == Some(true) {
                        self.right[i - 1].1 = true;
                        matched = true;
                        self.position = Some((i, matched));
                        return Ok(true);
                    }
                }
                if !matched {
                    clear(env, self.level, &self.right_slots);
                    return Ok(true);
                }
            }
            if !self.left.next(env)? {
                return self.unmatched_right(0, env);
            }
            self.position = Some((0, false));
        }
    }
}
