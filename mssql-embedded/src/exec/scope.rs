//! What expressions of a running statement read: its variables, its row buffers, its subqueries.

use crate::error::{SqlError, SqlResult};
use crate::func::{Callable, Signature};
use crate::memory::{COUNTED_BYTES, KeptRows, LARGE_BYTES, LargeValues, heap_bytes};
use crate::plan::Query;
use crate::value::Value;

use super::eval::Scope;
use super::spool::Asked;
use super::{Env, QueryRun, collect};

impl Scope for Env<'_, '_> {
    fn variable(&self, slot: usize) -> SqlResult<Value> {
        Ok(self.frame.values[slot].clone())
    }

    fn column(&self, level: usize, slot: usize) -> SqlResult<Value> {
        Ok(self.rows[level][slot].clone())
    }

    fn call(
        &mut self,
        function: Callable,
        signature: &Signature,
        args: &[Value],
    ) -> SqlResult<Value> {
        self.weigh(args.iter().map(heap_bytes).sum())?;
        let value = function.eval(self, signature, args)?;
        self.made(value)
    }

    fn room(&self, bytes: usize) -> SqlResult<()> {
        self.core.memory.room(bytes)
    }

    fn ask(&mut self) -> SqlResult<()> {
        self.pause()
    }

    fn made(&mut self, value: Value) -> SqlResult<Value> {
        let bytes = heap_bytes(&value);
        if bytes > COUNTED_BYTES {
            if bytes > LARGE_BYTES {
                self.pause()?;
            }
            let memory = &self.core.memory;
            let large = self.large.get_or_insert_with(|| LargeValues::new(memory));
            large.note(&value)?;
        }
        Ok(value)
    }

    fn subquery(&mut self, query: &Query) -> SqlResult<Value> {
        match self.spools.of_query(query, self.core, &self.rows) {
            Asked::Nothing => {}
            Asked::Rows(rows) => return only_value(&rows),
            Asked::Keep(ticket) => {
                let rows = collect(query, self)?;
                return only_value(&self.spools.keep(ticket, rows));
            }
        }
        let mut run = QueryRun::open(query, self)?;
        let mut out = Vec::with_capacity(1);
        if !run.next(self, &mut out)? {
            return Ok(Value::Null);
        }
        let value = out.swap_remove(0);
        if run.next(self, &mut out)? {
            return Err(more_than_one());
        }
        Ok(value)
    }

    fn exists(&mut self, query: &Query) -> SqlResult<bool> {
        let ticket = match self.spools.of_query(query, self.core, &self.rows) {
            Asked::Nothing => return QueryRun::open(query, self)?.advance(self),
            Asked::Rows(rows) => return Ok(!rows.is_empty()),
            Asked::Keep(ticket) => ticket,
        };
        let mut run = QueryRun::open(query, self)?;
        let mut rows = KeptRows::new(&self.core.memory);
        // What the rows hold does not matter, nor how many there are.
        while run.advance(self)? {
            if rows.is_empty() {
                rows.push(Vec::new())?;
            }
            if !ticket.is_eager {
                break;
            }
        }
        Ok(!self.spools.keep(ticket, rows).is_empty())
    }

    fn each_member(
        &mut self,
        query: &Query,
        each: &mut dyn FnMut(&Value) -> bool,
    ) -> SqlResult<()> {
        let mut to_keep = None;
        let kept = match self.spools.of_query(query, self.core, &self.rows) {
            Asked::Nothing => None,
            Asked::Rows(rows) => Some(rows),
            Asked::Keep(eager) if eager.is_eager => {
                let rows = collect(query, self)?;
                Some(self.spools.keep(eager, rows))
            }
            Asked::Keep(lazy) => {
                to_keep = Some((lazy, KeptRows::new(&self.core.memory)));
                None
            }
        };
        if let Some(kept) = kept {
            for row in kept.iter() {
                self.tick()?;
                self.weigh(heap_bytes(&row[0]))?;
                if !each(&row[0]) {
                    break;
                }
            }
            return Ok(());
        }
        let mut run = QueryRun::open(query, self)?;
        let mut out = Vec::with_capacity(1);
        while run.next(self, &mut out)? {
            self.weigh(heap_bytes(&out[0]))?;
            if !each(&out[0]) {
                return Ok(());
            }
            if let Some((_, rows)) = &mut to_keep {
                rows.push(out.clone())?;
            }
        }
        if let Some((ticket, rows)) = to_keep {
            self.spools.keep(ticket, rows);
        }
        Ok(())
    }
}

/// The value of a subquery that is used as an expression.
fn only_value(rows: &[Vec<Value>]) -> SqlResult<Value> {
    match rows {
        [] => Ok(Value::Null),
        [row] => Ok(row[0].clone()),
        _ => Err(more_than_one()),
    }
}

fn more_than_one() -> SqlError {
    SqlError::new(
        512,
        "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.",
    )
}
