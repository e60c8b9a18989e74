//! BEGIN, COMMIT, ROLLBACK and SAVE TRANSACTION.

use crate::ast::{Ddl, DropKind, QueryBody, TableStmt, TranName, TranStmt};
use crate::context::{Frame, Savepoint};
use crate::error::{SqlError, SqlResult};
use crate::hooks::Moment;
use crate::plan::Module;
use crate::session::{BeginRequest, EnvChange, TransactionRequest};
use crate::value::Value;

use super::{Failure, Flow, Interp};

/// How much of a variable names a transaction.
const NAME_MAX: usize = 32;

impl Interp<'_> {
    pub fn tran_statement(
        &mut self,
        stmt: &TranStmt,
        module: &Module,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        match stmt {
            TranStmt::Begin(name) => self.begin_tran(name.as_ref(), frame),
            TranStmt::Commit { delayed, .. } => {
                self.commit_tran(module.origin.qualified(), *delayed)
            }
            TranStmt::Rollback(name) => self.rollback_tran(name.as_ref(), frame),
            TranStmt::Save(name) => self.save_tran(name, frame),
        }
    }

    /// BEGIN TRAN: the first one opens the transaction, further ones only count.
    pub fn begin_tran(&mut self, name: Option<&TranName>, frame: &Frame) -> Result<Flow, Failure> {
        let name = name.map(|n| self.tran_name(n, frame)).transpose()?;
        // "BEGIN TRANSACTION … starts two nested transactions" with IMPLICIT_TRANSACTIONS ON: it is among
        // the statements that begin one of their own first.
        if self.core.settings.implicit_transactions && self.core.trancount == 0 {
            self.begin(None)?;
        }
        self.begin(name)?;
        self.settled();
        Ok(Flow::Next)
    }

    fn settled(&mut self) {
        self.core.rowcount = 0;
        self.core.error = 0;
    }

    fn begin(&mut self, name: Option<String>) -> Result<(), Failure> {
        if self.core.doomed {
            return Err(doomed().into());
        }
        if self.core.trancount == 0 {
            self.open_transaction()?;
            self.core.transaction_name = name;
        }
        self.core.trancount += 1;
        Ok(())
    }

    /// Under IMPLICIT_TRANSACTIONS, a statement that reads or changes tables or definitions begins a
    /// transaction; a SELECT of mere values does not.
    pub fn begin_implicitly(&mut self, needed: bool) -> Result<(), Failure> {
        if self.core.settings.implicit_transactions && self.core.trancount == 0 && needed {
            self.open_transaction()?;
            self.core.trancount = 1;
        }
        Ok(())
    }

    /// Opens the transaction itself and tells the client its descriptor.
    pub fn open_transaction(&mut self) -> Result<(), Failure> {
        let engine = std::sync::Arc::clone(&self.core.engine);
        let mut latch = engine.latch();
        let txn = latch.begin(self.core.lock_owner());
        drop(latch);
        let descriptor = txn.id;
        self.core.txn = Some(txn);
        self.core.doomed = false;
        self.core.began_in_snapshot =
            self.core.settings.isolation == crate::ast::IsolationLevel::Snapshot;
        self.core.savepoints.clear();
        self.sink
            .env_change(&EnvChange::BeginTransaction(descriptor))?;
        Ok(())
    }

    /// COMMIT in a procedure (`schema.name`, or empty). Only the outermost decides whether it waits for
    /// the log.
    pub fn commit_tran(&mut self, procedure: &str, delayed: bool) -> Result<Flow, Failure> {
        match self.core.trancount {
            0 => {
                return Err(SqlError::new(
                    3902,
                    "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.",
                )
                .into());
            }
            _ if self.core.doomed => return Err(doomed().into()),
            1 => {
                self.commit_now(procedure, delayed)?;
            }
            n => self.core.trancount = n - 1,
        }
        self.settled();
        Ok(Flow::Next)
    }

    fn commit_now(&mut self, procedure: &str, delayed: bool) -> Result<(), Failure> {
        let engine = std::sync::Arc::clone(&self.core.engine);
        self.moment(Moment::Commit, procedure, "")?;
        let mut latch = engine.latch();
        let mut descriptor = 0;
        if let Some(txn) = self.core.txn.take() {
            descriptor = txn.id;
            engine.commit(&mut latch, txn, &self.core.database, delayed);
        }
        drop(latch);
        self.core.trancount = 0;
        self.core.savepoints.clear();
        self.moment(Moment::Committed, procedure, "")?;
        self.sink
            .env_change(&EnvChange::CommitTransaction(descriptor))?;
        Ok(())
    }

    /// ROLLBACK, of everything or to a savepoint.
    pub fn rollback_tran(
        &mut self,
        name: Option<&TranName>,
        frame: &Frame,
    ) -> Result<Flow, Failure> {
        if self.core.trancount == 0 {
            return Err(nothing_to_roll_back().into());
        }
        // The INSERT that waits for the rows belongs to the transaction.
        if self.capture.is_some() && name.is_none() {
            return Err(SqlError::with(
                3915,
                16,
                0,
                "Cannot use the ROLLBACK statement within an INSERT-EXEC statement.",
            )
            .into());
        }
        let name = name.map(|n| self.tran_name(n, frame)).transpose()?;
        self.rollback_to_name(name.as_deref())?;
        self.settled();
        Ok(Flow::Next)
    }

    fn rollback_to_name(&mut self, name: Option<&str>) -> Result<(), Failure> {
        if let Some(name) = name.filter(|n| !n.is_empty()) {
            let found = self.core.savepoints.iter().rposition(|s| s.name == name);
            if let Some(at) = found {
                if self.core.doomed {
                    return Err(SqlError::new(
                        3931,
                        "The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the entire transaction.",
                    )
                    .into());
                }
                self.core.savepoints.truncate(at + 1);
                let mark = self.core.savepoints[at].mark;
                let engine = std::sync::Arc::clone(&self.core.engine);
                let mut latch = engine.latch();
                if let Some(txn) = &mut self.core.txn {
                    txn.rollback_to(&mut latch, mark);
                }
                return Ok(());
            }
            if self.core.transaction_name.as_deref() != Some(name) {
                return Err(SqlError::new(
                    6401,
                    format!("Cannot roll back {name}. No transaction or savepoint of that name was found."),
                )
                .into());
            }
        }
        self.rollback_all();
        Ok(())
    }

    /// Rolls the whole transaction back, if there is one. A client that is gone is noticed later.
    pub fn rollback_all(&mut self) {
        if let Some(descriptor) = self.core.rollback_all() {
            let _ = self
                .sink
                .env_change(&EnvChange::RollbackTransaction(descriptor));
        }
    }

    pub fn save_tran(&mut self, name: &TranName, frame: &Frame) -> Result<Flow, Failure> {
        let name = self.tran_name(name, frame)?;
        self.save(name)?;
        self.settled();
        Ok(Flow::Next)
    }

    fn save(&mut self, name: String) -> Result<(), Failure> {
        if self.core.trancount == 0 {
            return Err(SqlError::new(
                628,
                "Cannot issue SAVE TRANSACTION when there is no active transaction.",
            )
            .into());
        }
        if self.core.doomed {
            return Err(doomed().into());
        }
        let engine = std::sync::Arc::clone(&self.core.engine);
        let latch = engine.latch();
        if let Some(txn) = &self.core.txn {
            let savepoint = Savepoint::new(name, txn.mark(&latch), &self.core.memory)?;
            self.core.savepoints.push(savepoint);
        }
        Ok(())
    }

    fn tran_name(&self, name: &TranName, frame: &Frame) -> SqlResult<String> {
        match name {
            TranName::Name(ident) => Ok(ident.name.clone()),
            TranName::Variable(variable) => {
                if let Value::Str(s) = &frame.values[frame.variables.scalar_named(variable)?.slot] {
                    // "More than 32 characters can be passed to the variable, but only the first 32 characters
                    // are used" ("SAVE TRANSACTION", and alike for BEGIN and ROLLBACK).
                    Ok(String::from_utf16_lossy(&s[..s.len().min(NAME_MAX)]))
                } else {
                    Err(SqlError::new(
                        3912,
                        "Cannot bind using an XP token while the server is not in an XP callback.",
                    ))
                }
            }
        }
    }

    /// A transaction-manager request of the client.
    pub fn transaction_request(&mut self, request: TransactionRequest) -> Result<(), Failure> {
        match request {
            TransactionRequest::Begin(begin) => self.begin_if_asked(Some(begin)),
            TransactionRequest::Commit { begin, .. } => {
                self.commit_tran("", false)?;
                self.begin_if_asked(begin)
            }
            TransactionRequest::Rollback { name, begin } => {
                if self.core.trancount == 0 {
                    return Err(nothing_to_roll_back().into());
                }
                self.rollback_to_name(Some(&name))?;
                self.begin_if_asked(begin)
            }
            TransactionRequest::Save { name } => self.save(name),
        }
    }

    fn begin_if_asked(&mut self, begin: Option<BeginRequest>) -> Result<(), Failure> {
        let Some(BeginRequest { isolation, name }) = begin else {
            return Ok(());
        };
        if let Some(isolation) = isolation {
            self.core.settings.isolation = isolation;
            self.core.show_settings();
        }
        self.begin((!name.is_empty()).then_some(name))
    }
}

/// 3903: ROLLBACK outside of transactions.
fn nothing_to_roll_back() -> SqlError {
    SqlError::new(
        3903,
        "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.",
    )
}

/// 3930: what a doomed transaction does not bear.
pub fn doomed() -> SqlError {
    SqlError::new(
        3930,
        "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.",
    )
}

/// Whether a statement on tables needs a transaction.
pub fn table_needs_transaction(stmt: &TableStmt) -> bool {
    match stmt {
        TableStmt::Select(select) => reads_a_source(&select.query.body),
        TableStmt::Insert(_) | TableStmt::Update(_) | TableStmt::Delete(_) => true,
    }
}

/// Whether a definition needs a transaction: databases come and go outside of transactions.
pub fn ddl_needs_transaction(ddl: &Ddl) -> bool {
    match ddl {
        Ddl::CreateDatabase { .. } | Ddl::AlterDatabase { .. } => false,
        Ddl::Drop { kind, .. } => match kind {
            DropKind::Database => false,
            DropKind::Table
            | DropKind::Procedure
            | DropKind::View
            | DropKind::Schema
            | DropKind::Role
            | DropKind::User
            | DropKind::Login => true,
        },
        Ddl::CreateSchema { .. }
        | Ddl::CreateTable { .. }
        | Ddl::AlterTable { .. }
        | Ddl::CreateIndex(_)
        | Ddl::CreateProcedure(_)
        | Ddl::CreateView(_)
        | Ddl::DropIndex { .. }
        | Ddl::Truncate(_)
        | Ddl::CreateLogin { .. }
        | Ddl::AlterLogin { .. }
        | Ddl::CreateUser { .. }
        | Ddl::AlterUser { .. }
        | Ddl::CreateRole { .. }
        | Ddl::AlterRole { .. }
        | Ddl::AlterServerRole { .. }
        | Ddl::Permission(_)
        | Ddl::AlterAuthorization { .. } => true,
    }
}

fn reads_a_source(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(spec) => !spec.from.is_empty(),
        QueryBody::SetOp { left, right, .. } => reads_a_source(left) || reads_a_source(right),
        QueryBody::Nested(query) => reads_a_source(&query.body),
        QueryBody::Values(_) => false,
    }
}
