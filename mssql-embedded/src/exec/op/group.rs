//! GROUP BY and aggregates.

use std::collections::{HashMap, HashSet};

use crate::error::SqlResult;
use crate::func::{Accumulator, Aggregate};
use crate::memory::{Charge, row_bytes};
use crate::plan::{AggregateCall, Group};
use crate::value::Value;
use crate::value::compare::encode_key;

use super::super::eval::Scope as _;
use super::super::{Env, eval};
use super::ordered::ordered;
use super::sort::sort_key;
use super::{Operator, open};

/// The groups, in the order in which they were first met.
pub struct GroupBy<'p> {
    group: &'p Group,
    results: std::vec::IntoIter<Vec<Value>>,
    level: usize,
    /// What they hold of the session's memory.
    _charge: Charge,
}

struct Entry {
    /// The grouping set it belongs to.
    set: usize,
    keys: Vec<Value>,
    states: Vec<State>,
}

/// One aggregate of one group.
struct State {
    accumulator: Accumulator,
    seen: Option<HashSet<Vec<u8>>>,
    ordered: Vec<(Vec<u8>, Vec<Value>)>,
}

impl State {
    fn new(call: &AggregateCall) -> Self {
        Self {
            accumulator: Accumulator::new(call.function, &call.arg_ty, &call.ty),
            seen: call.distinct.then(HashSet::new),
            ordered: Vec::new(),
        }
    }

    /// Adds the current row; how many bytes more are kept for it.
    fn add(&mut self, call: &AggregateCall, env: &mut Env<'_, '_>) -> SqlResult<usize> {
        let mut kept = 0;
        let mut values = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            values.push(eval(arg, env)?);
        }
        note_null(call.function, &values, env);
        if let (Some(seen), Some(first)) = (&mut self.seen, values.first()) {
            let mut key = Vec::new();
            encode_key(first, &call.arg_ty, false, &mut key);
            kept += key.len();
            if !seen.insert(key) {
                return Ok(0);
            }
        }
        if call.order.is_empty() {
            kept += self.accumulator.kept_bytes(&values);
            self.accumulator.add(&values)?;
        } else {
            let key = sort_key(&call.order, env)?;
            kept += key.len() + size_of::<(Vec<u8>, Vec<Value>)>() + row_bytes(&values);
            self.ordered.push((key, values));
        }
        Ok(kept)
    }

    fn finish(mut self, env: &mut Env<'_, '_>) -> SqlResult<Value> {
        for (_, values) in ordered(self.ordered, |a, b| a.0.cmp(&b.0), &mut || env.tick())? {
            env.tick()?;
            self.accumulator.add(&values)?;
        }
        self.accumulator.finish()
    }
}

/// Notes that an aggregate passes over a NULL.
pub(super) fn note_null(function: Aggregate, args: &[Value], env: &mut Env<'_, '_>) {
    if args.first().is_some_and(Value::is_null) && function.warns_of_null() {
        env.core.nulls_eliminated = true;
    }
}

impl<'p> GroupBy<'p> {
    /// Reads the input and groups it.
    pub fn open(group: &'p Group, level: usize, env: &mut Env<'_, '_>) -> SqlResult<Self> {
        let mut index: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        let mut charge = env.core.memory.charge();
        let mut input = open(&group.input, level, env)?;
        while input.next(env)? {
            let mut keys = Vec::with_capacity(group.keys.len());
            for (expr, _, _) in &group.keys {
                keys.push(eval(expr, env)?);
            }
            for set in 0..group.sets.len().max(1) {
                let (bytes, keys) = key_of(group, set, &keys);
                env.weigh(bytes.len())?;
                let known = entries.len();
                let states = size_of::<State>() * group.aggregates.len();
                let held = bytes.len() + row_bytes(&keys) + size_of::<Entry>() + states;
                let at = *index.entry(bytes).or_insert_with(|| {
                    entries.push(new_entry(group, set, keys));
                    entries.len() - 1
                });
                if entries.len() > known {
                    charge.add(held)?;
                }
                for (i, call) in group.aggregates.iter().enumerate() {
                    charge.add(entries[at].states[i].add(call, env)?)?;
                }
            }
        }
        if entries.is_empty() {
            let totals = (0..group.sets.len()).filter(|set| group.sets[*set].is_empty());
            let totals: Vec<usize> = if group.scalar {
                vec![0]
            } else {
                totals.collect()
            };
            let nulls = vec![Value::Null; group.keys.len()];
            entries.extend(
                totals
                    .into_iter()
                    .map(|set| new_entry(group, set, nulls.clone())),
            );
        }
        let mut results = Vec::with_capacity(entries.len());
        for entry in entries {
            env.tick()?;
            let mut row = entry.keys;
            for state in entry.states {
                row.push(state.finish(env)?);
            }
            for (keys, _) in &group.indicators {
                row.push(Value::Int(indicator(group, entry.set, keys).into()));
            }
            results.push(row);
        }
        Ok(Self {
            group,
            results: results.into_iter(),
            level,
            _charge: charge,
        })
    }
}

/// Whether a key is part of a grouping set.
fn is_in(group: &Group, set: usize, key: usize) -> bool {
    group.sets.get(set).is_none_or(|s| s.contains(&key))
}

/// What tells the groups of all sets apart, and the values of the keys: NULL for those the set leaves out.
fn key_of(group: &Group, set: usize, keys: &[Value]) -> (Vec<u8>, Vec<Value>) {
    let mut bytes = Vec::new();
    if group.sets.len() > 1 {
        bytes.extend_from_slice(&(set as u32).to_be_bytes());
    }
    let mut values = Vec::with_capacity(keys.len());
    for (i, (value, (_, ty, _))) in keys.iter().zip(&group.keys).enumerate() {
        let value = if is_in(group, set, i) {
            value.clone()
        } else {
            Value::Null
        };
        encode_key(&value, ty, false, &mut bytes);
        values.push(value);
    }
    (bytes, values)
}

/// The bits of GROUPING_ID, the first key's the highest: of 32 keys, the sign.
fn indicator(group: &Group, set: usize, keys: &[usize]) -> i32 {
    let bit = |key: &usize| i32::from(!is_in(group, set, *key));
    keys.iter().fold(0, |bits, key| (bits << 1) | bit(key))
}

fn new_entry(group: &Group, set: usize, keys: Vec<Value>) -> Entry {
    Entry {
        set,
        keys,
        states: group.aggregates.iter().map(State::new).collect(),
    }
}

impl Operator for GroupBy<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        let Some(row) = self.results.next() else {
            return Ok(false);
        };
        env.tick()?;
        let slots = self.group.keys.iter().map(|k| k.2);
        let slots = slots.chain(self.group.aggregates.iter().map(|a| a.slot));
        let slots = slots.chain(self.group.indicators.iter().map(|i| i.1));
        for (slot, value) in slots.zip(row) {
            env.set_slot(self.level, slot, value);
        }
        Ok(true)
    }
}
