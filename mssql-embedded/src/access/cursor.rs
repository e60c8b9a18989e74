//! Reading rows in the order of an index under the lock protocol.

mod unlocked;

use std::ops::Bound;
use std::sync::Arc;

use super::acquire::{Acquired, Patience, RowLock};
use super::tree::{Tree, entry_chain, row_chain};
use super::{Access, ReadLock, ReadMode, errors};
use crate::adversary::Grain;
use crate::catalog::{AccessPath, TableDef};
use crate::error::SqlResult;
use crate::lock::{Grip, Mode, Resource, Span};
use crate::storage::{Chain, Found, Key, TxnId};

/// A position in an index of a table. It remembers keys, never references, so others may have the latch
/// between two calls.
#[derive(Debug)]
pub struct Cursor {
    pub(super) table: Arc<TableDef>,
    tree: Tree,
    /// The position of a nonclustered index in the definition.
    pub(super) index: Option<usize>,
    low: Bound<Key>,
    high: Bound<Key>,
    reverse: bool,
    mode: ReadMode,
    /// Both bounds are the same key, so at most one row can be found.
    point: bool,
    covering: bool,
    state: Progress,
    /// The locks the present row took: its index key and that key's page, then the row itself and its page.
    grips: [Option<Grip>; 4],
    /// Where it began to read, if rows are looked at before they are locked.
    pub(super) bounds: Option<(Bound<Key>, Bound<Key>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Unopened,
    Reading,
    Finished,
}

/// What became of the lock on a key or row.
pub(super) enum Locked {
    /// It is held, and nobody else had the latch meanwhile.
    AtOnce,
    /// It is held, after others had the latch.
    AfterWait,
    /// READPAST steps over it.
    Not,
    /// It is not held: a transaction that had written the row has ended, so look again.
    Later,
}

/// What became of a key the cursor came to.
enum Visit {
    Found(Found),
    /// Not to be returned; go on behind it.
    Skip,
    /// Others changed something while the cursor waited; look again from where it was.
    Again,
}

impl Cursor {
    /// A cursor over the keys between two bounds. Nothing is locked before the first [`Cursor::next`].
    pub fn open(
        table: &Arc<TableDef>,
        path: AccessPath,
        low: Bound<Vec<u8>>,
        high: Bound<Vec<u8>>,
        reverse: bool,
        mode: ReadMode,
    ) -> Self {
        let (low, high) = (low.map(Key::from), high.map(Key::from));
        let point = matches!((&low, &high), (Bound::Included(l), Bound::Included(h)) if l == h);
        Self {
            table: Arc::clone(table),
            tree: Tree::of(table, path),
            index: match path {
                AccessPath::Index(at) => {
                    (table.indexes.get(at)).and_then(|index| (!index.clustered).then_some(at))
                }
                AccessPath::Heap => None,
            },
            bounds: (mode.qualify_first).then(|| (low.clone(), high.clone())),
            low,
            high,
            reverse,
            mode,
            point,
            covering: false,
            state: Progress::Unopened,
            grips: [const { None }; 4],
        }
    }

    /// A cursor on the one row at a locator.
    #[cfg(test)]
    pub fn at(table: &Arc<TableDef>, locator: &Key, mode: ReadMode) -> Self {
        let key = locator.to_vec();
        let (low, high) = (Bound::Included(key.clone()), Bound::Included(key));
        Self::open(table, AccessPath::Heap, low, high, false, mode)
    }

    /// The query needs nothing but key and INCLUDE columns of the nonclustered index: the row itself is
    /// not locked, as SQL Server does not visit it. Other columns of the rows found may be
    /// uncommitted.
    #[must_use]
    pub fn covering(mut self) -> Self {
        self.covering = !self.tree.holds_rows();
        self
    }

    /// Rows of a nonclustered index are not looked up before [`Cursor::requalify`] asks for them: what is found
    /// is good for the columns of the index.
    #[must_use]
    pub fn entries_first(mut self) -> Self {
        self.bounds = Some((self.low.clone(), self.high.clone()));
        self.covering()
    }

    /// Reads on to the next row of the range that the mode lets through, waiting for it where it is locked.
    ///
    /// The locks of the row before are released if they were only S and the row was copied; U locks taken in search of rows to
    /// change stay until the statement ends, since the change may come after the search.
    ///
    /// # Errors
    ///
    /// 1205, 1222, 3960, 3961, or the error of an interrupt.
    pub fn next(&mut self, a: &mut Access<'_, '_>) -> SqlResult<Option<Found>> {
        self.close(a);
        if self.state == Progress::Unopened {
            self.start(a)?;
        }
        if let Some(snapshot) = self.unlocked(a) {
            return self.next_unlocked(a, snapshot);
        }
        while self.state == Progress::Reading {
            a.give_way()?;
            let mut ghosts = 0;
            let key = self.first_key(a, &mut ghosts)?;
            a.stats.ghosts_read += ghosts;
            let Some(key) = key else {
                self.finish(a)?;
                continue;
            };
            a.stats.rows_read += 1;
            match self.visit(a, &key)? {
                Visit::Found(found) => {
                    self.pass(&key);
                    if self.point {
                        self.state = Progress::Finished;
                    }
                    return Ok(Some(found));
                }
                Visit::Skip => self.pass(&key),
                Visit::Again => {}
            }
        }
        Ok(None)
    }

    /// The row did not qualify: its locks are released, whatever their kind, except range locks.
    pub fn reject(&mut self, a: &mut Access<'_, '_>) {
        if !self.mode.range {
            self.release(a);
        }
    }

    /// Leaves the present row, or ends the scan early: an S lock that need not be held is released. One that is kept is
    /// nobody's from here on, and released with the statement.
    pub fn close(&mut self, a: &mut Access<'_, '_>) {
        let ReadMode {
            lock,
            hold,
            range,
            keep,
            ..
        } = self.mode;
        if lock == ReadLock::Shared && !(hold || range || keep) {
            self.release(a);
        } else {
            self.grips = [const { None }; 4];
        }
    }

    pub(super) fn release(&mut self, a: &mut Access<'_, '_>) {
        for grip in self.grips.iter_mut().rev().filter_map(Option::take) {
            a.release(&grip);
        }
    }

    /// Locks the table as the mode demands.
    fn start(&mut self, a: &mut Access<'_, '_>) -> SqlResult<()> {
        self.state = Progress::Reading;
        if self.mode.range && self.tree.is_heap() {
            // A heap has no keys to lock the gaps of.
            self.mode.grain = Grain::Table;
        }
        self.mode.hold |= self.mode.range;
        let mode = match (self.mode.lock, self.mode.grain == Grain::Table) {
            (ReadLock::None | ReadLock::Snapshot(_), _) => Mode::SCH_S,
            (ReadLock::Shared, false) => Mode::IS,
            (ReadLock::Shared, true) => Mode::S,
            (ReadLock::Update | ReadLock::Exclusive, false) => Mode::IX,
            (ReadLock::Update | ReadLock::Exclusive, true) => Mode::X,
        };
        // An exclusive lock stays until the transaction ends, whoever asked for it.
        let span = if mode == Mode::X || self.mode.hold && mode != Mode::SCH_S {
            Span::Transaction
        } else {
            Span::Brief
        };
        let patience = if self.mode.nowait {
            Patience::Fail
        } else {
            Patience::Wait
        };
        a.acquire(&Resource::Object(self.table.id), mode, span, patience)?;
        if let Some(Some(snapshot)) = self.unlocked(a)
            && a.latch
                .store
                .table(self.table.id)
                .is_some_and(|table| table.altered > snapshot)
        {
            return Err(errors::definition_changed(&self.table));
        }
        if self.reverse && self.mode.range && self.unlocked(a).is_none() {
            while self.lock_end(a)? {}
        }
        Ok(())
    }

    /// The next key; how many dead ones come before it is added to `ghosts`.
    fn first_key(&self, a: &mut Access<'_, '_>, ghosts: &mut u64) -> SqlResult<Option<Key>> {
        let range = (as_slice(&self.low), as_slice(&self.high));
        let store = &a.latch.store;
        (self.tree).first(store, range, self.reverse, ghosts, a.interrupted)
    }

    /// Whether the next key is another one, after others had the latch.
    fn key_changed(&self, a: &mut Access<'_, '_>, key: &Key) -> SqlResult<bool> {
        Ok(self.first_key(a, &mut 0)?.as_ref() != Some(key))
    }

    fn is_ghost(&self, a: &Access<'_, '_>, key: &Key) -> bool {
        if self.tree.holds_rows() {
            row_chain(&a.latch.store, self.table.id, key).is_some_and(Chain::is_dead)
        } else {
            entry_chain(&a.latch.store, self.tree, key).is_some_and(Chain::is_dead)
        }
    }

    /// Locks a key and, unless the index covers the query, its row; then looks whether there is
    /// something to return.
    fn visit(&mut self, a: &mut Access<'_, '_>, key: &Key) -> SqlResult<Visit> {
        let gap = self.mode.range && !self.point;
        let tree = self.tree;
        match self.lock_row(a, tree, key, gap)? {
            Locked::Not => return Ok(Visit::Skip),
            Locked::Later => return Ok(self.again(a)),
            Locked::AfterWait if self.key_changed(a, key)? => {
                return Ok(self.again(a));
            }
            Locked::AtOnce | Locked::AfterWait => {}
        }
        let locator = if tree.holds_rows() {
            Key::clone(key)
        } else {
            let Some(locator) = entry_chain(&a.latch.store, tree, key).and_then(|c| c.current())
            else {
                return Ok(self.skip(a));
            };
            let locator = Key::clone(locator);
            if !self.covering {
                match self.lock_row(a, Tree::rows(&self.table), &locator, false)? {
                    Locked::Not => return Ok(self.skip(a)),
                    Locked::Later => return Ok(self.again(a)),
                    Locked::AfterWait if self.entry_changed(a, key, &locator)? => {
                        return Ok(self.again(a));
                    }
                    Locked::AtOnce | Locked::AfterWait => {}
                }
            }
            locator
        };
        let chain = row_chain(&a.latch.store, self.table.id, &locator);
        let Some(row) = chain.and_then(|chain| chain.current()).cloned() else {
            return Ok(self.skip(a));
        };
        if let Some(snapshot) = a.txn.snapshot
            && self.mode.lock != ReadLock::Shared
            && chain.is_some_and(|chain| chain.changed_since(snapshot))
        {
            return Err(errors::update_conflict(&self.table));
        }
        Ok(Visit::Found(Found { row, locator }))
    }

    /// Locks what stands for a key or row.
    pub(super) fn lock_row(
        &mut self,
        a: &mut Access<'_, '_>,
        tree: Tree,
        key: &Key,
        gap: bool,
    ) -> SqlResult<Locked> {
        let place = if tree == self.tree { 0 } else { 2 };
        let span = if self.mode.hold {
            Span::Transaction
        } else {
            Span::Brief
        };
        let patience = match self.mode {
            ReadMode { readpast: true, .. } => Patience::Skip,
            ReadMode { nowait: true, .. } => Patience::Fail,
            _ => Patience::Wait,
        };
        let table = Arc::clone(&self.table);
        let ask = RowLock {
            mode: self.row_mode(gap),
            span,
            patience,
            grain: self.mode.grain,
        };
        let waited = match a.acquire_row(&table, &tree.resource(key), ask)? {
            Acquired::Held { grip, page, waited } => {
                self.grips[place] = grip;
                self.grips[place + 1] = page;
                waited
            }
            Acquired::Unavailable => return Ok(Locked::Not),
        };
        if a.optimized
            && let Some(writer) = a.other_writer(tree, key)
        {
            return self.written_by_another(a, writer, patience);
        }
        Ok(if waited {
            Locked::AfterWait
        } else {
            Locked::AtOnce
        })
    }

    /// With optimized locking the lock on a row that somebody else has written is free, but the row is
    /// protected by the writer's transaction. Its lock is given back before the wait, so that the writer
    /// can have the row again.
    fn written_by_another(
        &mut self,
        a: &mut Access<'_, '_>,
        writer: TxnId,
        patience: Patience,
    ) -> SqlResult<Locked> {
        self.release(a);
        match patience {
            Patience::Skip => Ok(Locked::Not),
            Patience::Fail => Err(errors::lock_timeout()),
            Patience::Wait => {
                a.await_transaction(writer)?;
                Ok(Locked::Later)
            }
        }
    }

    fn row_mode(&self, gap: bool) -> Mode {
        match (self.mode.lock, gap) {
            (ReadLock::Exclusive, true) => Mode::RANGE_X_X,
            (ReadLock::Exclusive, false) => Mode::X,
            (ReadLock::Update, true) => Mode::RANGE_S_U,
            (ReadLock::Update, false) => Mode::U,
            (_, true) => Mode::RANGE_S_S,
            (_, false) => Mode::S,
        }
    }

    fn entry_changed(&self, a: &mut Access<'_, '_>, key: &Key, locator: &Key) -> SqlResult<bool> {
        Ok(self.key_changed(a, key)?
            || entry_chain(&a.latch.store, self.tree, key).and_then(|c| c.current())
                != Some(locator))
    }

    /// Nothing to return here; a range lock stays, since the gap was read.
    fn skip(&mut self, a: &mut Access<'_, '_>) -> Visit {
        if self.mode.range {
            self.grips = [const { None }; 4];
        } else {
            self.release(a);
        }
        Visit::Skip
    }

    fn again(&mut self, a: &mut Access<'_, '_>) -> Visit {
        self.release(a);
        Visit::Again
    }

    fn pass(&mut self, key: &Key) {
        let passed = Bound::Excluded(Key::clone(key));
        if self.reverse {
            self.high = passed;
        } else {
            self.low = passed;
        }
    }

    /// The scan came to its end. Under SERIALIZABLE the gap up to the next key was read as well. If
    /// locking it took a wait, keys may have appeared, and the scan goes on.
    fn finish(&mut self, a: &mut Access<'_, '_>) -> SqlResult<()> {
        if self.mode.range && !self.reverse && self.lock_end(a)? {
            return Ok(());
        }
        self.state = Progress::Finished;
        Ok(())
    }

    /// Locks the gap at the upper end of the range; tells whether that took a wait.
    fn lock_end(&mut self, a: &mut Access<'_, '_>) -> SqlResult<bool> {
        let beyond = match &self.high {
            Bound::Included(key) => Some(Bound::Excluded(&**key)),
            Bound::Excluded(key) => Some(Bound::Included(&**key)),
            Bound::Unbounded => None,
        };
        let end = match beyond {
            Some(from) => self.tree.gap_end(a, from)?,
            None => self.tree.end(),
        };
        let table = Arc::clone(&self.table);
        let mode = self.row_mode(true);
        let ask = RowLock {
            mode,
            span: Span::Transaction,
            patience: Patience::Wait,
            grain: Grain::Row,
        };
        match a.acquire_row(&table, &end, ask)? {
            Acquired::Held { waited, .. } => Ok(waited),
            Acquired::Unavailable => Ok(false),
        }
    }
}

pub(super) fn as_slice(bound: &Bound<Key>) -> Bound<&[u8]> {
    bound.as_ref().map(|key| &**key)
}
