//! The types that columns of system views and metadata functions have. Each is a Rust type of its own, so that
//! a value of another type is an error of the compiler.

use crate::value::datetime::Moment;
use crate::value::{Collation, DataType, Length, Value};

/// A T-SQL type of the dictionary.
pub trait Kind {
    /// The type, with the current database's collation where it is text.
    fn data_type(collation: Collation) -> DataType;
}

/// The Rust values that a type takes.
pub trait Holds<T>: Kind {
    fn value(value: T) -> Value;
}

/// What may be absent may be NULL.
impl<K: Holds<T>, T> Holds<Option<T>> for K {
    fn value(value: Option<T>) -> Value {
        value.map_or(Value::Null, K::value)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($collation:pat) = $ty:expr, from $($rust:ty),+ => $make:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $kind;

            impl Kind for $kind {
                fn data_type($collation: Collation) -> DataType {
                    $ty
                }
            }

            $(impl Holds<$rust> for $kind {
                fn value(value: $rust) -> Value {
                    let make: fn($rust) -> Value = $make;
                    make(value)
                }
            })+
        )*
    };
}

kinds! {
    Int(_) = DataType::Int, from i32 => |n| Value::Int(n.into());
    BigInt(_) = DataType::BigInt, from i64 => Value::Int;
    SmallInt(_) = DataType::SmallInt, from i16 => |n| Value::Int(n.into());
    TinyInt(_) = DataType::TinyInt, from u8 => |n| Value::Int(n.into());
    Bit(_) = DataType::Bit, from bool => Value::Bit;
    /// INT with 1 and 0 for yes and no, as property functions answer.
    Flag(_) = DataType::Int, from bool => |b| Value::Int(b.into());
    Numeric(_) = DataType::decimal(38, 0), from i64 => |n| Value::Decimal { units: n.into(), scale: 0 };
    /// SYSNAME.
    Name(c) = DataType::nvarchar(128, c), from &str, &String, String => |s| text(s);
    Text30(c) = DataType::nvarchar(30, c), from &str => Value::text;
    Text60(c) = DataType::nvarchar(60, c), from &str, &String, String => |s| text(s);
    Text256(c) = DataType::nvarchar(256, c), from String => |s| text(s);
    /// NVARCHAR(4000): names of several parts, properties of any type.
    Long(c) = DataType::nvarchar(4000, c), from &str => Value::text;
    Max(c) = DataType::nvarchar_max(c), from &str, &String, String => |s| text(s);
    /// CHAR(2), the code of an object's type.
    Char2(c) = DataType::Char(2, c), from &str => Value::text;
    /// CHAR(4), the code of a permission.
    Char4(c) = DataType::Char(4, c), from &str => Value::text;
    /// DATETIME, from Unix milliseconds.
    DateTime(_) = DataType::DateTime, from i64 => moment;
    Sid(_) = DataType::VarBinary(Length::Limited(85)), from Vec<u8> => |b| Value::Bytes(b.into());
}

fn text(text: impl AsRef<str>) -> Value {
    Value::text(text.as_ref())
}

/// A DATETIME from Unix milliseconds, rounded to its 1/300 s.
fn moment(unix_ms: i64) -> Value {
    const DAY_MS: i64 = 86_400_000;
    const UNIX_EPOCH_DAYS: i64 = 719_162;
    const TICKS_PER_MS: i64 = 10_000;
    let Ok(days) = i32::try_from(unix_ms.div_euclid(DAY_MS) + UNIX_EPOCH_DAYS) else {
        return Value::Null;
    };
    let moment = Moment {
        days,
        ticks: unix_ms.rem_euclid(DAY_MS) * TICKS_PER_MS,
        offset: 0,
    };
    // A clock that was set beyond the calendar has no date.
    let rounded = moment.to_value(&DataType::DateTime2(7), &DataType::DateTime);
    rounded.unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is closer than 1/300 s to midnight is midnight of the next day.
    #[test]
    fn the_last_moment_of_a_day_is_the_first_of_the_next() {
        let noon = Value::DateTime {
            days: 719_162,
            ticks: 432_000_000_000,
        };
        assert_eq!(moment(43_200_000), noon);
        let next = Value::DateTime {
            days: 719_163,
            ticks: 0,
        };
        assert_eq!(moment(86_399_999), next);
        assert_eq!(moment(i64::MAX), Value::Null);
    }
}
