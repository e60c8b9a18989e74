//! Running a query: its buffer, its operators, its outputs.

use crate::error::SqlResult;
use crate::interrupt::{Interrupt, interrupt_error};
use crate::memory::{KeptRows, heap_bytes};
use crate::plan::{Node, Query, Scalar};
use crate::value::Value;

use super::op::{self, Operator};
use super::{Env, eval};

/// A query in progress. It keeps its row buffer to itself and lends it to the environment while it
/// runs, because another query of the same level may run in between (two derived tables in a join).
pub struct QueryRun<'p> {
    query: &'p Query,
    buffer: Vec<Value>,
    root: Box<dyn Operator + 'p>,
}

impl<'p> QueryRun<'p> {
    pub fn open(query: &'p Query, env: &mut Env<'_, '_>) -> SqlResult<Self> {
        let mut buffer = vec![Value::Null; query.width];
        lend(env, query.level, &mut buffer);
        let root = op::open(&query.root, query.level, env);
        lend(env, query.level, &mut buffer);
        Ok(Self {
            query,
            buffer,
            root: root?,
        })
    }

    /// Moves to the next row without computing the outputs.
    pub fn advance(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        env.tick()?;
        lend(env, self.query.level, &mut self.buffer);
        let found = self.root.next(env);
        lend(env, self.query.level, &mut self.buffer);
        found
    }

    /// Moves to the next row and computes the outputs into `out`.
    pub fn next(&mut self, env: &mut Env<'_, '_>, out: &mut Vec<Value>) -> SqlResult<bool> {
        env.tick()?;
        lend(env, self.query.level, &mut self.buffer);
        let found = self.step(env, out);
        lend(env, self.query.level, &mut self.buffer);
        found
    }

    /// Moves to the next row and runs `f` while the buffer is in place.
    pub fn next_with<T>(
        &mut self,
        env: &mut Env<'_, '_>,
        f: impl FnOnce(&mut Env<'_, '_>) -> SqlResult<T>,
    ) -> SqlResult<Option<T>> {
        env.tick()?;
        lend(env, self.query.level, &mut self.buffer);
        let result = match self.root.next(env) {
            Ok(true) => f(env).map(Some),
            Ok(false) => Ok(None),
            Err(e) => Err(e),
        };
        lend(env, self.query.level, &mut self.buffer);
        result
    }

    fn step(&mut self, env: &mut Env<'_, '_>, out: &mut Vec<Value>) -> SqlResult<bool> {
        if !self.root.next(env)? {
            return Ok(false);
        }
        out.clear();
        for expr in &self.query.output {
            out.push(eval(expr, env)?);
        }
        Ok(true)
    }
}

/// Swaps a buffer in or out of the environment.
fn lend(env: &mut Env<'_, '_>, level: usize, buffer: &mut Vec<Value>) {
    if env.rows.len() <= level {
        env.rows.resize_with(level + 1, Vec::new);
    }
    std::mem::swap(&mut env.rows[level], buffer);
}

/// Runs a query to its end and returns its rows.
pub fn collect(query: &Query, env: &mut Env<'_, '_>) -> SqlResult<KeptRows> {
    collect_first(query, None, env)
}

/// Runs a query until it has returned so many rows.
pub fn collect_first(
    query: &Query,
    limit: Option<usize>,
    env: &mut Env<'_, '_>,
) -> SqlResult<KeptRows> {
    let mut rows = KeptRows::new(&env.core.memory);
    collect_into(query, limit, env, &mut rows)?;
    Ok(rows)
}

/// How much of a result is gathered before it is sent.
const PAGE_BYTES: usize = 256 << 10;

/// Runs a query until it has returned `limit` rows, or to its end. When many have gathered in `rows` they are sent, so that
/// a long result needs no memory; how many were sent is in `sent`. What is left over is in `rows`, when the
/// query fails too.
pub fn stream(
    query: &Query,
    limit: Option<usize>,
    env: &mut Env<'_, '_>,
    rows: &mut KeptRows,
    sent: &mut usize,
) -> SqlResult<()> {
    // A sort comes before all outputs: if one of them fails, no row may have been sent.
    let plain = |output: &Scalar| matches!(output, Scalar::Slot { .. } | Scalar::Const(_));
    if sorts(&query.root) && !query.output.iter().all(plain) {
        return collect_into(query, limit, env, rows);
    }
    let mut run = QueryRun::open(query, env)?;
    let mut out = Vec::with_capacity(query.output.len());
    let mut bytes = 0;
    while within(limit, *sent + rows.len()) && run.next(env, &mut out)? {
        bytes += size_of_val(&out[..]) + out.iter().map(heap_bytes).sum::<usize>();
        rows.push(std::mem::replace(
            &mut out,
            Vec::with_capacity(query.output.len()),
        ))?;
        if bytes > PAGE_BYTES {
            bytes = 0;
            env.latch.release();
            if !(env.send)(&query.columns, rows) {
                return Err(interrupt_error(Interrupt::Disconnected));
            }
            *sent += rows.len();
            rows.clear();
        }
    }
    Ok(())
}

/// Runs a query until it has returned `limit` rows, or to its end, and adds them to `rows`. When it fails, those that came before the
/// error stay there, unless the query sorts: a sort computes every row before it gives the first.
pub fn collect_into(
    query: &Query,
    limit: Option<usize>,
    env: &mut Env<'_, '_>,
    rows: &mut KeptRows,
) -> SqlResult<()> {
    let result = gather(query, limit, env, rows);
    if result.is_err() && sorts(&query.root) {
        rows.clear();
    }
    result
}

/// Whether all rows are there before the first one is given.
fn sorts(node: &Node) -> bool {
    match node {
        Node::Sort { .. } => true,
        Node::Filter { input, .. }
        | Node::Compute { input, .. }
        | Node::Top { input, .. }
        | Node::Offset { input, .. } => sorts(input),
        Node::Once
        | Node::Values { .. }
        | Node::Scan(_)
        | Node::LocalScan(_)
        | Node::SystemView { .. }
        | Node::OpenJson { .. }
        | Node::StringSplit { .. }
        | Node::Derived { .. }
        | Node::Recursive { .. }
        | Node::Working { .. }
        | Node::Loop { .. }
        | Node::Hash(_)
        | Node::Full { .. }
        | Node::Group(_)
        | Node::Window { .. }
        | Node::Distinct { .. }
        | Node::Concat { .. }
        | Node::Set { .. }
        | Node::ForJson { .. } => false,
    }
}

fn gather(
    query: &Query,
    limit: Option<usize>,
    env: &mut Env<'_, '_>,
    rows: &mut KeptRows,
) -> SqlResult<()> {
    let mut run = QueryRun::open(query, env)?;
    let mut out = Vec::with_capacity(query.output.len());
    while within(limit, rows.len()) && run.next(env, &mut out)? {
        rows.push(std::mem::replace(
            &mut out,
            Vec::with_capacity(query.output.len()),
        ))?;
    }
    Ok(())
}

/// Whether one row more than so many is wanted; without a limit always.
pub(super) fn within(limit: Option<usize>, rows: usize) -> bool {
    limit.is_none_or(|limit| rows < limit)
}
