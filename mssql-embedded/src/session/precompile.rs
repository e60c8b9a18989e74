//! The check of a batch before it runs, and of a procedure when it is created.

use std::sync::Arc;

use crate::ast::{Stmt, StmtKind};
use crate::catalog::Catalog;
use crate::context::{Core, Frame};
use crate::error::SqlResult;
use crate::interrupt::{Asking, stop_if};
use crate::plan::Module;

use super::interp::bind_one;

/// Objects that do not exist yet may exist when the statement runs; wrong SET options (1934) matter
/// only then.
const DEFERRED: &[i32] = &[208, 1934, 2812, 4104];

/// Binds all statements; the first error that is not about a missing object is returned. Before it binds one it
/// asks whether to go on.
pub fn check(
    module: &Arc<Module>,
    list: &[Stmt],
    core: &Core,
    frame: &Frame,
    catalog: &Catalog,
    interrupted: Asking<'_>,
) -> SqlResult<()> {
    for stmt in list {
        match &stmt.kind {
            StmtKind::Block(inner) => check(module, inner, core, frame, catalog, interrupted)?,
            StmtKind::TryCatch { body, handler } => {
                check(module, body, core, frame, catalog, interrupted)?;
                check(module, handler, core, frame, catalog, interrupted)?;
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                bind(module, stmt, core, frame, catalog, interrupted)?;
                check(
                    module,
                    std::slice::from_ref(then),
                    core,
                    frame,
                    catalog,
                    interrupted,
                )?;
                if let Some(other) = otherwise {
                    check(
                        module,
                        std::slice::from_ref(other),
                        core,
                        frame,
                        catalog,
                        interrupted,
                    )?;
                }
            }
            StmtKind::While { body, .. } => {
                bind(module, stmt, core, frame, catalog, interrupted)?;
                check(
                    module,
                    std::slice::from_ref(body),
                    core,
                    frame,
                    catalog,
                    interrupted,
                )?;
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
            | StmtKind::Checkpoint => bind(module, stmt, core, frame, catalog, interrupted)?,
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
    interrupted: Asking<'_>,
) -> SqlResult<()> {
    let kept = module.kept(stmt.pos.offset);
    if kept.is_some_and(|bound| core.against(catalog).is_current(&bound)) {
        return Ok(());
    }
    stop_if(interrupted())?;
    match bind_one(stmt, module, core, frame, catalog, interrupted) {
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
