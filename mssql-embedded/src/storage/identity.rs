//! The counter behind an IDENTITY column. It is not part of any transaction: a rollback leaves a gap.

use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::value::arith::in_range;
use crate::value::{DataType, decimal};

/// The state of an identity column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    seed: i64,
    increment: i64,
    /// The last value given out or seen.
    last: Option<i64>,
    /// The next value, where it is not `last` plus the increment.
    next: Option<i64>,
}

impl Identity {
    /// A counter that has given out nothing yet.
    pub fn new(seed: i64, increment: i64) -> Self {
        Self {
            seed,
            increment,
            last: None,
            next: Some(seed),
        }
    }

    /// The next value; `None` beyond the range of BIGINT.
    pub fn take(&mut self) -> Option<i64> {
        let value = match self.next.take() {
            Some(value) => value,
            None => self.last.unwrap_or(self.seed).checked_add(self.increment)?,
        };
        self.last = Some(value);
        Some(value)
    }

    /// Notes a value given explicitly under IDENTITY_INSERT: later values go on from it if it is
    /// farther on than any before.
    pub fn note(&mut self, value: i64) {
        let farther = match (self.last, self.increment >= 0) {
            (None, true) => value >= self.seed,
            (None, false) => value <= self.seed,
            (Some(last), true) => value > last,
            (Some(last), false) => value < last,
        };
        if farther {
            self.last = Some(value);
            self.next = None;
        }
    }

    /// IDENT_CURRENT: the last value, or the seed if there was none.
    pub fn current(&self) -> i64 {
        self.last.unwrap_or(self.seed)
    }

    /// sys.identity_columns.last_value.
    pub fn last(&self) -> Option<i64> {
        self.last
    }
}

/// The next value of a table's identity column, checked against the column's type.
pub(super) fn take_identity(def: &TableDef, identity: Option<&mut Identity>) -> SqlResult<i64> {
    let column = def.columns.iter().find(|c| c.identity.is_some());
    let (Some(column), Some(identity)) = (column, identity) else {
        return Err(SqlError::unsupported(
            "an identity value without an identity column",
        ));
    };
    // A counter may go either way.
    let fits = |value: i64| match &column.ty {
        DataType::Decimal { precision, .. } => decimal::fits(i128::from(value), *precision),
        DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Real
        | DataType::Float
        | DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..)
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => in_range(value, &column.ty),
    };
    identity.take().filter(|value| fits(*value)).ok_or_else(|| {
        SqlError::with(
            8115,
            16,
            1,
            format!(
                "Arithmetic overflow error converting IDENTITY to data type {}.",
                column.ty.error_name()
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_on_from_the_farthest_one_seen() {
        let mut identity = Identity::new(1, 2);
        assert_eq!(identity.current(), 1);
        assert_eq!((identity.take(), identity.take()), (Some(1), Some(3)));
        identity.note(2);
        assert_eq!(identity.take(), Some(5));
        identity.note(100);
        assert_eq!(identity.take(), Some(102));
    }

    #[test]
    fn the_end_of_bigint_is_reported() {
        let mut identity = Identity::new(i64::MAX, 1);
        assert_eq!(identity.take(), Some(i64::MAX));
        assert_eq!(identity.take(), None);
    }
}
