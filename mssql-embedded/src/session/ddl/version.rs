//! The next version of a table's definition.

use crate::catalog::TableDef;
use crate::exec::Env;

/// A copy of the definition under the next version.
pub fn next(table: &TableDef, env: &mut Env<'_, '_>) -> TableDef {
    let mut def = table.clone();
    def.version = env.latch.next_version();
    def.modified_ms = env.latch.clock().unix_ms();
    def
}
