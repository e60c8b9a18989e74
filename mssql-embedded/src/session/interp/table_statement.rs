//! SELECT, INSERT, UPDATE and DELETE, and what the client sees of them.

use std::sync::Arc;

use crate::ast::{InsertSource, QueryBody, Stmt, StmtKind, TableStmt};
use crate::context::Frame;
use crate::error::SqlError;
use crate::exec::{self, DmlResult, Env, QueryRun, eval};
use crate::memory::{KeptRows, Memory};
use crate::plan::{AssignQuery, BoundKind, Module};
use crate::value::{CastMode, ColumnMeta, cast};

use super::{Failure, Flow, Interp, SELECT, transaction};

/// The commands of DONE.
const INSERT: u16 = 0xC3;
const DELETE: u16 = 0xC4;
const UPDATE: u16 = 0xC5;

/// What a statement on tables brought.
enum Outcome {
    Rows,
    Assigned(u64),
    Into(u64),
    /// With the command that DONE names.
    Written(u16, DmlResult),
}

/// The result set of a statement that may yet fail.
struct Partial {
    columns: Option<Vec<ColumnMeta>>,
    rows: KeptRows,
    /// How many rows the client already has, and with them the columns.
    sent: usize,
}

impl Partial {
    fn new(memory: &Arc<Memory>) -> Self {
        Self {
            columns: None,
            rows: KeptRows::new(memory),
            sent: 0,
        }
    }
}

fn writes(table: &TableStmt) -> bool {
    match table {
        TableStmt::Select(select) => makes_a_table(&select.query.body),
        TableStmt::Insert(_) | TableStmt::Update(_) | TableStmt::Delete(_) => true,
    }
}

/// Whether a query is a SELECT … INTO, which writes.
fn makes_a_table(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(spec) => spec.into.is_some(),
        QueryBody::SetOp { left, .. } => makes_a_table(left),
        QueryBody::Nested(query) => makes_a_table(&query.body),
        QueryBody::Values(_) => false,
    }
}

/// The columns that a statement sends to the client, if it sends any.
fn client_columns(kind: &BoundKind) -> Option<&[ColumnMeta]> {
    let output = match kind {
        BoundKind::Select(query) => return Some(&query.columns),
        BoundKind::Insert(insert) => insert.output.as_ref(),
        BoundKind::Update(update) => update.output.as_ref(),
        BoundKind::Delete(delete) => delete.output.as_ref(),
        BoundKind::SelectInto(_)
        | BoundKind::Assign(_)
        | BoundKind::Condition(_)
        | BoundKind::Scalars(_) => None,
    }?;
    output.into.is_none().then_some(&output.columns)
}

impl Interp<'_> {
    /// Runs a statement on tables. Rows are gathered under the latch and sent when it has been given
    /// back, so that a slow client never holds up another session.
    pub fn table_statement(
        &mut self,
        table: &TableStmt,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        self.begin_implicitly(transaction::table_needs_transaction(table))?;
        if writes(table) && self.core.doomed && self.core.trancount > 0 {
            return Err(transaction::doomed().into());
        }
        let given = if let TableStmt::Insert(insert) = table
            && let InsertSource::Exec(exec) = &insert.source
        {
            Some(self.captured(exec, stmt, module, frame)?)
        } else {
            None
        };
        let captures = self.capture.is_some();
        let mut partial = Partial::new(&self.core.memory);
        let outcome = self.evaluate(stmt, module, frame, |bound, env| {
            partial.columns = client_columns(&bound.kind).map(<[_]>::to_vec);
            Ok(match &bound.kind {
                BoundKind::Select(query) => {
                    let limit = env.row_limit();
                    if captures {
                        exec::collect_into(query, limit, env, &mut partial.rows)?;
                    } else {
                        exec::stream(query, limit, env, &mut partial.rows, &mut partial.sent)?;
                    }
                    Outcome::Rows
                }
                BoundKind::SelectInto(into) => {
                    Outcome::Into(crate::session::ddl::select_into(into, env)?)
                }
                BoundKind::Assign(assign) => Outcome::Assigned(run_assign(assign, env)?),
                BoundKind::Insert(insert) => {
                    Outcome::Written(INSERT, exec::run_insert(insert, given, env)?)
                }
                BoundKind::Update(update) => {
                    Outcome::Written(UPDATE, exec::run_update(update, env)?)
                }
                BoundKind::Delete(delete) => {
                    Outcome::Written(DELETE, exec::run_delete(delete, env)?)
                }
                BoundKind::Condition(_) | BoundKind::Scalars(_) => {
                    return Err(SqlError::internal("an expression as a statement"));
                }
            })
        });
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(failure) => {
                self.send_partial(&failure, partial, frame)?;
                return Err(failure);
            }
        };
        self.core.error = 0;
        match outcome {
            Outcome::Rows => {
                self.core.rowcount = (partial.sent + partial.rows.len()) as i64;
                let columns = partial.columns.unwrap_or_default();
                self.send_rest(frame, &columns, partial.rows, partial.sent, SELECT)?;
            }
            Outcome::Assigned(rows) => {
                self.send_notices()?;
                self.core.rowcount = rows as i64;
            }
            Outcome::Into(rows) => {
                self.core.rowcount = rows as i64;
                let rows = (!self.core.settings.nocount).then_some(rows);
                self.done(frame, rows, SELECT)?;
            }
            Outcome::Written(command, result) => self.written(stmt, frame, command, result)?,
        }
        Ok(Flow::Next)
    }

    /// A result set has begun when its statement fails: the client is told its columns and the rows
    /// before the error.
    fn send_partial(
        &mut self,
        failure: &Failure,
        partial: Partial,
        frame: &Frame,
    ) -> Result<(), Failure> {
        let (Some(columns), Failure::Error(error, _)) = (partial.columns, failure) else {
            return Ok(());
        };
        if self.capture.is_some() || crate::interrupt::is_interrupt(error) {
            return Ok(());
        }
        self.ended = false;
        if partial.sent == 0 {
            self.sink.columns(&columns)?;
        }
        for row in partial.rows.iter() {
            self.sink.row(row)?;
        }
        // Caught errors are not told, so the result set needs an end of its own.
        if self.core.try_depth > 0 {
            let rows =
                (!self.core.settings.nocount).then_some((partial.sent + partial.rows.len()) as u64);
            self.done(frame, rows, SELECT)?;
        }
        Ok(())
    }

    fn written(
        &mut self,
        stmt: &Stmt,
        frame: &Frame,
        command: u16,
        result: DmlResult,
    ) -> Result<(), Failure> {
        self.core.rowcount = result.rows as i64;
        for message in &result.messages {
            self.send_message(&message.clone().at(stmt.pos.line))?;
        }
        match result.output {
            Some((columns, rows)) => self.send_rows(frame, &columns, rows, command)?,
            None => {
                let rows = (!self.core.settings.nocount).then_some(result.rows);
                self.done(frame, rows, command)?;
            }
        }
        Ok(())
    }

    /// Sends a result set, or keeps it for INSERT … EXEC.
    pub fn send_rows(
        &mut self,
        frame: &Frame,
        columns: &[ColumnMeta],
        rows: KeptRows,
        command: u16,
    ) -> Result<(), Failure> {
        self.send_rest(frame, columns, rows, 0, command)
    }

    /// Sends what is left of a result set of which the client has `sent` rows.
    fn send_rest(
        &mut self,
        frame: &Frame,
        columns: &[ColumnMeta],
        rows: KeptRows,
        sent: usize,
        command: u16,
    ) -> Result<(), Failure> {
        if let Some(captured) = &mut self.capture {
            captured.append(rows);
            self.send_notices()?;
            return Ok(());
        }
        self.ended = false;
        if sent == 0 {
            self.sink.columns(columns)?;
        }
        let count = (sent + rows.len()) as u64;
        for row in rows.iter() {
            self.sink.row(row)?;
        }
        self.send_notices()?;
        let counted = (!self.core.settings.nocount).then_some(count);
        self.ended = true;
        let kind = if self.rpc || frame.depth > 0 {
            crate::session::DoneKind::InProcedure
        } else {
            crate::session::DoneKind::Statement
        };
        self.sink.done(crate::session::Done {
            kind,
            rows: counted,
            error: false,
            command,
        })?;
        Ok(())
    }

    fn captured(
        &mut self,
        exec: &crate::ast::ExecStmt,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<KeptRows, Failure> {
        if self.capture.is_some() {
            return Err(SqlError::new(8164, "An INSERT EXEC statement cannot be nested.").into());
        }
        // The arguments are bound under a place of their own: the INSERT has its own bound form.
        let mut call = Stmt {
            kind: StmtKind::Exec(exec.clone()),
            ..*stmt
        };
        call.pos.offset += 1;
        self.capture = Some(KeptRows::new(&self.core.memory));
        let outcome = self.exec_inner(exec, &call, module, frame);
        let rows = self.capture.take();
        outcome?;
        rows.ok_or_else(|| SqlError::internal("captured rows that somebody else took").into())
    }
}

/// `SELECT @a = x FROM …`: every row assigns, the last one stays; no row leaves the variables alone.
fn run_assign(assign: &AssignQuery, env: &mut Env<'_, '_>) -> crate::error::SqlResult<u64> {
    let limit = env.row_limit();
    let mut run = QueryRun::open(&assign.query, env)?;
    let mut rows = 0;
    while limit.is_none_or(|limit| rows < limit as u64)
        && run
            .next_with(env, |env| {
                for item in &assign.assign {
                    let value = eval(&item.value, env)?;
                    let to = env.frame.variables.scalars()[item.variable].ty.clone();
                    env.frame.values[item.variable] =
                        cast(&value, &item.ty, &to, None, CastMode::Assign)?;
                }
                Ok(())
            })?
            .is_some()
    {
        rows += 1;
    }
    Ok(rows)
}
