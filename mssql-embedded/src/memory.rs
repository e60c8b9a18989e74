//! The memory of one session: what its variables and running statements hold, and the error when that
//! is too much.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use crate::error::{SqlError, SqlResult};
use crate::value::Value;

/// Smaller values are made without a question whether to go on.
pub const LARGE_BYTES: usize = 64 << 10;

/// Smaller values come and go without being counted: a row of as many as it can have takes 32 MB.
pub const COUNTED_BYTES: usize = 8 << 10;

/// What one session may hold, and what it holds.
#[derive(Debug)]
pub struct Memory {
    limit: usize,
    used: AtomicUsize,
}

impl Memory {
    /// A budget of so many bytes, none of them used.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            used: AtomicUsize::new(0),
        })
    }

    /// Whether so many bytes more would fit.
    ///
    /// # Errors
    ///
    /// 701 when not.
    pub fn room(&self, bytes: usize) -> SqlResult<()> {
        if self.used.load(Ordering::Relaxed).saturating_add(bytes) <= self.limit {
            return Ok(());
        }
        Err(SqlError::with(
            701,
            17,
            123,
            "There is insufficient system memory in resource pool 'default' to run this query.",
        ))
    }

    /// An account with nothing on it yet.
    pub fn charge(self: &Arc<Self>) -> Charge {
        Charge {
            memory: Arc::clone(self),
            bytes: 0,
        }
    }
}

/// What one holder uses of a session's memory; given back when it is dropped.
#[derive(Debug)]
pub struct Charge {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Charge {
    /// Notes that so many bytes more are held.
    ///
    /// # Errors
    ///
    /// 701 when they exceed the budget.
    pub fn add(&mut self, bytes: usize) -> SqlResult<()> {
        self.memory.room(bytes)?;
        self.memory.used.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        Ok(())
    }

    /// Notes that so many bytes are held, instead of what was noted before.
    ///
    /// # Errors
    ///
    /// 701 when they exceed the budget; nothing is noted then.
    pub fn set(&mut self, bytes: usize) -> SqlResult<()> {
        self.release();
        self.add(bytes)
    }

    /// Takes over what another account of the same session has noted.
    pub fn take_over(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn give_back(&mut self, bytes: usize) {
        self.memory.used.fetch_sub(bytes, Ordering::Relaxed);
        self.bytes -= bytes;
    }

    fn release(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.release();
    }
}

/// Rows that a session keeps, on its account as long as they live.
#[derive(Debug)]
pub struct KeptRows {
    rows: Vec<Vec<Value>>,
    charge: Charge,
}

impl KeptRows {
    pub fn new(memory: &Arc<Memory>) -> Self {
        Self {
            rows: Vec::new(),
            charge: memory.charge(),
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// 701 when it exceeds the budget; the row is not kept then.
    pub fn push(&mut self, row: Vec<Value>) -> SqlResult<()> {
        self.charge.add(size_of::<Vec<Value>>() + row_bytes(&row))?;
        self.rows.push(row);
        Ok(())
    }

    /// Takes over the rows of another, with their account.
    pub fn append(&mut self, mut other: Self) {
        self.rows.append(&mut other.rows);
        self.charge.take_over(other.charge);
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.charge.release();
    }

    /// The rows, and what must live as long as they do.
    pub fn into_parts(self) -> (Vec<Vec<Value>>, Charge) {
        (self.rows, self.charge)
    }
}

impl Deref for KeptRows {
    type Target = [Vec<Value>];

    fn deref(&self) -> &[Vec<Value>] {
        &self.rows
    }
}

impl DerefMut for KeptRows {
    fn deref_mut(&mut self) -> &mut [Vec<Value>] {
        &mut self.rows
    }
}

/// The rows one after another; what they hold is given back with the last of them.
#[derive(Debug)]
pub struct KeptRowsIter {
    rows: std::vec::IntoIter<Vec<Value>>,
    _charge: Charge,
}

impl Iterator for KeptRowsIter {
    type Item = Vec<Value>;

    fn next(&mut self) -> Option<Vec<Value>> {
        self.rows.next()
    }
}

impl IntoIterator for KeptRows {
    type Item = Vec<Value>;
    type IntoIter = KeptRowsIter;

    fn into_iter(self) -> KeptRowsIter {
        KeptRowsIter {
            rows: self.rows.into_iter(),
            _charge: self.charge,
        }
    }
}

/// The bytes of a value's text or binary part.
pub fn heap_bytes(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len() * 2,
        Value::Bytes(bytes) => bytes.len(),
        Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => 0,
    }
}

/// A holder's share of the bytes of a value's text or binary part. A text that many hold (a table, a variable, the
/// buffers that it passes through, a thousand rows) is there once, and nobody knows who of them keeps it longest: so each
/// pays the more, the fewer they are. The first of a thousand rows that share a text pays half of it, all together
/// pay it a few times; a text that only passes through a buffer or two costs its keeper a half or a third.
pub fn share_bytes(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len() * 2 / Arc::strong_count(text),
        Value::Bytes(bytes) => bytes.len() / Arc::strong_count(bytes),
        Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => 0,
    }
}

/// The bytes of a row that is kept, and its shares of the texts in it.
pub fn row_bytes(row: &[Value]) -> usize {
    std::mem::size_of_val(row) + row.iter().map(share_bytes).sum::<usize>()
}

/// After so many new bytes it is looked which of the large values are still held.
const BYTES_PER_LOOK: usize = 1 << 20;

/// The large values that a statement has made, on the session's account as long as somebody holds them. Who keeps
/// one in a row pays for that row besides.
#[derive(Debug)]
pub struct LargeValues {
    values: Vec<(Part, usize)>,
    charge: Charge,
    /// Bytes made since the last look.
    since: usize,
}

/// The large part of a value. It keeps the place of what nobody holds any more, until the next look.
#[derive(Debug)]
enum Part {
    Text(Weak<[u16]>),
    Bytes(Weak<[u8]>),
}

impl Part {
    /// That of a value which has just been made. One that others hold was not made, but handed on.
    fn of_new(value: &Value) -> Option<Self> {
        match value {
            Value::Str(text) if Arc::strong_count(text) == 1 => {
                Some(Self::Text(Arc::downgrade(text)))
            }
            Value::Bytes(bytes) if Arc::strong_count(bytes) == 1 => {
                Some(Self::Bytes(Arc::downgrade(bytes)))
            }
            Value::Null
            | Value::Bit(_)
            | Value::Int(_)
            | Value::Decimal { .. }
            | Value::Float(_)
            | Value::Str(_)
            | Value::Bytes(_)
            | Value::Guid(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime { .. }
            | Value::DateTimeOffset { .. } => None,
        }
    }

    fn is_held(&self) -> bool {
        match self {
            Self::Text(text) => text.strong_count() > 0,
            Self::Bytes(bytes) => bytes.strong_count() > 0,
        }
    }
}

impl LargeValues {
    pub fn new(memory: &Arc<Memory>) -> Self {
        Self {
            values: Vec::new(),
            charge: memory.charge(),
            since: 0,
        }
    }

    /// Notes a value that has been made.
    ///
    /// # Errors
    ///
    /// 701 when it exceeds the budget.
    pub fn note(&mut self, value: &Value) -> SqlResult<()> {
        let Some(part) = Part::of_new(value) else {
            return Ok(());
        };
        let bytes = heap_bytes(value);
        self.since += bytes;
        if self.since > BYTES_PER_LOOK || self.charge.memory.room(bytes).is_err() {
            self.look();
        }
        self.charge.add(bytes)?;
        self.values.push((part, bytes));
        Ok(())
    }

    /// Forgets what nobody holds any more.
    fn look(&mut self) {
        self.since = 0;
        let charge = &mut self.charge;
        self.values.retain(|(part, bytes)| {
            let is_held = part.is_held();
            if !is_held {
                charge.give_back(*bytes);
            }
            is_held
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is held counts until it is given back, and no longer.
    #[test]
    fn a_charge_counts_while_it_lives() {
        let memory = Memory::new(100);
        let mut first = memory.charge();
        first.add(60).unwrap();
        assert_eq!(memory.charge().add(50).unwrap_err().number, 701);
        first.set(40).unwrap();
        let mut second = memory.charge();
        second.add(60).unwrap();
        assert_eq!(memory.room(1).unwrap_err().number, 701);
        drop(first);
        memory.room(40).unwrap();
    }

    /// Rows count until the last of them is gone, whoever has taken them over.
    #[test]
    fn rows_count_while_they_are_kept() {
        let memory = Memory::new(1000);
        let row = || vec![Value::Int(1)];
        let mut first = KeptRows::new(&memory);
        while first.push(row()).is_ok() {}
        let held = first.len();
        let mut second = KeptRows::new(&memory);
        assert_eq!(second.push(row()).unwrap_err().number, 701);
        second.append(first);
        assert_eq!(second.len(), held);
        assert!(memory.charge().add(500).is_err());
        let rest = second.into_iter();
        assert!(memory.charge().add(500).is_err());
        drop(rest);
        memory.room(1000).unwrap();
    }

    fn text(units: usize) -> Value {
        Value::Str(vec![0; units].into())
    }

    /// Who holds a text alone pays for it, and many who share it pay for it a few times and not for each.
    #[test]
    fn a_shared_text_is_paid_by_shares() {
        let value = text(1000);
        assert_eq!(share_bytes(&value), 2000);
        let mut rows = Vec::new();
        let mut paid = 0;
        for _ in 0..1000 {
            rows.push(value.clone());
            paid += share_bytes(&value);
        }
        assert!((2000..20_000).contains(&paid), "{paid}");
    }

    /// Large values count while somebody holds them, however many have been made.
    #[test]
    fn large_values_count_while_they_are_held() {
        let memory = Memory::new(10 << 20);
        let mut large = LargeValues::new(&memory);
        for _ in 0..100 {
            large.note(&text(1 << 20)).unwrap();
        }
        let mut held = Vec::new();
        let refused = (0..100).find_map(|_| {
            let value = text(1 << 20);
            let noted = large.note(&value);
            held.push(value);
            noted.err()
        });
        assert_eq!(refused.unwrap().number, 701);
        assert_eq!(held.len(), 6);
        // One that was there before is not made.
        large.note(&held[0].clone()).unwrap();
        drop(large);
        memory.room(10 << 20).unwrap();
    }
}
