//! From a statement of a module to what it is bound to.

use crate::ast::{ExecStmt, Expr, ExprKind, Stmt, StmtKind, ValueStmt};
use crate::bind::{self, BindContext};
use crate::catalog::{Catalog, LookedUp};
use crate::context::{Core, Frame};
use crate::error::SqlResult;
use crate::interrupt::Asking;
use crate::plan::{Bound, Module};

use super::{early, expressions};

/// Binds a statement. What it looks up is noted in `looked_up`, for [`crate::exec::Env::await_names`] if that fails.
pub fn bind_one(
    stmt: &Stmt,
    module: &Module,
    core: &Core,
    frame: &Frame,
    catalog: &Catalog,
    looked_up: &LookedUp,
    interrupted: Asking<'_>,
) -> SqlResult<Bound> {
    let database = catalog.current(&core.database)?;
    let context = BindContext {
        catalog,
        database,
        default_schema: crate::context::default_schema(database, frame),
        login: &core.login,
        variables: &module.variables,
        quoted_identifier: module.quoted_identifier,
        temporaries: &core.temporaries,
        choices: core.choices.as_ref(),
        looked_up: Some(looked_up),
        interrupted,
    };
    let bound = bind_in(&context, stmt)?;
    early::refuse(&stmt.kind, &bound)?;
    Ok(bound)
}

fn bind_in(context: &BindContext<'_>, stmt: &Stmt) -> SqlResult<Bound> {
    match &stmt.kind {
        StmtKind::Flow(flow) => match flow.condition() {
            Some(condition) => bind::bind_condition(context, condition),
            None => bind::bind_scalars(context, &[]),
        },
        StmtKind::Table(table) => bind::bind_statement(context, table),
        StmtKind::Value(ValueStmt::SetVariable { name, op, value }) => {
            context.variables.target(name, stmt.pos)?;
            let Some(op) = op else {
                return bind::bind_scalars(context, &[value]);
            };
            let variable = Expr {
                pos: stmt.pos,
                kind: ExprKind::Variable(name.clone()),
            };
            let kind = ExprKind::Binary(*op, Box::new(variable), Box::new(value.clone()));
            let sum = Expr {
                pos: value.pos,
                kind,
            };
            bind::bind_scalars(context, &[&sum])
        }
        StmtKind::Exec(ExecStmt { return_into, .. }) => {
            if let Some(name) = return_into {
                context.variables.target(name, stmt.pos)?;
            }
            bind::bind_scalars(context, &expressions::of(&stmt.kind))
        }
        StmtKind::Value(
            ValueStmt::Return(_)
            | ValueStmt::Throw(_)
            | ValueStmt::RaisError(_)
            | ValueStmt::Print(_)
            | ValueStmt::WaitFor { .. }
            | ValueStmt::Declare(_),
        )
        | StmtKind::Ddl(_)
        | StmtKind::Tran(_)
        | StmtKind::Session(_) => bind::bind_scalars(context, &expressions::of(&stmt.kind)),
    }
}
