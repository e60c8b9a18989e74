//! GROUP BY and aggregates.

use std::collections::{HashMap, HashSet};

use crate::error::SqlResult;
use crate::func::Accumulator;
use crate::plan::{AggregateCall, Group};
use crate::value::Value;
use crate::value::compare::encode_key;

use super::super::{Env, eval};
use super::sort::sort_key;
use super::{Operator, open};

/// The groups, in the order in which they were first met.
pub struct GroupBy<'p> {
    group: &'p Group,
    results: std::vec::IntoIter<Vec<Value>>,
    level: usize,
}

struct Entry {
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

    fn add(&mut self, call: &AggregateCall, env: &mut Env<'_, '_>) -> SqlResult<()> {
        let mut values = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            values.push(eval(arg, env)?);
        }
        if let (Some(seen), Some(first)) = (&mut self.seen, values.first()) {
            let mut key = Vec::new();
            encode_key(first, &call.arg_ty, false, &mut key);
            if !seen.insert(key) {
                return Ok(());
            }
        }
        if call.order.is_empty() {
            self.accumulator.add(&values)
        } else {
            self.ordered.push((sort_key(&call.order, env)?, values));
            Ok(())
        }
    }

    fn finish(mut self) -> SqlResult<Value> {
        self.ordered.sort_by(|a, b| a.0.cmp(&b.0));
        for (_, values) in &self.ordered {
            self.accumulator.add(values)?;
        }
        self.accumulator.finish()
    }
}

impl<'p> GroupBy<'p> {
    /// Reads the input and groups it.
    pub fn open(group: &'p Group, level: usize, env: &mut Env<'_, '_>) -> SqlResult<Self> {
        let mut index: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        let mut input = open(&group.input, level, env)?;
        while input.next(env)? {
            let mut keys = Vec::with_capacity(group.keys.len());
            let mut bytes = Vec::new();
            for (expr, ty, _) in &group.keys {
                let value = eval(expr, env)?;
                encode_key(&value, ty, false, &mut bytes);
                keys.push(value);
            }
            let at = *index.entry(bytes).or_insert_with(|| {
                entries.push(new_entry(group, keys));
                entries.len() - 1
            });
            for (i, call) in group.aggregates.iter().enumerate() {
                entries[at].states[i].add(call, env)?;
            }
        }
        if entries.is_empty() && group.scalar {
            entries.push(new_entry(group, Vec::new()));
        }
        let mut results = Vec::with_capacity(entries.len());
        for entry in entries {
            let mut row = entry.keys;
            for state in entry.states {
                row.push(state.finish()?);
            }
            results.push(row);
        }
        Ok(Self {
            group,
            results: results.into_iter(),
            level,
        })
    }
}

fn new_entry(group: &Group, keys: Vec<Value>) -> Entry {
    Entry {
        keys,
        states: group.aggregates.iter().map(State::new).collect(),
    }
}

impl Operator for GroupBy<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        let Some(row) = self.results.next() else {
            return Ok(false);
        };
        let slots = self.group.keys.iter().map(|k| k.2);
        let slots = slots.chain(self.group.aggregates.iter().map(|a| a.slot));
        for (slot, value) in slots.zip(row) {
            env.set_slot(self.level, slot, value);
        }
        Ok(true)
    }
}
