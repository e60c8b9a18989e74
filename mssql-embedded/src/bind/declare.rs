//! Collecting the variables of a batch or procedure before it runs.

use std::sync::Arc;

use crate::ast::{Declaration, Stmt, StmtKind};
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
        StmtKind::Block(body) => statements(map, body, database),
        StmtKind::If {
            then, otherwise, ..
        } => {
            statement(map, then, database)?;
            otherwise
                .iter()
                .try_for_each(|s| statement(map, s, database))
        }
        StmtKind::While { body, .. } => statement(map, body, database),
        StmtKind::TryCatch { body, handler } => {
            statements(map, body, database)?;
            statements(map, handler, database)
        }
        StmtKind::Declare(list) => list.iter().try_for_each(|d| declare(map, d, database)),
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Label(_)
        | StmtKind::Throw(_)
        | StmtKind::RaisError { .. }
        | StmtKind::Print(_)
        | StmtKind::WaitFor { .. }
        | StmtKind::SetVariable { .. }
        | StmtKind::SetOption(_)
        | StmtKind::Exec(_)
        | StmtKind::BeginTran(_)
        | StmtKind::Commit { .. }
        | StmtKind::Rollback(_)
        | StmtKind::SaveTran(_)
        | StmtKind::Use(_)
        | StmtKind::Select(_)
        | StmtKind::Insert(_)
        | StmtKind::Update(_)
        | StmtKind::Delete(_)
        | StmtKind::Ddl(_)
        | StmtKind::ExecuteAs { .. }
        | StmtKind::Revert
        | StmtKind::Kill(_)
        | StmtKind::Checkpoint => Ok(()),
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
