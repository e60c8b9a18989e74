//! What functions need from the session that evaluates them.

use crate::error::SqlResult;
use crate::value::Value;

/// The session, as functions see it.
pub trait Host {
    /// The clock: UTC days since 0001-01-01 and 100 ns ticks of the day; constant within a statement.
    fn now_utc(&self) -> (i32, i64);
    /// NEWID().
    fn newid(&mut self) -> [u8; 16];
    /// RAND([seed]).
    fn rand(&mut self, seed: Option<i32>) -> f64;
    /// @@ROWCOUNT and the like.
    fn session_value(&self, value: SessionValue) -> Value;
    /// OBJECT_ID and the like.
    fn catalog_function(&mut self, function: CatalogFunction, args: &[Value]) -> SqlResult<Value>;
}

/// Values of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionValue {
    /// @@ROWCOUNT.
    RowCount,
    /// @@TRANCOUNT.
    TranCount,
}

/// Functions over the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogFunction {
    /// OBJECT_ID.
    ObjectId,
}
