//! SET options, USE and WAITFOR.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use crate::ast::{DeadlockPriority, SessionStmt, SetOption, Stmt, StmtKind, Toggle};
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::interrupt::Interrupt;
use crate::plan::Module;
use crate::session::{EnvChange, database_changed, language_changed};
use crate::value::delay::delay_ms;
use crate::value::errors::not_a_date;
use crate::value::text::to_string;
use crate::value::{CastMode, DataType, Length, Value, cast};

use super::{Failure, Flow, Interp, Stop};

/// Whether this is `SET NOEXEC OFF`, the one statement that NOEXEC lets through.
pub(super) fn ends_noexec(statement: &StmtKind) -> bool {
    matches!(
        statement,
        StmtKind::Session(SessionStmt::Set(SetOption::Switch(toggles, false)))
            if toggles.contains(&Toggle::NoExec)
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
            SetOption::Switch(toggles, on) => {
                for toggle in toggles {
                    self.switch(*toggle, *on);
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
            SetOption::IsolationLevel(level) => self.core.settings.isolation = *level,
            SetOption::RowCount(_) => {
                let n = self.number(stmt, module, frame)?;
                let limit = u64::try_from(n).map_err(|_| {
                    SqlError::with(
                        507,
                        16,
                        2,
                        "Invalid argument for SET ROWCOUNT. Must be a non-null non-negative integer.",
                    )
                })?;
                // Zero is without limit.
                self.core.settings.rowcount_limit = NonZeroU64::new(limit);
            }
            SetOption::TextSize(_) => {
                let n = self.number(stmt, module, frame)?;
                crate::session::early::textsize(n)?;
                self.core.settings.textsize = n;
            }
            SetOption::DateFirst(_) => {
                let n = self.number(stmt, module, frame)?;
                let day = u8::try_from(n).ok().filter(|day| (1..=7).contains(day));
                self.core.settings.datefirst = day.ok_or_else(|| {
                    SqlError::with(2742, 16, 1, format!("SET DATEFIRST {n} is out of range."))
                })?;
            }
            SetOption::Language => self.language()?,
            SetOption::ContextInfo(_) => self.context_info(stmt, module, frame)?,
            SetOption::DateFormat | SetOption::Statistics => {}
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

    fn switch(&mut self, toggle: Toggle, on: bool) {
        let s = &mut self.core.settings;
        match toggle {
            Toggle::NoCount => s.nocount = on,
            Toggle::NoExec => s.noexec = on,
            Toggle::XactAbort => s.xact_abort = on,
            Toggle::QuotedIdentifier => s.quoted_identifier = on,
            Toggle::ImplicitTransactions => s.implicit_transactions = on,
        }
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

    fn language(&mut self) -> Result<(), Failure> {
        let old = std::mem::replace(&mut self.core.settings.language, "us_english".to_owned());
        self.sink
            .env_change(&EnvChange::Language("us_english".to_owned(), old))?;
        self.send_message(&language_changed())?;
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
        if let Value::Int(n) = cast(&value, &from, &DataType::Int, None, CastMode::Assign)? {
            Ok(n)
        } else {
            Ok(0)
        }
    }

    pub fn use_database(&mut self, name: &str, frame: &mut Frame) -> Result<Flow, Failure> {
        let engine = Arc::clone(&self.core.engine);
        let latch = engine.latch();
        let (new, old) = crate::session::enter_database(&latch, self.core, name)?;
        drop(latch);
        frame.user = self.core.user;
        self.sink
            .env_change(&EnvChange::Database(new.clone(), old))?;
        self.send_message(&database_changed(&new))?;
        self.core.rowcount = 0;
        self.core.error = 0;
        Ok(Flow::Next)
    }

    /// Ends what a USE of dynamic text did: "changes in database context last only until the end of
    /// the EXECUTE statement". The client hears of it, because it has heard of the USE.
    pub(super) fn return_to(&mut self, (database, user): (String, i32)) -> Result<(), Failure> {
        if self.core.database == database {
            return Ok(());
        }
        let catalog = self.core.engine.catalog();
        let name = |key: &str| {
            let found = catalog.databases.get(key);
            found.map_or_else(|| key.to_owned(), |d| d.name.clone())
        };
        let change = EnvChange::Database(name(&database), name(&self.core.database));
        self.core.enter(database, user);
        self.sink.env_change(&change)?;
        Ok(())
    }

    /// WAITFOR DELAY. The wait follows the engine's clock, so a test that moves the clock ends it.
    pub fn wait_for(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        let (value, from) = self.value(stmt, module, frame)?;
        let wait = delay(&value, &from)?;
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

/// How long WAITFOR waits: a text or the time of day of a DATETIME, seconds as a number. NULL is no time.
fn delay(value: &Value, ty: &DataType) -> SqlResult<Duration> {
    match value {
        Value::Null => Ok(Duration::ZERO),
        Value::Str(text) if !ty.is_max() => delay_ms(&to_string(text))
            .map(Duration::from_millis)
            .ok_or_else(not_a_date),
        Value::Str(_) => Err(not_a_date()),
        Value::DateTime { ticks, .. } if *ty == DataType::DateTime => {
            Ok(Duration::from_micros(ticks.unsigned_abs() / 10))
        }
        // What is negative waits until somebody ends it.
        Value::Int(seconds) if matches!(ty, DataType::Int | DataType::SmallInt) => Ok(
            Duration::from_secs(u64::try_from(*seconds).unwrap_or(u64::from(u32::MAX))),
        ),
        Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => {
            let ty = ty.error_name();
            Err(SqlError::with(
                9815,
                16,
                0,
                format!("Waitfor delay and waitfor time cannot be of type {ty}."),
            ))
        }
    }
}
