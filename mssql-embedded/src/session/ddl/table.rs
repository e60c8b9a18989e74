//! t
use crate::ast::*;
use crate::error::*;
use crate::exec::*;
pub fn create(
    _n: &ObjectName,
    _c: &[ColumnDef],
    _k: &[TableConstraint],
    _e: &mut Env<'_, '_>,
) -> SqlResult<()> {
    todo!()
}
pub fn alter(_n: &ObjectName, _a: &AlterTable, _e: &mut Env<'_, '_>) -> SqlResult<()> {
    todo!()
}
pub fn drop(_n: &ObjectName, _a: bool, _e: &mut Env<'_, '_>) -> SqlResult<()> {
    todo!()
}
pub fn truncate(_n: &ObjectName, _e: &mut Env<'_, '_>) -> SqlResult<()> {
    todo!()
}
