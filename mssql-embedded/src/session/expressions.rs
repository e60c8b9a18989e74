//! The expressions of control-flow statements, in the order in which the interpreter wants their values.

use crate::ast::{
    DeadlockPriority, Declaration, ExecStmt, ExecTarget, Expr, InsertSource, SessionStmt,
    SetOption, StmtKind, TableStmt, ValueStmt,
};

/// The expressions that a statement evaluates as plain values.
pub fn of(kind: &StmtKind) -> Vec<&Expr> {
    match kind {
        StmtKind::Value(stmt) => value_exprs(stmt),
        StmtKind::Exec(exec) => exec_exprs(exec),
        StmtKind::Table(stmt) => table_exprs(stmt),
        StmtKind::Session(stmt) => session_exprs(stmt),
        StmtKind::Flow(_) | StmtKind::Ddl(_) | StmtKind::Tran(_) => Vec::new(),
    }
}

fn value_exprs(stmt: &ValueStmt) -> Vec<&Expr> {
    match stmt {
        ValueStmt::Declare(list) => list
            .iter()
            .filter_map(|d| match d {
                Declaration::Scalar { value, .. } => value.as_ref(),
                Declaration::Table { .. } => None,
            })
            .collect(),
        ValueStmt::Return(value) => value.iter().collect(),
        ValueStmt::Print(value) => vec![value],
        ValueStmt::Throw(args) => args
            .iter()
            .flat_map(|args| [&args.0, &args.1, &args.2])
            .collect(),
        ValueStmt::RaisError(raise) => [&raise.message, &raise.severity, &raise.state]
            .into_iter()
            .chain(&raise.args)
            .collect(),
        ValueStmt::WaitFor { time, .. } => vec![time],
        // The binder puts the operator of `SET @a += x` around it.
        ValueStmt::SetVariable { .. } => Vec::new(),
    }
}

/// Of a statement on tables only the arguments of INSERT … EXEC.
fn table_exprs(stmt: &TableStmt) -> Vec<&Expr> {
    match stmt {
        TableStmt::Insert(insert) => match &insert.source {
            InsertSource::Exec(exec) => exec_exprs(exec),
            InsertSource::Values(_) | InsertSource::Query(_) | InsertSource::DefaultValues => {
                Vec::new()
            }
        },
        TableStmt::Select(_) | TableStmt::Update(_) | TableStmt::Delete(_) => Vec::new(),
    }
}

fn session_exprs(stmt: &SessionStmt) -> Vec<&Expr> {
    match stmt {
        SessionStmt::Set(option) => option_exprs(option),
        SessionStmt::Use(_)
        | SessionStmt::ExecuteAs { .. }
        | SessionStmt::Revert
        | SessionStmt::Kill(_)
        | SessionStmt::Checkpoint => Vec::new(),
    }
}

fn exec_exprs(exec: &ExecStmt) -> Vec<&Expr> {
    match &exec.target {
        ExecTarget::Text(pieces) => pieces.iter().collect(),
        ExecTarget::Procedure(_) | ExecTarget::Variable(_) => {
            exec.args.iter().filter_map(|a| a.value.as_ref()).collect()
        }
    }
}

fn option_exprs(option: &SetOption) -> Vec<&Expr> {
    match option {
        SetOption::LockTimeout(e)
        | SetOption::RowCount(e)
        | SetOption::TextSize(e)
        | SetOption::DateFirst(e)
        | SetOption::ContextInfo(e) => vec![e],
        SetOption::DeadlockPriority(DeadlockPriority::Level(_) | DeadlockPriority::Variable(_)) => {
            Vec::new()
        }
        SetOption::Switch(..)
        | SetOption::IdentityInsert(..)
        | SetOption::IsolationLevel(_)
        | SetOption::DateFormat
        | SetOption::Language
        | SetOption::Statistics => Vec::new(),
    }
}
