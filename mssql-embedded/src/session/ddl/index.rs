//! t
use crate::ast::*;
use crate::error::*;
use crate::exec::*;
pub fn create(_n: &CreateIndex, _e: &mut Env<'_, '_>) -> SqlResult<()> {
    todo!()
}
pub fn drop(_a: bool, _i: &str, _n: &ObjectName, _e: &mut Env<'_, '_>) -> SqlResult<()> {
    todo!()
}
