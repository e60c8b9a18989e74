//! The arguments of a call, and how they become the values of parameters.

use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::plan::Module;
use crate::session::RpcParam;
use crate::value::{CastMode, DataType, Value, cast};

use super::call_errors::{
    no_parameters, no_such_parameter, not_output, not_supplied, too_many_arguments,
};

#[derive(Clone, Debug)]
pub struct Argument {
    /// `@name`, unless it is a positional one.
    pub name: Option<String>,
    /// The value; `None` is DEFAULT.
    pub value: Option<(Value, DataType)>,
    pub output: bool,
}

/// Puts arguments into the parameters' slots.
pub fn bind_arguments(module: &Module, args: &[Argument], frame: &mut Frame) -> SqlResult<()> {
    let short = module.origin.name();
    if module.params.is_empty() && !args.is_empty() {
        return Err(no_parameters(short, 2));
    }
    if args.len() > module.params.len() {
        return Err(too_many_arguments(short));
    }
    let mut given = vec![false; module.params.len()];
    for (position, arg) in args.iter().enumerate() {
        let slot = match &arg.name {
            None => position,
            Some(name) => {
                let mut params = module.params.iter();
                let found = params.position(|p| p.name.eq_ignore_ascii_case(name));
                found.ok_or_else(|| no_such_parameter(name, short, 2))?
            }
        };
        if given[slot] {
            return Err(SqlError::with(
                8143,
                16,
                1,
                format!(
                    "Parameter '{}' was supplied multiple times.",
                    module.params[slot].name
                ),
            ));
        }
        let param = &module.params[slot];
        if arg.output && !param.output {
            return Err(not_output(&param.name));
        }
        if let Some((value, from)) = &arg.value {
            frame.values[slot] = argument(value, from, &param.ty)?;
            given[slot] = true;
        }
    }
    for (slot, param) in module.params.iter().enumerate() {
        if given[slot] {
            continue;
        }
        match &param.default {
            Some(value) => frame.values[slot] = value.clone(),
            None => {
                return Err(not_supplied(short, &param.name, 4));
            }
        }
    }
    Ok(())
}

/// A value as its parameter takes it.
pub(super) fn argument(value: &Value, from: &DataType, to: &DataType) -> SqlResult<Value> {
    crate::value::precedence::check_implicit(from, to)?;
    cast(value, from, to, None, CastMode::Assign).map_err(|e| unconvertible(e, from, to))
}

/// A value that does not convert to its parameter is 8114, whatever the conversion itself says.
fn unconvertible(error: SqlError, from: &DataType, to: &DataType) -> SqlError {
    match error.number {
        220 | 232 | 241 | 242 | 244 | 245 | 248 | 8114 | 8115 | 8169 => {
            crate::value::errors::not_converted(from.name(), to.name())
        }
        _ => error,
    }
}

pub fn rpc_arguments(params: Vec<RpcParam>) -> Vec<Argument> {
    params
        .into_iter()
        .map(|p| Argument {
            name: p.name,
            value: if p.default {
                None
            } else {
                Some((p.value, p.ty))
            },
            output: p.output,
        })
        .collect()
}
