//! The system procedures that clients and our scripts use. Others that SQL Server has are
//! refused by name, and the rest is unknown (2812).

use std::collections::{HashMap, HashSet};

use crate::ast::{Ident, ObjectName, PARAMETERS_MAX, Pos};
use crate::catalog::Param;
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refusal};
use crate::session::{text_of, text_up_to, too_many_parameters};
use crate::value::{CastMode, DataType, Length, Value, cast};

use super::arguments::{Argument, argument};
use super::call::{Returned, own, status};
use super::call_errors::{
    no_parameters, no_such_parameter, not_output, not_supplied, too_many_arguments,
    unknown_procedure,
};
use super::prepared::{shown_query, text_argument};
use super::{Failure, Interp};

impl Interp<'_> {
    /// Runs a system procedure by name.
    pub fn system_procedure(
        &mut self,
        name: &ObjectName,
        args: Vec<Argument>,
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        let last = name
            .parts
            .last()
            .map(|p| p.name.to_ascii_lowercase())
            .unwrap_or_default();
        let system = match name.parts.as_slice() {
            [_] => true,
            [.., schema, _] => {
                matches!(
                    schema.name.to_ascii_lowercase().as_str(),
                    "sys" | "dbo" | ""
                )
            }
            [] => false,
        };
        match last.as_str() {
            "sp_executesql" if system => self.sp_executesql(args, frame),
            "sp_getapplock" if system => self.sp_getapplock(&args, frame),
            "sp_releaseapplock" if system => self.sp_releaseapplock(&args, frame),
            "sp_addrolemember" if system => self.role_member(&args, true, frame),
            "sp_droprolemember" if system => self.role_member(&args, false, frame),
            "sp_prepare" if system => self.sp_prepare(args),
            "sp_execute" if system => self.sp_execute(args, frame),
            "sp_prepexec" if system => self.sp_prepexec(args, frame),
            "sp_prepexecrpc" if system => self.sp_prepexecrpc(args, frame),
            "sp_unprepare" if system => self.sp_unprepare(&args),
            _ => {
                if let Some(refused) = refusal(Kind::Procedure, &last).filter(|_| system) {
                    return Err(refused.into());
                }
                let shown: Vec<&str> = name.parts.iter().map(|p| p.name.as_str()).collect();
                Err(unknown_procedure(&shown.join(".")).into())
            }
        }
    }

    /// `sp_executesql @stmt, @params, …`.
    pub fn sp_executesql(
        &mut self,
        args: Vec<Argument>,
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        let mut args = args.into_iter();
        let text = text_argument(args.next(), "sp_executesql", "@statement")?;
        let Some(declared) = args.next() else {
            // The procedure itself is a level, and the text that it runs another one.
            self.core.nest_level += 1;
            let outcome = self.run_text(&text, Vec::new(), frame);
            self.core.nest_level -= 1;
            outcome?;
            return Ok(status(self.core.error));
        };
        let declared = match declared.value {
            Some((Value::Null, _)) | None => String::new(),
            Some((value, ty)) => text_of(&value, &ty)?,
        };
        let params = self.declared(&declared)?;
        if params.is_empty() && args.len() > 0 {
            return Err(no_parameters("", 1).into());
        }
        let shown = shown_query(&declared, &text);
        // The procedure itself is a level, and the text that it runs another one.
        self.core.nest_level += 1;
        let outcome = self.run_with_parameters(&text, &shown, params, args.collect(), frame);
        self.core.nest_level -= 1;
        let mut returned = outcome?;
        // "0 (success) or nonzero (failure)": it is @@ERROR as the text leaves it.
        returned.status = self.core.error;
        // Output parameters go by position, and the first two arguments are sp_executesql's own.
        returned.params.splice(0..0, [own("@stmt"), own("@params")]);
        Ok(returned)
    }

    /// Runs a text with declared parameters and the arguments for them; `shown` is what a message
    /// about a missing one says of it.
    pub fn run_with_parameters(
        &mut self,
        text: &str,
        shown: &str,
        params: Vec<Param>,
        args: Vec<Argument>,
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        if args.len() > params.len() && args.iter().all(|a| a.name.is_none()) {
            return Err(too_many_arguments("").into());
        }
        if params.len().max(args.len()) > PARAMETERS_MAX {
            return Err(too_many_parameters().into());
        }
        let mut named = HashMap::new();
        for arg in &args {
            if let Some(name) = &arg.name {
                named.entry(name.to_ascii_lowercase()).or_insert(arg);
            }
        }
        let mut bound = Vec::with_capacity(params.len());
        for (i, param) in params.iter().enumerate() {
            let arg = (named.get(&param.name.to_ascii_lowercase()).copied())
                .or_else(|| args.get(i).filter(|a| a.name.is_none()));
            if arg.is_some_and(|a| a.output) && !param.output {
                return Err(not_output(&param.name).into());
            }
            let value = match arg.and_then(|a| a.value.as_ref()) {
                Some((value, from)) => argument(value, from, &param.ty)?,
                None => {
                    return Err(SqlError::with(
                        8178,
                        16,
                        1,
                        format!("The parameterized query '{}' expects the parameter '{}', which was not supplied.", shown, param.name),
                    )
                    .into());
                }
            };
            bound.push((param.clone(), value));
        }
        let known = params.iter().map(|p| p.name.to_ascii_lowercase());
        let known: HashSet<String> = known.collect();
        let mut names = args.iter().filter_map(|a| a.name.as_ref());
        if let Some(extra) = names.find(|name| !known.contains(&name.to_ascii_lowercase())) {
            return Err(no_such_parameter(extra, "sp_executesql", 1).into());
        }
        let values = self.run_text(text, bound, frame)?;
        let params = params.into_iter().zip(values).collect();
        Ok(Returned { status: 0, params })
    }

    /// sp_addrolemember and sp_droprolemember, the older forms of ALTER ROLE.
    fn role_member(
        &mut self,
        args: &[Argument],
        add: bool,
        frame: &mut Frame,
    ) -> Result<Returned, Failure> {
        let procedure = if add {
            "sp_addrolemember"
        } else {
            "sp_droprolemember"
        };
        let values = named_values(args, &["@rolename", "@membername"], procedure)?;
        let ident = |name: String| Ident {
            name,
            pos: Pos::default(),
        };
        let role = ident(required(&values[0], procedure, "@rolename")?);
        let member = ident(required(&values[1], procedure, "@membername")?);
        let engine = std::sync::Arc::clone(&self.core.engine);
        self.within(engine.latch(), frame, |env| {
            crate::session::ddl::alter_role(&role, add, &member, env)
        })?;
        Ok(Returned {
            status: 0,
            params: Vec::new(),
        })
    }
}

/// The arguments of a system procedure as texts, by name or position.
pub(super) fn named_values(
    args: &[Argument],
    names: &[&str],
    procedure: &str,
) -> SqlResult<Vec<Option<String>>> {
    let mut values = vec![None; names.len()];
    for (i, arg) in args.iter().enumerate() {
        let at = match &arg.name {
            None => (i < names.len()).then_some(i),
            Some(name) => names.iter().position(|n| n.eq_ignore_ascii_case(name)),
        };
        let Some(at) = at else {
            let name = arg.name.as_deref().unwrap_or_default();
            return Err(no_such_parameter(name, procedure, 1));
        };
        if let Some((value, ty)) = &arg.value
            && !value.is_null()
        {
            let target =
                DataType::NVarChar(Length::Limited(255), crate::value::Collation::SqlLatin1CiAs);
            let text = cast(value, ty, &target, None, CastMode::Assign)?;
            values[at] = Some(text_up_to(255, &text, &target)?);
        }
    }
    Ok(values)
}

pub(super) fn required(value: &Option<String>, procedure: &str, name: &str) -> SqlResult<String> {
    value
        .clone()
        .ok_or_else(|| not_supplied(procedure, name, 4))
}
