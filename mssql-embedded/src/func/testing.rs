//! A host and a caller for the unit tests of functions.

use std::sync::LazyLock;
use std::time::Duration;

use super::{Arg, Host, SessionValue, lookup};
use crate::activity::Activity;
use crate::ast::{ObjectName, Switch};
use crate::catalog::{Catalog, Database, Found};
use crate::dictionary::Source;
use crate::error::{SqlError, SqlResult};
use crate::lock::{LockManager, LockOwner};
use crate::storage::Store;
use crate::value::{CastMode, Collation, DataType, Length, Value, cast};

/// How much a function may ask for.
const ROOM_BYTES: usize = 1 << 20;

/// A session whose clock stands at 2024-03-05 13:02:03.4567891 UTC.
pub(crate) struct TestHost;

impl Host for TestHost {
    fn now_utc(&self) -> (i32, i64) {
        (738_949, 469_234_567_891)
    }

    fn newid(&mut self) -> [u8; 16] {
        [7; 16]
    }

    fn rand(&mut self, seed: Option<i32>) -> f64 {
        f64::from(seed.unwrap_or(0)) / 1000.0
    }

    fn session_value(&self, value: SessionValue) -> Value {
        match value {
            SessionValue::DateFirst => Value::Int(7),
            _ => Value::Null,
        }
    }

    fn room(&self, bytes: usize) -> SqlResult<()> {
        if bytes > ROOM_BYTES {
            return Err(SqlError::new(701, "no room"));
        }
        Ok(())
    }

    fn go_on(&mut self) -> SqlResult<()> {
        Ok(())
    }
}

/// A server without databases.
static EMPTY: LazyLock<(Catalog, Store, LockManager, Activity)> = LazyLock::new(Default::default);

impl Source for TestHost {
    fn catalog(&self) -> &Catalog {
        &EMPTY.0
    }

    fn database(&self) -> Option<&Database> {
        None
    }

    fn store(&self) -> &Store {
        &EMPTY.1
    }

    fn locks(&self) -> &LockManager {
        &EMPTY.2
    }

    fn activity(&self) -> &Activity {
        &EMPTY.3
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn resolve(&self, _: &ObjectName) -> Option<Found<'_>> {
        None
    }

    fn lock_owner(&self) -> LockOwner {
        51
    }

    fn login(&self) -> String {
        "sa".to_owned()
    }

    fn sysadmin(&self) -> bool {
        true
    }

    fn user(&self) -> i32 {
        1
    }

    fn set_option(&self, _: Switch) -> Option<bool> {
        None
    }
}

/// The type a literal of this value would have.
fn literal_type(value: &Value) -> DataType {
    let c = Collation::SqlLatin1CiAs;
    match value {
        Value::Null => DataType::Null,
        Value::Bit(_) => DataType::Bit,
        Value::Int(n) if i32::try_from(*n).is_ok() => DataType::Int,
        Value::Int(_) => DataType::BigInt,
        Value::Decimal { scale, .. } => DataType::decimal(18, *scale),
        Value::Float(_) => DataType::Float,
        Value::Str(s) => DataType::nvarchar(s.len().clamp(1, 4000) as u16, c),
        Value::Bytes(b) => DataType::VarBinary(Length::Limited(b.len().clamp(1, 8000) as u16)),
        Value::Guid(_) => DataType::UniqueIdentifier,
        Value::Date(_) => DataType::Date,
        Value::Time(_) => DataType::Time(7),
        Value::DateTime { .. } => DataType::DateTime2(7),
        Value::DateTimeOffset { .. } => DataType::DateTimeOffset(7),
    }
}

pub(crate) fn call(name: &str, args: &[Value]) -> SqlResult<Value> {
    let typed: Vec<_> = args.iter().map(|v| (v.clone(), literal_type(v))).collect();
    call_typed(name, &typed).map(|(value, _)| value)
}

/// Calls a function with typed constants; also returns the result's type.
pub(crate) fn call_typed(name: &str, args: &[(Value, DataType)]) -> SqlResult<(Value, DataType)> {
    let function = lookup(name).unwrap_or_else(|| panic!("no function {name}"));
    let bound: Vec<_> = args
        .iter()
        .map(|(v, ty)| Arg {
            ty: ty.clone(),
            constant: Some(v.clone()),
        })
        .collect();
    let signature = function.bind(&bound)?;
    let mut values = Vec::new();
    for ((value, from), to) in args.iter().zip(&signature.params) {
        values.push(cast(value, from, to, None, CastMode::Assign)?);
    }
    let value = function.eval(&mut TestHost, &signature, &values)?;
    Ok((value, signature.ret))
}

pub(crate) fn text(value: SqlResult<Value>) -> String {
    match value {
        Ok(Value::Str(s)) => String::from_utf16_lossy(&s),
        other => panic!("not text: {other:?}"),
    }
}

/// Text as an argument.
pub(crate) fn t(s: &str) -> Value {
    Value::text(s)
}

/// A number as an argument.
pub(crate) fn n(n: i64) -> Value {
    Value::Int(n)
}
