//! What expressions of a running statement read: its variables, its row buffers, its subqueries.

use crate::error::{SqlError, SqlResult};
use crate::func::{Callable, Signature};
use crate::memory::heap_bytes;
use crate::plan::Query;
use crate::value::Value;

use super::eval::Scope;
use super::{Env, QueryRun};

/// Smaller values come and go without being counted.
const LARGE_BYTES: usize = 64 << 10;

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
        let value = function.eval(self, signature, args)?;
        self.made(value)
    }

    fn ask(&mut self) -> SqlResult<()> {
        self.pause()
    }

    fn made(&mut self, value: Value) -> SqlResult<Value> {
        let bytes = heap_bytes(&value);
        if bytes > LARGE_BYTES {
            self.core.memory.room(bytes)?;
        }
        Ok(value)
    }

    fn subquery(&mut self, query: &Query) -> SqlResult<Value> {
        let mut run = QueryRun::open(query, self)?;
        let mut out = Vec::with_capacity(1);
        if !run.next(self, &mut out)? {
            return Ok(Value::Null);
        }
        let value = out.swap_remove(0);
        if run.next(self, &mut out)? {
            return Err(SqlError::new(
                512,
                "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.",
            ));
        }
        Ok(value)
    }

    fn exists(&mut self, query: &Query) -> SqlResult<bool> {
        QueryRun::open(query, self)?.advance(self)
    }

    fn each_member(
        &mut self,
        query: &Query,
        each: &mut dyn FnMut(&Value) -> bool,
    ) -> SqlResult<()> {
        let mut run = QueryRun::open(query, self)?;
        let mut out = Vec::with_capacity(1);
        while run.next(self, &mut out)? {
            if !each(&out[0]) {
                break;
            }
        }
        Ok(())
    }
}
