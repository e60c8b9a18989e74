//! What a procedure answers: result sets, rows, and columns by name.

use std::time::Duration;

use tiberius::{ColumnData, Row};
use tokio::time::Instant;
use uuid::Uuid;

use crate::error::CallError;

/// The answer to a call: its result sets in order.
pub(crate) struct ResultSets {
    procedure: &'static str,
    asked_at: Instant,
    waited: Duration,
    sets: std::vec::IntoIter<Vec<Row>>,
}

impl ResultSets {
    /// What `procedure` answered to a request of that moment, after so long.
    pub(crate) fn new(
        procedure: &'static str,
        asked_at: Instant,
        waited: Duration,
        sets: Vec<Vec<Row>>,
    ) -> Self {
        Self {
            procedure,
            asked_at,
            waited,
            sets: sets.into_iter(),
        }
    }

    /// When the request that this answers was sent, of all attempts. A lease that it gave began then or later.
    pub(crate) fn asked_at(&self) -> Instant {
        self.asked_at
    }

    /// How long the server took to begin its answer.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// How many rows are left.
    pub(crate) fn rows(&self) -> u64 {
        let rows: usize = self.sets.as_slice().iter().map(Vec::len).sum();
        rows as u64
    }

    fn next_rows(&mut self) -> Result<impl Iterator<Item = Record> + use<>, CallError> {
        let procedure = self.procedure;
        let rows = self.sets.next().ok_or_else(|| {
            CallError::Data(format!(
                "procedure {procedure} returned too few result sets"
            ))
        })?;
        Ok(rows.into_iter().map(move |row| Record::new(procedure, row)))
    }

    /// The next result set.
    pub(crate) fn next_set(&mut self) -> Result<Vec<Record>, CallError> {
        Ok(self.next_rows()?.collect())
    }

    /// The first row of the next result set, if it has one.
    pub(crate) fn row_if_any(&mut self) -> Result<Option<Record>, CallError> {
        Ok(self.next_rows()?.next())
    }

    /// The first row of the next result set.
    pub(crate) fn row(&mut self) -> Result<Record, CallError> {
        let procedure = self.procedure;
        self.row_if_any()?.ok_or_else(|| {
            CallError::Data(format!(
                "procedure {procedure} returned no row where one is due"
            ))
        })
    }
}

/// One row; columns are read by name, so a newer procedure may append columns.
pub(crate) struct Record {
    procedure: &'static str,
    row: Row,
}

impl Record {
    /// Wraps a row that `procedure` returned.
    pub(crate) fn new(procedure: &'static str, row: Row) -> Self {
        Self { procedure, row }
    }

    fn wrong(&self, column: &str, reason: impl std::fmt::Display) -> CallError {
        CallError::Data(format!(
            "column {column} of procedure {}: {reason}",
            self.procedure
        ))
    }

    pub(crate) fn opt_text(&self, column: &'static str) -> Result<Option<&str>, CallError> {
        self.row
            .try_get::<&str, _>(column)
            .map_err(|error| self.wrong(column, error))
    }

    pub(crate) fn text(&self, column: &'static str) -> Result<&str, CallError> {
        self.opt_text(column)?
            .ok_or_else(|| self.wrong(column, "is NULL"))
    }

    pub(crate) fn opt_int(&self, column: &'static str) -> Result<Option<i64>, CallError> {
        let value = self
            .row
            .get_column_data(column)
            .map_err(|error| self.wrong(column, error))?;
        match value {
            ColumnData::I64(value) => Ok(*value),
            ColumnData::I32(value) => Ok(value.map(i64::from)),
            ColumnData::I16(value) => Ok(value.map(i64::from)),
            ColumnData::U8(value) => Ok(value.map(i64::from)),
            ColumnData::Bit(value) => Ok(value.map(i64::from)),
            _ => Err(self.wrong(column, "is not a whole number")),
        }
    }

    pub(crate) fn int(&self, column: &'static str) -> Result<i64, CallError> {
        self.opt_int(column)?
            .ok_or_else(|| self.wrong(column, "is NULL"))
    }

    pub(crate) fn opt_guid(&self, column: &'static str) -> Result<Option<Uuid>, CallError> {
        self.row
            .try_get::<Uuid, _>(column)
            .map_err(|error| self.wrong(column, error))
    }

    pub(crate) fn guid(&self, column: &'static str) -> Result<Uuid, CallError> {
        self.opt_guid(column)?
            .ok_or_else(|| self.wrong(column, "is NULL"))
    }

    pub(crate) fn opt_count(&self, column: &'static str) -> Result<Option<u64>, CallError> {
        let value = self.opt_int(column)?;
        value
            .map(|value| u64::try_from(value).map_err(|_| self.wrong(column, "is negative")))
            .transpose()
    }

    pub(crate) fn count(&self, column: &'static str) -> Result<u64, CallError> {
        self.opt_count(column)?
            .ok_or_else(|| self.wrong(column, "is NULL"))
    }
}
