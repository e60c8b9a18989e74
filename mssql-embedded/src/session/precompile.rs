//! The check of a batch before it runs, and of a procedure when it is created.

use std::sync::Arc;

use crate::ast::{FlowStmt, SessionStmt, Stmt, StmtKind};
use crate::catalog::{Catalog, LookedUp};
use crate::context::{Core, Frame};
use crate::error::{SqlError, SqlResult};
use crate::interrupt::{Asking, is_interrupt, stop_if};
use crate::plan::Module;

use super::binding::bind_one;

/// Objects that do not exist yet may exist when the statement runs; wrong SET options (1934) matter
/// only then.
const DEFERRED: &[i32] = &[208, 1934, 2812, 4104];

/// Unknown columns and variables, after which SQL Server looks at the statements that follow and tells of
/// all of theirs. Variables are looked for before anything is bound.
const GATHERED: &[i32] = &[137, 207];

/// After so many statements with such errors it is enough: each error holds the one before it.
const GATHERED_MAX: usize = 20;

/// Binds all statements; the errors that are not about a missing object are returned as one, with those before
/// it as its causes. Before it binds one it asks whether to go on. What the statements with errors looked up is noted in
/// `looked_up`.
pub fn check(
    module: &Arc<Module>,
    list: &[Stmt],
    core: &Core,
    frame: &Frame,
    catalog: &Catalog,
    looked_up: &LookedUp,
    interrupted: Asking<'_>,
) -> SqlResult<()> {
    let mut found = Found {
        errors: Vec::new(),
        looked_up,
    };
    let outcome = check_list(module, list, core, frame, catalog, interrupted, &mut found);
    let mut found = found.errors;
    if let Err(error) = &outcome
        && is_interrupt(error)
    {
        return outcome;
    }
    if found.iter().any(|error| error.number == 137) {
        found.retain(|error| error.number == 137);
    } else if let Err(error) = outcome {
        found.push(error);
    }
    match found.into_iter().reduce(|first, next| next.after(first)) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// What a check has found so far.
struct Found<'f> {
    errors: Vec<SqlError>,
    looked_up: &'f LookedUp,
}

fn check_list(
    module: &Arc<Module>,
    list: &[Stmt],
    core: &Core,
    frame: &Frame,
    catalog: &Catalog,
    interrupted: Asking<'_>,
    found: &mut Found<'_>,
) -> SqlResult<()> {
    for stmt in list {
        match &stmt.kind {
            StmtKind::Flow(flow) => {
                if flow.condition().is_some() {
                    bind(module, stmt, core, frame, catalog, interrupted, found)?;
                }
                for list in inside(flow) {
                    check_list(module, list, core, frame, catalog, interrupted, found)?;
                }
            }
            StmtKind::Ddl(_) | StmtKind::Session(SessionStmt::Use(_)) => {}
            StmtKind::Session(
                SessionStmt::Set(_)
                | SessionStmt::ExecuteAs(_)
                | SessionStmt::Revert
                | SessionStmt::Kill(_)
                | SessionStmt::Checkpoint,
            )
            | StmtKind::Table(_)
            | StmtKind::Tran(_)
            | StmtKind::Value(_)
            | StmtKind::Exec(_) => bind(module, stmt, core, frame, catalog, interrupted, found)?,
        }
    }
    Ok(())
}

/// The lists of statements within a statement.
fn inside(flow: &FlowStmt) -> Vec<&[Stmt]> {
    match flow {
        FlowStmt::Block(list) => vec![list],
        FlowStmt::TryCatch { body, handler } => vec![body, handler],
        FlowStmt::If {
            then, otherwise, ..
        } => {
            let otherwise = otherwise.as_deref().map(std::slice::from_ref);
            [std::slice::from_ref(&**then)]
                .into_iter()
                .chain(otherwise)
                .collect()
        }
        FlowStmt::While { body, .. } => vec![std::slice::from_ref(body)],
        FlowStmt::Break | FlowStmt::Continue | FlowStmt::Goto(_) | FlowStmt::Label(_) => Vec::new(),
    }
}

fn bind(
    module: &Arc<Module>,
    stmt: &Stmt,
    core: &Core,
    frame: &Frame,
    catalog: &Catalog,
    interrupted: Asking<'_>,
    found: &mut Found<'_>,
) -> SqlResult<()> {
    let kept = module.kept(stmt.pos.offset);
    if kept.is_some_and(|bound| core.against(catalog).is_current(&bound)) {
        return Ok(());
    }
    stop_if(interrupted())?;
    let looked_up = LookedUp::default();
    match bind_one(stmt, module, core, frame, catalog, &looked_up, interrupted) {
        Ok(bound) => {
            module.keep(stmt.pos.offset, Arc::new(bound));
            Ok(())
        }
        Err(error) if DEFERRED.contains(&error.number) => Ok(()),
        Err(error) => {
            found.looked_up.extend(looked_up);
            let mut error = error.at(stmt.pos.line);
            module.origin.name().clone_into(&mut error.procedure);
            if GATHERED.contains(&error.number) && found.errors.len() < GATHERED_MAX {
                found.errors.push(error);
                return Ok(());
            }
            Err(error)
        }
    }
}
