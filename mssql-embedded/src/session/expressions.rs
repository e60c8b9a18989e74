//! The expressions of control-flow statements, in the order in which the interpreter wants their values.

use crate::ast::{DeadlockPriority, Declaration, ExecTarget, Expr, SetOption, StmtKind};

/// The expressions that a statement evaluates as plain values.
pub fn of(kind: &StmtKind) -> Vec<&Expr> {
    match kind {
        StmtKind::Declare(list) => list
            .iter()
            .filter_map(|d| match d {
                Declaration::Scalar { value, .. } => value.as_ref(),
                Declaration::Table { .. } => None,
            })
            .collect(),
        StmtKind::Return(value) => value.iter().collect(),
        StmtKind::Print(value) => vec![value],
        StmtKind::Throw(Some(args)) => vec![&args.0, &args.1, &args.2],
        StmtKind::RaisError {
            message,
            severity,
            state,
            args,
            ..
        } => {
            let mut list = vec![message, severity, state];
            list.extend(args);
            list
        }
        StmtKind::WaitFor { time, .. } => vec![time],
        StmtKind::Exec(exec) => exec_exprs(exec),
        StmtKind::Insert(insert) => match &insert.source {
            crate::ast::InsertSource::Exec(exec) => exec_exprs(exec),
            crate::ast::InsertSource::Values(_)
            | crate::ast::InsertSource::Query(_)
            | crate::ast::InsertSource::DefaultValues => Vec::new(),
        },
        StmtKind::SetOption(option) => option_exprs(option),
        StmtKind::Block(_)
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Label(_)
        | StmtKind::TryCatch { .. }
        | StmtKind::Throw(_)
        | StmtKind::SetVariable { .. }
        | StmtKind::BeginTran(_)
        | StmtKind::Commit { .. }
        | StmtKind::Rollback(_)
        | StmtKind::SaveTran(_)
        | StmtKind::Use(_)
        | StmtKind::Select(_)
        | StmtKind::Update(_)
        | StmtKind::Delete(_)
        | StmtKind::Ddl(_)
        | StmtKind::ExecuteAs { .. }
        | StmtKind::Revert
        | StmtKind::Kill(_)
        | StmtKind::Checkpoint => Vec::new(),
    }
}

fn exec_exprs(exec: &crate::ast::ExecStmt) -> Vec<&Expr> {
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
        | SetOption::DateFormat(_)
        | SetOption::Language(_)
        | SetOption::Statistics => Vec::new(),
    }
}
