//! Sessions against one engine, each on a thread of its own where it must wait.

mod application;
mod changes;
mod deadlocks;
mod dequeue;
mod indexes;
mod ranges;
mod reads;
mod versions;

use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::*;
use crate::catalog::{AccessPath, TableDef};
use crate::clock::Clock;
use crate::error::SqlResult;
use crate::interrupt::Interrupt;
use crate::lock::{LockInfo, LockOwner};
use crate::storage::fixtures::{heap, index, ints, keyed};
use crate::storage::{Key, Row, State};
use crate::value::Value;

/// How long a test waits for something that must happen.
const DEADLINE: Duration = Duration::from_secs(20);

/// What sessions share, as far as this layer knows it.
#[derive(Default)]
struct Engine {
    state: Mutex<State>,
    clock: Clock,
}

impl Engine {
    fn latch(&self) -> Latch<'_> {
        Latch::new(&self.state, &self.clock)
    }
}

/// A session without a client.
struct Session<'e> {
    engine: &'e Engine,
    owner: LockOwner,
    txn: Option<Txn>,
    stats: Stats,
    timeout: Option<Duration>,
    priority: i32,
    interrupt: Option<Interrupt>,
}

impl<'e> Session<'e> {
    fn new(engine: &'e Engine, owner: LockOwner) -> Self {
        Self {
            engine,
            owner,
            txn: None,
            stats: Stats::default(),
            timeout: None,
            priority: 0,
            interrupt: None,
        }
    }

    /// Does something inside the session's transaction, beginning one if there is none, as one
    /// statement.
    fn run<T>(&mut self, work: impl FnOnce(&mut Access<'_, '_>) -> T) -> T {
        let mut latch = self.engine.latch();
        let owner = self.owner;
        let txn = self.txn.get_or_insert_with(|| latch.begin(owner));
        let interrupt = self.interrupt;
        let mut a = Access {
            latch: &mut latch,
            txn,
            owner,
            lock_timeout: self.timeout,
            deadlock_priority: self.priority,
            interrupted: &mut || interrupt,
            stats: &mut self.stats,
            choices: None,
            optimized: false,
            writing: Vec::new(),
        };
        let result = work(&mut a);
        a.latch.locks.end_statement(owner);
        result
    }

    fn commit(&mut self) {
        if let Some(txn) = self.txn.take() {
            txn.commit(&mut self.engine.state.lock());
        }
    }

    fn rollback(&mut self) {
        if let Some(txn) = self.txn.take() {
            txn.rollback(&mut self.engine.state.lock());
        }
    }

    fn insert(&mut self, table: &Arc<TableDef>, values: &[i64]) -> SqlResult<InsertOutcome> {
        self.run(|a| insert(a, table, ints(values), &mut all))
    }

    /// The rows of an index in a mode, in order.
    fn scan(
        &mut self,
        table: &Arc<TableDef>,
        index: usize,
        mode: ReadMode,
    ) -> SqlResult<Vec<Vec<i64>>> {
        self.run(|a| {
            let (low, high) = (Bound::Unbounded, Bound::Unbounded);
            drain(
                a,
                Cursor::open(table, AccessPath::Index(index), low, high, false, mode),
            )
        })
    }

    /// The rows whose first key column of an index is `key`.
    fn seek(
        &mut self,
        table: &Arc<TableDef>,
        index: usize,
        key: i64,
        mode: ReadMode,
    ) -> SqlResult<Vec<Vec<i64>>> {
        self.run(|a| {
            let (low, high) = seek_bounds(table, index, &[Value::Int(key)], None, None);
            drain(
                a,
                Cursor::open(table, AccessPath::Index(index), low, high, false, mode),
            )
        })
    }

    /// UPDATE … WHERE the first key column of an index is `key`.
    fn set(
        &mut self,
        table: &Arc<TableDef>,
        index: usize,
        key: i64,
        new: &[i64],
    ) -> SqlResult<usize> {
        self.run(|a| {
            let found = find(a, table, index, key)?;
            let changes = found
                .into_iter()
                .map(|k| (k, ints(new)))
                .collect::<Vec<_>>();
            update_all(a, table, changes, &mut all).map(|moved| moved.len())
        })
    }

    /// DELETE … WHERE the first key column of an index is `key`.
    fn remove(&mut self, table: &Arc<TableDef>, index: usize, key: i64) -> SqlResult<usize> {
        self.run(|a| {
            let found = find(a, table, index, key)?;
            for locator in &found {
                delete(a, table, locator, &mut all)?;
            }
            Ok(found.len())
        })
    }

    fn locks(&self) -> Vec<LockInfo> {
        self.engine.state.lock().locks.held_by(self.owner)
    }

    /// Kind and mode of what is held, sorted.
    fn lock_modes(&self) -> Vec<String> {
        let mut modes: Vec<String> = self
            .locks()
            .iter()
            .map(|l| format!("{} {}", l.resource.kind(), l.mode))
            .collect();
        modes.sort();
        modes
    }
}

impl Drop for Session<'_> {
    /// What a lost connection does.
    fn drop(&mut self) {
        self.rollback();
        self.engine.state.lock().locks.end_session(self.owner);
    }
}

fn all(_: usize, _: &Row) -> SqlResult<bool> {
    Ok(true)
}

fn find(
    a: &mut Access<'_, '_>,
    table: &Arc<TableDef>,
    index: usize,
    key: i64,
) -> SqlResult<Vec<Key>> {
    let (low, high) = seek_bounds(table, index, &[Value::Int(key)], None, None);
    let mut cursor = Cursor::open(
        table,
        AccessPath::Index(index),
        low,
        high,
        false,
        ReadMode::of(ReadLock::Update),
    );
    let mut found = Vec::new();
    while let Some(row) = cursor.next(a)? {
        found.push(row.locator);
    }
    Ok(found)
}

fn drain(a: &mut Access<'_, '_>, mut cursor: Cursor) -> SqlResult<Vec<Vec<i64>>> {
    let mut rows = Vec::new();
    while let Some(found) = cursor.next(a)? {
        rows.push(numbers(&found.row));
    }
    Ok(rows)
}

fn numbers(row: &Row) -> Vec<i64> {
    row.iter()
        .map(|v| if let Value::Int(n) = v { *n } else { -1 })
        .collect()
}

/// An engine that has the table with the rows `(n, n * 10, 0)` for n in 1..=count.
fn engine(table: &Arc<TableDef>, count: i64) -> Engine {
    let engine = Engine::default();
    let mut session = Session::new(&engine, 1);
    session.run(|a| {
        let txn = &mut *a.txn;
        a.latch.store.create_table(txn, table);
    });
    for n in 1..=count {
        session.insert(table, &[n, n * 10, 0]).unwrap();
    }
    session.commit();
    drop(session);
    engine
}

/// Waits until the shared state satisfies a condition.
#[track_caller]
fn eventually(engine: &Engine, what: &str, mut condition: impl FnMut(&State) -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !condition(&engine.state.lock()) {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::yield_now();
    }
}

#[track_caller]
fn eventually_waits(engine: &Engine, owner: LockOwner) {
    eventually(engine, "a session waits", |state| {
        state.locks.is_waiting(owner)
    });
}

/// Nobody holds or awaits anything.
#[track_caller]
fn assert_no_locks(engine: &Engine) {
    let state = engine.state.lock();
    assert!(state.locks.list().is_empty(), "{:?}", state.locks.list());
}

const DIRTY: ReadMode = plain(ReadLock::None);
const SHARED: ReadMode = plain(ReadLock::Shared);
/// UPDLOCK.
const UPDLOCK: ReadMode = ReadMode {
    hold: true,
    ..plain(ReadLock::Update)
};
/// UPDLOCK, READPAST.
const DEQUEUE: ReadMode = ReadMode {
    readpast: true,
    ..UPDLOCK
};
/// HOLDLOCK, or SERIALIZABLE.
const SERIAL: ReadMode = ReadMode {
    range: true,
    ..plain(ReadLock::Shared)
};

const fn plain(lock: ReadLock) -> ReadMode {
    ReadMode {
        lock,
        hold: false,
        range: false,
        readpast: false,
        nowait: false,
        grain: Grain::Row,
        keep: false,
        qualify_first: false,
    }
}
