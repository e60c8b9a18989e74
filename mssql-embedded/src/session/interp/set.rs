//! SET options, USE and WAITFOR.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use crate::ast::{DeadlockPriority, IsolationLevel, SetOption, Stmt, StmtKind};
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::interrupt::Interrupt;
use crate::plan::Module;
use crate::session::EnvChange;
use crate::value::{CastMode, DataType, Length, Value, cast};

use super::{Failure, Flow, Interp, Stop};

/// Whether this is `SET NOEXEC OFF`, the one statement that NOEXEC lets through.
pub(super) fn ends_noexec(statement: &StmtKind) -> bool {
    matches!(
        statement,
        StmtKind::SetOption(SetOption::Switch(names, false)) if names.iter().any(|n| n == "NOEXEC")
    )
}

impl Interp<'_> {
    /// SET, other than of a variable.
    pub fn set_option(
        &mut self,
        option: &SetOption,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        match option {
            SetOption::Switch(names, on) => {
                for name in names {
                    self.switch(name, *on)?;
                }
            }
            SetOption::IdentityInsert(table, on) => self.identity_insert(table, *on, frame)?,
            SetOption::LockTimeout(_) => {
                // Below zero is for ever.
                let timeout = self.number(stmt, module, frame)?;
                self.core.settings.lock_timeout_ms = u64::try_from(timeout).ok();
            }
            SetOption::DeadlockPriority(priority) => {
                let level = match priority {
                    DeadlockPriority::Level(n) => i64::from(*n),
                    DeadlockPriority::Variable(name) => {
                        if let Value::Int(n) =
                            &frame.values[frame.variables.scalar_named(name)?.slot]
                        {
                            *n
                        } else {
                            0
                        }
                    }
                };
                if !(-10..=10).contains(&level) {
                    return Err(SqlError::with(
                        1016,
                        15,
                        1,
                        format!("The deadlock priority {level} is outside -10 to 10."),
                    )
                    .into());
                }
                self.core.settings.deadlock_priority = level as i32;
            }
            SetOption::IsolationLevel(level) => self.isolation_level(*level)?,
            SetOption::RowCount(_) => {
                let n = self.number(stmt, module, frame)?;
                let limit = u64::try_from(n).map_err(|_| {
                    SqlError::with(
                        1014,
                        15,
                        1,
                        "A TOP or FETCH clause contains an invalid value.",
                    )
                })?;
                // Zero is without limit.
                self.core.settings.rowcount_limit = NonZeroU64::new(limit);
            }
            SetOption::TextSize(_) => {
                let n = self.number(stmt, module, frame)?;
                // Nothing is ever cut, so only the values that cut nothing are taken.
                if n != -1 && n < i64::from(i32::MAX) {
                    return Err(SqlError::unsupported(format!("SET TEXTSIZE {n}")).into());
                }
                self.core.settings.textsize = n;
            }
            SetOption::DateFirst(_) => {
                let n = self.number(stmt, module, frame)?;
                let day = u8::try_from(n).ok().filter(|day| (1..=7).contains(day));
                self.core.settings.datefirst = day.ok_or_else(|| {
                    SqlError::with(2742, 16, 1, format!("SET DATEFIRST {n} is out of range."))
                })?;
            }
            SetOption::DateFormat(format) => {
                if !format.name.eq_ignore_ascii_case("mdy") {
                    return Err(
                        SqlError::unsupported(format!("SET DATEFORMAT {}", format.name)).into(),
                    );
                }
            }
            SetOption::Language(name) => self.language(name)?,
            SetOption::ContextInfo(_) => self.context_info(stmt, module, frame)?,
            SetOption::Statistics => {}
        }
        self.core.rowcount = 0;
        self.core.error = 0;
        Ok(Flow::Next)
    }

    /// SET CONTEXT_INFO; what is shorter than 128 bytes is filled up with zeros.
    fn context_info(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<(), Failure> {
        let (value, from) = self.value(stmt, module, frame)?;
        let to = DataType::VarBinary(Length::Limited(128));
        let Value::Bytes(bytes) = cast(&value, &from, &to, None, CastMode::Assign)? else {
            let message = "SET CONTEXT_INFO option requires varbinary (128) NOT NULL parameter.";
            return Err(SqlError::with(2743, 16, 1, message).into());
        };
        let mut info = bytes.to_vec();
        info.resize(128, 0);
        self.core.context_info = Some(info.into());
        Ok(())
    }

    fn switch(&mut self, name: &str, on: bool) -> SqlResult<()> {
        let s = &mut self.core.settings;
        match name {
            "NOCOUNT" => s.nocount = on,
            "NOEXEC" => s.noexec = on,
            "XACT_ABORT" => s.xact_abort = on,
            "QUOTED_IDENTIFIER" => s.quoted_identifier = on,
            "IMPLICIT_TRANSACTIONS" => s.implicit_transactions = on,
            // The engine always behaves as with these on; off would change results.
            "ANSI_NULLS"
            | "ANSI_WARNINGS"
            | "ARITHABORT"
            | "ANSI_PADDING"
            | "CONCAT_NULL_YIELDS_NULL"
            | "ANSI_NULL_DFLT_ON"
                if on => {}
            "NUMERIC_ROUNDABORT"
            | "ARITHIGNORE"
            | "CURSOR_CLOSE_ON_COMMIT"
            | "ANSI_NULL_DFLT_OFF"
            | "PARSEONLY"
            | "FMTONLY"
            | "SHOWPLAN_ALL"
            | "SHOWPLAN_TEXT"
            | "SHOWPLAN_XML"
            | "FORCEPLAN"
            | "REMOTE_PROC_TRANSACTIONS"
            | "DISABLE_DEF_CNST_CHK"
                if !on => {}
            _ => {
                let state = if on { "ON" } else { "OFF" };
                return Err(SqlError::unsupported(format!("SET {name} {state}")));
            }
        }
        Ok(())
    }

    fn isolation_level(&mut self, level: IsolationLevel) -> SqlResult<()> {
        let was = self.core.settings.isolation;
        if level == IsolationLevel::Snapshot && was != level && self.core.trancount > 0 {
            return Err(SqlError::new(
                3951,
                "Transaction failed because the session cannot switch to SNAPSHOT inside a transaction that did not start so.",
            ));
        }
        self.core.settings.isolation = level;
        Ok(())
    }

    fn identity_insert(
        &mut self,
        name: &crate::ast::ObjectName,
        on: bool,
        frame: &Frame,
    ) -> SqlResult<()> {
        let engine = Arc::clone(&self.core.engine);
        let latch = engine.latch();
        let table = crate::context::resolve_table(&latch, self.core, frame, name)?;
        if !table.columns.iter().any(|c| c.identity.is_some()) {
            return Err(SqlError::new(
                8106,
                format!(
                    "Table '{}' does not have the identity property. Cannot perform SET operation.",
                    table.name
                ),
            ));
        }
        if !on {
            if self.core.settings.identity_insert == Some(table.id) {
                self.core.settings.identity_insert = None;
            }
            return Ok(());
        }
        if let Some(other) = self
            .core
            .settings
            .identity_insert
            .filter(|id| *id != table.id)
        {
            let text = crate::context::table_name(&latch, self.core, other);
            return Err(SqlError::new(
                8107,
                format!(
                    "IDENTITY_INSERT is already ON for table '{text}'. Cannot perform SET operation for table '{}'.",
                    table.name
                ),
            ));
        }
        self.core.settings.identity_insert = Some(table.id);
        Ok(())
    }

    fn language(&mut self, name: &str) -> Result<(), Failure> {
        let plain = name.trim();
        if !plain.eq_ignore_ascii_case("us_english") && !plain.eq_ignore_ascii_case("English") {
            return Err(SqlError::unsupported(format!("SET LANGUAGE {plain}")).into());
        }
        let old = std::mem::replace(&mut self.core.settings.language, "us_english".to_owned());
        self.sink
            .env_change(&EnvChange::Language("us_english".to_owned(), old))?;
        let message = SqlError::with(5703, 10, 1, "Changed language setting to us_english.");
        self.send_message(&message)?;
        Ok(())
    }

    /// The one value of a statement that has one.
    fn value(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<(Value, DataType), Failure> {
        let mut values = self.values(stmt, module, frame)?;
        let value = values.pop();
        Ok(value.ok_or_else(|| SqlError::internal("a statement without its value"))?)
    }

    fn number(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<i64, Failure> {
        let (value, from) = self.value(stmt, module, frame)?;
        if let Value::Int(n) = cast(&value, &from, &DataType::BigInt, None, CastMode::Assign)? {
            Ok(n)
        } else {
            Ok(0)
        }
    }

    /// USE.
    pub fn use_database(&mut self, name: &str) -> Result<Flow, Failure> {
        let engine = Arc::clone(&self.core.engine);
        let latch = engine.latch();
        let (new, old) = crate::session::enter_database(&latch, self.core, name)?;
        drop(latch);
        self.sink
            .env_change(&EnvChange::Database(new.clone(), old))?;
        let text = format!("Changed database context to '{new}'.");
        self.send_message(&SqlError::with(5701, 10, 2, text))?;
        self.core.rowcount = 0;
        self.core.error = 0;
        Ok(Flow::Next)
    }

    /// WAITFOR DELAY. The wait follows the engine's clock, so a test that moves the clock ends it.
    pub fn wait_for(
        &mut self,
        delay: bool,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        if !delay {
            return Err(SqlError::unsupported("WAITFOR TIME").into());
        }
        let (value, from) = self.value(stmt, module, frame)?;
        let ticks = match cast(&value, &from, &DataType::DateTime, None, CastMode::Assign) {
            Ok(Value::DateTime { ticks, .. }) => ticks,
            _ => {
                let text = crate::session::text_of(&value, &from, 100)?;
                return Err(SqlError::with(
                    148,
                    15,
                    1,
                    format!("Incorrect time syntax in time string '{text}' used with WAITFOR."),
                )
                .into());
            }
        };
        let wait = Duration::from_micros(ticks as u64 / 10);
        let start = self.core.engine.clock.elapsed();
        while self.core.engine.clock.elapsed() - start < wait {
            match self.sink.interrupted() {
                Some(Interrupt::Attention) => return Err(Failure::Stop(self.attention())),
                Some(Interrupt::Disconnected) => return Err(Failure::Stop(Stop::Disconnected)),
                None => {}
            }
            let engine = &self.core.engine;
            if let Some(seat) = engine
                .adversary
                .as_ref()
                .and_then(|a| a.seat(self.core.spid))
            {
                let mut stop = || self.sink.interrupted().is_some();
                seat.begin_wait(Some(start + wait), &engine.clock);
                seat.await_turn(&engine.clock, &mut stop);
                continue;
            }
            let left = wait.saturating_sub(engine.clock.elapsed() - start);
            std::thread::sleep(left.min(Duration::from_millis(10)));
        }
        self.core.rowcount = 0;
        self.core.error = 0;
        Ok(Flow::Next)
    }
}
