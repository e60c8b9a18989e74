//! Collecting the variables of a batch or procedure before it runs.

use std::sync::Arc;

use crate::ast::{Declaration, FlowStmt, Stmt, StmtKind, ValueStmt};
use crate::catalog::{Database, Home};
use crate::error::SqlResult;
use crate::plan::VariableMap;
use crate::value::{BareLength, DataType};

use super::table_def::{TableName, table_def_from_ast};
use super::{resolve_collation, resolve_type};

/// Collects parameters, in order from slot 0, and then every DECLARE of the statements.
///
/// # Errors
///
/// 134 for a name declared twice, and the errors of types and table definitions.
pub fn collect_variables(
    params: &[(String, DataType)],
    body: &[Stmt],
    database: &Database,
) -> SqlResult<VariableMap> {
    let mut map = VariableMap::default();
    for (name, ty) in params {
        map.add_scalar(name, ty.clone(), None)?;
    }
    statements(&mut map, body, database)?;
    Ok(map)
}

fn statements(map: &mut VariableMap, body: &[Stmt], database: &Database) -> SqlResult<()> {
    body.iter().try_for_each(|s| statement(map, s, database))
}

fn statement(map: &mut VariableMap, stmt: &Stmt, database: &Database) -> SqlResult<()> {
    match &stmt.kind {
        StmtKind::Flow(flow) => inside(map, flow, database),
        StmtKind::Value(ValueStmt::Declare(list)) => {
            list.iter().try_for_each(|d| declare(map, d, database))
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
fn inside(map: &mut VariableMap, flow: &FlowStmt, database: &Database) -> SqlResult<()> {
    match flow {
        FlowStmt::Block(body) => statements(map, body, database),
        FlowStmt::If {
            then, otherwise, ..
        } => {
            statement(map, then, database)?;
            otherwise
                .iter()
                .try_for_each(|s| statement(map, s, database))
        }
        FlowStmt::While { body, .. } => statement(map, body, database),
        FlowStmt::TryCatch { body, handler } => {
            statements(map, body, database)?;
            statements(map, handler, database)
        }
        FlowStmt::Break | FlowStmt::Continue | FlowStmt::Goto(_) | FlowStmt::Label(_) => Ok(()),
    }
}

fn declare(map: &mut VariableMap, declaration: &Declaration, database: &Database) -> SqlResult<()> {
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
            let table = table_def_from_ast(&target, columns, constraints, home)
                .map_err(|e| e.at(pos.line))?;
            map.add_table(name, Arc::new(table))
                .map_err(|e| e.at(pos.line))
        }
    }
}
