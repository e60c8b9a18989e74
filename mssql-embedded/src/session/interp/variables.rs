//! Statements of single values: DECLARE, SET of a variable, RETURN, PRINT.

use std::sync::Arc;

use crate::ast::{Declaration, Stmt};
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::exec::eval;
use crate::plan::{BoundKind, Module, Typed};
use crate::value::precedence::check_implicit;
use crate::value::{CastMode, DataType, Value, cast};

use super::{Failure, Flow, Interp};

impl Interp<'_> {
    /// The bound values of a statement.
    pub fn values(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Vec<(Value, DataType)>, Failure> {
        let values = self.evaluate(stmt, module, frame, |bound, env| {
            let BoundKind::Scalars(list) = &bound.kind else {
                return Err(SqlError::internal("values of a statement that has none"));
            };
            list.iter()
                .map(|Typed { expr, ty, .. }| Ok((eval(expr, env)?, ty.clone())))
                .collect()
        })?;
        self.send_notices()?;
        Ok(values)
    }

    pub(super) fn declare(
        &mut self,
        list: &[Declaration],
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        // One at a time: an initial value may use a variable declared before it in the same list.
        let initial = list
            .iter()
            .filter(|d| matches!(d, Declaration::Scalar { value: Some(_), .. }));
        for (i, declaration) in initial.enumerate() {
            let Declaration::Scalar { name, .. } = declaration else {
                continue;
            };
            let (value, from) = self.evaluate(stmt, module, frame, |bound, env| {
                let BoundKind::Scalars(list) = &bound.kind else {
                    return Ok((Value::Null, DataType::Null));
                };
                Ok((eval(&list[i].expr, env)?, list[i].ty.clone()))
            })?;
            self.send_notices()?;
            assign(frame, name, &value, &from)?;
            self.core.rowcount = 1;
        }
        self.core.error = 0;
        Ok(Flow::Next)
    }

    pub(super) fn set_variable(
        &mut self,
        name: &str,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        for (value, from) in self.values(stmt, module, frame)? {
            assign(frame, name, &value, &from)?;
        }
        self.core.rowcount = 1;
        self.core.error = 0;
        Ok(Flow::Next)
    }

    pub(super) fn return_status(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        let values = self.values(stmt, module, frame)?;
        let status = match values.first() {
            None => 0,
            Some((value, from)) => match cast(value, from, &DataType::Int, None, CastMode::Assign)?
            {
                Value::Int(n) => n as i32,
                Value::Null
                | Value::Bit(_)
                | Value::Decimal { .. }
                | Value::Float(_)
                | Value::Str(_)
                | Value::Bytes(_)
                | Value::Guid(_)
                | Value::Date(_)
                | Value::Time(_)
                | Value::DateTime { .. }
                | Value::DateTimeOffset { .. } => {
                    self.null_status(stmt, frame)?;
                    0
                }
            },
        };
        Ok(Flow::Return(status))
    }

    /// A procedure that returns NULL returns 0, and says so.
    fn null_status(&mut self, stmt: &Stmt, frame: &Frame) -> Result<(), Failure> {
        let short = frame.origin.name();
        let text = format!(
            "The '{short}' procedure attempted to return a status of NULL, which is not allowed. A status of 0 will be returned instead."
        );
        let mut notice = SqlError::with(282, 10, 1, text).at(stmt.pos.line);
        frame.origin.qualified().clone_into(&mut notice.procedure);
        self.send_message(&notice)?;
        Ok(())
    }

    pub(super) fn print(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        let text = match self.values(stmt, module, frame)?.first() {
            Some((value, from)) => crate::session::text_up_to(4000, value, from)?,
            None => String::new(),
        };
        let mut message = SqlError::with(0, 0, 1, text).at(stmt.pos.line);
        frame.origin.qualified().clone_into(&mut message.procedure);
        self.send_message(&message)?;
        self.core.rowcount = 0;
        self.core.error = 0;
        Ok(Flow::Next)
    }
}

/// Assigns to a variable by name; text that is too long is cut without a word, as SQL Server does.
pub fn assign(frame: &mut Frame, name: &str, value: &Value, from: &DataType) -> SqlResult<()> {
    let variable = frame.variables.scalar_named(name)?;
    check_implicit(from, &variable.ty)?;
    frame.values[variable.slot] = cast(value, from, &variable.ty, None, CastMode::Assign)?;
    Ok(())
}
