//! sp_prepare, sp_execute, sp_prepexec, sp_prepexecrpc and sp_unprepare, which drivers call by number.

use crate::catalog::Param;
use crate::context::{Frame, Prepared};
use crate::error::{SqlError, SqlResult};
use crate::session::text_of;
use crate::value::{DataType, Value};

use super::arguments::Argument;
use super::call::{Returned, own, status};
use super::call_errors::not_supplied;
use super::{Failure, Interp};

impl Interp<'_> {
    pub(super) fn sp_prepare(&mut self, args: Vec<Argument>) -> Result<Returned, Failure> {
        let mut args = args.into_iter();
        args.next();
        let declared = optional_text(args.next())?;
        let text = text_argument(args.next(), "sp_prepare", "@stmt")?;
        let handle = self.core.prepare(Prepared::Text(text, declared))?;
        Ok(with_handle(handle))
    }

    pub(super) fn sp_execute(
        &mut self,
        args: Vec<Argument>,
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        let mut args = args.into_iter();
        let given = args.next().and_then(|a| a.value);
        let (handle, prepared) = self.prepared(given.as_ref())?;
        let args = args.collect();
        let mut returned = match prepared {
            Prepared::Text(text, declared) => {
                let params = self.declared(&declared)?;
                let shown = shown_query(&declared, &text);
                self.run_with_parameters(&text, &shown, params, args, frame)?
            }
            Prepared::Call(name) => self.call(&name, args, frame)?,
        };
        returned.params.insert(0, handle_param(handle));
        Ok(returned)
    }

    /// What was prepared under a handle that a client gives.
    fn prepared(&self, given: Option<&(Value, DataType)>) -> SqlResult<(i32, Prepared)> {
        let Some((Value::Int(given), _)) = given else {
            // Handles begin with 1, so this one is nobody's.
            return Err(no_such_handle(0));
        };
        let handle = i32::try_from(*given).ok();
        let found = handle.and_then(|handle| Some((handle, self.core.prepared.get(&handle)?)));
        match found {
            Some((handle, (prepared, _))) => Ok((handle, prepared.clone())),
            None => Err(no_such_handle(*given)),
        }
    }

    pub(super) fn sp_prepexec(
        &mut self,
        args: Vec<Argument>,
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        let mut args = args.into_iter();
        args.next();
        let declared = optional_text(args.next())?;
        let text = text_argument(args.next(), "sp_prepexec", "@stmt")?;
        let params = self.declared(&declared)?;
        let shown = shown_query(&declared, &text);
        let handle = self.core.prepare(Prepared::Text(text.clone(), declared))?;
        let mut returned =
            self.run_with_parameters(&text, &shown, params, args.collect(), frame)?;
        let own = [handle_param(handle), own("@params"), own("@stmt")];
        returned.params.splice(0..0, own);
        Ok(returned)
    }

    /// `sp_prepexecrpc @handle OUTPUT, @call, …`: the call as ODBC writes it, `{? = call p (?, ?)}`.
    pub(super) fn sp_prepexecrpc(
        &mut self,
        args: Vec<Argument>,
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        let mut args = args.into_iter();
        args.next();
        let call = text_argument(args.next(), "sp_prepexecrpc", "@call")?;
        let name = crate::parse::parse_name(called(&call))?;
        let handle = self.core.prepare(Prepared::Call(name.clone()))?;
        let mut returned = self.call(&name, args.collect(), frame)?;
        let own = [handle_param(handle), own("@call")];
        returned.params.splice(0..0, own);
        Ok(returned)
    }

    pub(super) fn sp_unprepare(&mut self, args: &[Argument]) -> Result<Returned, Failure> {
        let given = args.first().and_then(|a| a.value.as_ref());
        if let Some((Value::Int(_), _)) = given {
            let (handle, _) = self.prepared(given)?;
            self.core.prepared.remove(&handle);
        }
        Ok(status(0))
    }
}

fn handle_param(handle: i32) -> (Param, Value) {
    let param = Param {
        name: "@handle".to_owned(),
        ty: DataType::Int,
        default: None,
        output: true,
    };
    (param, Value::Int(i64::from(handle)))
}

fn with_handle(handle: i32) -> Returned {
    Returned {
        status: 0,
        params: vec![handle_param(handle)],
    }
}

fn no_such_handle(handle: i64) -> SqlError {
    SqlError::with(
        8179,
        16,
        2,
        format!("Could not find prepared statement with handle {handle}."),
    )
}

/// The name in an ODBC call: what follows CALL, up to the parenthesis; without CALL, all of it.
fn called(text: &str) -> &str {
    let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
    let call = b"CALL ";
    let mut places = inner.as_bytes().windows(call.len());
    let name = match places.position(|place| place.eq_ignore_ascii_case(call)) {
        Some(at) => &inner[at + call.len()..],
        None => inner,
    };
    name.split('(').next().unwrap_or(name).trim()
}

/// A query with its parameters as SQL Server shows it: the first 64 characters.
pub(super) fn shown_query(declared: &str, text: &str) -> String {
    format!("({declared}){text}").chars().take(64).collect()
}

fn optional_text(arg: Option<Argument>) -> SqlResult<String> {
    match arg.and_then(|a| a.value) {
        Some((Value::Null, _)) | None => Ok(String::new()),
        Some((value, ty)) => text_of(&value, &ty),
    }
}

pub(super) fn text_argument(
    arg: Option<Argument>,
    procedure: &str,
    name: &str,
) -> SqlResult<String> {
    match arg.and_then(|a| a.value) {
        Some((value, ty @ (DataType::NVarChar(..) | DataType::NChar(..)))) => text_of(&value, &ty),
        Some(_) => Err(SqlError::with(
            214,
            16,
            2,
            format!("Procedure expects parameter '{name}' of type 'ntext/nchar/nvarchar'."),
        )),
        None => Err(not_supplied(procedure, name, 10)),
    }
}
