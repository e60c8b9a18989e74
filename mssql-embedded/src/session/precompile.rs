//! The check of a batch before it runs, and of a procedure when it is created.

use std::sync::Arc;

use crate::ast::{Stmt, StmtKind};
use crate::catalog::Catalog;
use crate::context::{Core, Frame};
use crate::error::SqlResult;
use crate::plan::Module;

use super::interp::bind_one;

/// Objects that do not exist yet may exist when the statement runs; wrong SET options (1934) matter
/// only then.
const DEFERRED: &[i32] = &[208, 1934, 2812, 4104];

/// Binds all statements; the first error that is not about a missing object is returned.
pub fn check(
    module: &Arc<Module>,
    list: &[Stmt],
    core: &Core,
    frame: &Frame,
    catalog: &Catalog,
) -> SqlResult<()> {
    for stmt in list {
        match &stmt.kind {
            StmtKind::Block(inner) => check(module, inner, core, frame, catalog)?,
            StmtKind::TryCatch { body, handler } => {
                check(module, body, core, frame, catalog)?;
                check(module, handler, core, frame, catalog)?;
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                bind(module, stmt, core, frame, catalog)?;
                check(module, std::slice::from_ref(then), core, frame, catalog)?;
                if let Some(other) = otherwise {
                    check(module, std::slice::from_ref(other), core, frame, catalog)?;
                }
            }
            StmtKind::While { body, .. } => {
                bind(module, stmt, core, frame, catalog)?;
                check(module, std::slice::from_ref(body), core, frame, catalog)?;
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Label(_)
            | StmtKind::Ddl(_)
            | StmtKind::Use(_) => {}
            StmtKind::Return(_)
            | StmtKind::Throw(_)
            | StmtKind::RaisError { .. }
            | StmtKind::Print(_)
            | StmtKind::WaitFor { .. }
            | StmtKind::Declare(_)
            | StmtKind::SetVariable { .. }
            | StmtKind::SetOption(_)
            | StmtKind::Exec(_)
            | StmtKind::BeginTran(_)
            | StmtKind::Commit { .. }
            | StmtKind::Rollback(_)
            | StmtKind::SaveTran(_)
            | StmtKind::Select(_)
            | StmtKind::Insert(_)
            | StmtKind::Update(_)
            | StmtKind::Delete(_)
            | StmtKind::ExecuteAs { .. }
            | StmtKind::Revert
            | StmtKind::Kill(_)
            | StmtKind::Checkpoint => bind(module, stmt, core, frame, catalog)?,
        }
    }
    Ok(())
}

fn bind(
    module: &Arc<Module>,
    stmt: &Stmt,
    core: &Core,
    frame: &Frame,
    catalog: &Catalog,
) -> SqlResult<()> {
    let kept = module.kept(stmt.pos.offset);
    if kept.is_some_and(|bound| core.against(catalog).is_current(&bound)) {
        return Ok(());
    }
    match bind_one(stmt, module, core, frame, catalog) {
        Ok(bound) => {
            module.keep(stmt.pos.offset, Arc::new(bound));
            Ok(())
        }
        Err(error) if DEFERRED.contains(&error.number) => Ok(()),
        Err(error) => {
            let mut error = error.at(stmt.pos.line);
            error.procedure.clone_from(&module.name);
            Err(error)
        }
    }
}
