//! The memory of one session: what its variables and running statements hold, and the error when that
//! is too much.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{SqlError, SqlResult};
use crate::value::Value;

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
    /// No rows yet.
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
        self.charge.bytes += std::mem::take(&mut other.charge.bytes);
    }

    /// Lets all rows go.
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

/// The bytes of a row that is kept. A text that others hold as well (a table, a variable) is theirs.
pub fn row_bytes(row: &[Value]) -> usize {
    let own = |value: &Value| match value {
        Value::Str(text) if Arc::strong_count(text) == 1 => text.len() * 2,
        Value::Bytes(bytes) if Arc::strong_count(bytes) == 1 => bytes.len(),
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
        | Value::DateTimeOffset { .. } => 0,
    };
    std::mem::size_of_val(row) + row.iter().map(own).sum::<usize>()
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
}
