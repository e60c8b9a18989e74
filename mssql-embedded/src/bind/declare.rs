//! Collecting the variables of a batch or procedure before it runs.

use std::sync::Arc;

use crate::ast::{Declaration, FlowStmt, Stmt, StmtKind, ValueStmt};
use crate::catalog::{Database, Home};
use crate::error::SqlResult;
use crate::interrupt::{Asking, stop_if};
use crate::plan::VariableMap;
use crate::value::{BareLength, DataType};

use super::table_def::{TableName, table_def_from_ast};
use super::{resolve_collation, resolve_type};

/// Collects parameters, in order from slot 0, and then every DECLARE of the statements.
///
/// # Errors
///
/// 134 for a name declared twice, and the errors of types and table definitions; besides, that of `interrupted`, which
/// is asked at each DECLARE and within that of a table.
pub fn collect_variables(
    params: &[(String, DataType)],
    body: &[Stmt],
    database: &Database,
    interrupted: Asking<'_>,
) -> SqlResult<VariableMap> {
    let mut collected = Collected {
        map: VariableMap::default(),
        database,
        interrupted,
    };
    for (name, ty) in params {
        collected.map.add_scalar(name, ty.clone(), None)?;
    }
    collected.statements(body)?;
    Ok(collected.map)
}

struct Collected<'c> {
    map: VariableMap,
    database: &'c Database,
    interrupted: Asking<'c>,
}

impl Collected<'_> {
    fn statements(&mut self, body: &[Stmt]) -> SqlResult<()> {
        body.iter().try_for_each(|s| self.statement(s))
    }

    fn statement(&mut self, stmt: &Stmt) -> SqlResult<()> {
        match &stmt.kind {
            StmtKind::Flow(flow) => self.inside(flow),
            StmtKind::Value(ValueStmt::Declare(list)) => {
                stop_if((self.interrupted)())?;
                list.iter().try_for_each(|d| self.declare(d))
            }
            StmtKind::Value(
                ValueStmt::Return(_)
                | ValueStmt::Throw(_)
                | ValueStmt::RaisError(_)
                | ValueStmt::Print(_)
                | ValueStmt::WaitFor { .. }
                | ValueStmt::SetVariable { .. },
            )
            | StmtKind::Table(_)
            | StmtKind::Ddl(_)
            | StmtKind::Tran(_)
            | StmtKind::Session(_)
            | StmtKind::Exec(_) => Ok(()),
        }
    }

    /// A DECLARE counts wherever it stands: the whole batch knows the variable, whether the branch runs
    /// or not.
    fn inside(&mut self, flow: &FlowStmt) -> SqlResult<()> {
        match flow {
            FlowStmt::Block(body) => self.statements(body),
            FlowStmt::If {
                then, otherwise, ..
            } => {
                self.statement(then)?;
                otherwise.iter().try_for_each(|s| self.statement(s))
            }
            FlowStmt::While { body, .. } => self.statement(body),
            FlowStmt::TryCatch { body, handler } => {
                self.statements(body)?;
                self.statements(handler)
            }
            FlowStmt::Break | FlowStmt::Continue | FlowStmt::Goto(_) | FlowStmt::Label(_) => Ok(()),
        }
    }

    fn declare(&mut self, declaration: &Declaration) -> SqlResult<()> {
        let (map, database) = (&mut self.map, self.database);
        match declaration {
            Declaration::Scalar {
                name,
                ty,
                collate,
                pos,
                ..
            } => {
                let collation = match collate {
                    Some(name) => resolve_collation(name, database.collation)?,
                    None => database.collation,
                };
                let ty = resolve_type(ty, collation, BareLength::One)?;
                map.add_scalar(name, ty, Some(*pos))
                    .map_err(|e| e.at(pos.line))
            }
            Declaration::Table {
                name,
                columns,
                constraints,
                pos,
            } => {
                let target = TableName::variable(name, database);
                let home = Home {
                    database,
                    default_schema: "dbo",
                };
                let table =
                    table_def_from_ast(&target, columns, constraints, home, self.interrupted)
                        .map_err(|e| e.at(pos.line))?;
                map.add_table(name, Arc::new(table))
                    .map_err(|e| e.at(pos.line))
            }
        }
    }
}
