//! sp_getapplock and sp_releaseapplock. Both are procedures of T-SQL that look at their arguments, say what is wrong with
//! them in a message and return -999, and around `sys.xp_userlock`, whose errors are errors; after them the procedure
//! returns -999 as well.

use std::sync::Arc;
use std::time::Duration;

use super::arguments::Argument;
use super::call::{Returned, status};
use super::system::{named_values, required};
use super::{Failure, Interp};
use crate::access::{AppResource, app_lock, app_mode, app_unlock};
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};

/// What both procedures return for arguments that are wrong.
const REFUSED: i32 = -999;

/// A message of a procedure's own text, with the line that it comes from.
struct Remark {
    procedure: &'static str,
    line: u32,
}

impl Interp<'_> {
    pub(super) fn sp_getapplock(
        &mut self,
        args: &[Argument],
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        let procedure = "sp_getapplock";
        let names = [
            "@Resource",
            "@LockMode",
            "@LockOwner",
            "@LockTimeout",
            "@DbPrincipal",
        ];
        let values = named_values(args, &names, procedure)?;
        refuse_principal(values[4].as_deref())?;
        let written = required(&values[1], procedure, "@LockMode")?;
        let Some(mode) = app_mode(&written) else {
            let remark = Remark {
                procedure,
                line: 26,
            };
            return self.unknown_option(&written, "@LockMode", &remark);
        };
        let owner = values[2].as_deref().unwrap_or("Transaction");
        let Some(session) = session_owned(owner) else {
            let remark = Remark {
                procedure,
                line: 39,
            };
            return self.unknown_option(owner, "@LockOwner", &remark);
        };
        if !session && self.core.trancount == 0 {
            let remark = Remark {
                procedure,
                line: 52,
            };
            let text = "You attempted to acquire a transactional application lock without an active transaction.";
            return self.remark(15626, text, &remark);
        }
        let timeout = match values[3].as_deref().map(str::parse::<i64>) {
            None => self.core.settings.lock_timeout(),
            Some(Ok(n)) if n >= 0 => Some(Duration::from_millis(n as u64)),
            Some(Ok(-1)) => None,
            Some(Ok(_) | Err(_)) => {
                return self.user_lock_failed(
                    1227,
                    2,
                    "An invalid application lock time-out was passed to xp_userlock.",
                );
            }
        };
        let Some(resource) = &values[0] else {
            return self.no_resource();
        };
        let engine = Arc::clone(&self.core.engine);
        let name: Vec<u16> = resource.encode_utf16().collect();
        let result = self.within(engine.latch(), frame, |env| {
            let database = env.database()?.id;
            let lock = AppResource {
                database,
                principal: 0,
                name: &name,
                session,
            };
            app_lock(&mut env.access()?, &lock, mode, timeout)
        })?;
        Ok(status(result))
    }

    pub(super) fn sp_releaseapplock(
        &mut self,
        args: &[Argument],
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        let procedure = "sp_releaseapplock";
        let names = ["@Resource", "@LockOwner", "@DbPrincipal"];
        let values = named_values(args, &names, procedure)?;
        refuse_principal(values[2].as_deref())?;
        let owner = values[1].as_deref().unwrap_or("Transaction");
        let Some(session) = session_owned(owner) else {
            let remark = Remark {
                procedure,
                line: 20,
            };
            return self.unknown_option(owner, "@LockOwner", &remark);
        };
        let Some(resource) = &values[0] else {
            return self.no_resource();
        };
        if !session && self.core.trancount == 0 {
            let text =
                "The statement or function must be executed in the context of a user transaction.";
            return self.user_lock_failed(3918, 1, text);
        }
        let engine = Arc::clone(&self.core.engine);
        let name: Vec<u16> = resource.encode_utf16().collect();
        let released = self.within(engine.latch(), frame, |env| {
            let database = env.database()?.id;
            let owner = env.core.lock_owner();
            let lock = AppResource {
                database,
                principal: 0,
                name: &name,
                session,
            };
            Ok(app_unlock(&mut env.latch, owner, &lock))
        })?;
        match released {
            Ok(()) => Ok(status(0)),
            Err(error) => self.user_lock_failed(error.number, error.state, &error.message),
        }
    }

    fn unknown_option(
        &mut self,
        value: &str,
        parameter: &str,
        remark: &Remark,
    ) -> Result<Returned, Failure> {
        let text = format!("Option '{value}' not recognized for '{parameter}' parameter.");
        self.remark(15625, &text, remark)
    }

    fn no_resource(&mut self) -> Result<Returned, Failure> {
        let text = "An invalid application lock resource was passed to xp_userlock.";
        self.user_lock_failed(1224, 5, text)
    }

    fn remark(&mut self, number: i32, text: &str, remark: &Remark) -> Result<Returned, Failure> {
        let mut message = SqlError::with(number, 0, 1, text).at(remark.line);
        remark.procedure.clone_into(&mut message.procedure);
        self.send_message(&message)?;
        Ok(status(REFUSED))
    }

    /// An error of `sys.xp_userlock`. Where it is neither caught nor ends the batch, the procedure goes on to its RETURN.
    fn user_lock_failed(
        &mut self,
        number: i32,
        state: u8,
        text: &str,
    ) -> Result<Returned, Failure> {
        let mut error = SqlError::with(number, 16, state, text).at(1);
        "sys.xp_userlock".clone_into(&mut error.procedure);
        if self.core.try_depth > 0 || self.core.settings.xact_abort {
            return Err(error.into());
        }
        self.core.error = number;
        self.send_message(&error)?;
        Ok(status(REFUSED))
    }
}

/// @DbPrincipal: all locks belong to public here.
fn refuse_principal(principal: Option<&str>) -> SqlResult<()> {
    match principal {
        Some(name) if !name.eq_ignore_ascii_case("public") => {
            Err(SqlError::unsupported(format!("@DbPrincipal = '{name}'")))
        }
        _ => Ok(()),
    }
}

/// @LockOwner: whether the session rather than its transaction owns the lock.
fn session_owned(name: &str) -> Option<bool> {
    match name.trim_end_matches(' ').to_ascii_lowercase().as_str() {
        "transaction" => Some(false),
        "session" => Some(true),
        _ => None,
    }
}
