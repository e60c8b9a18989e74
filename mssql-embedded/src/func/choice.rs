//! One of several arguments: CHOOSE.

use super::sig::{arity, sig};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::precedence::common_type;
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[Function::new("CHOOSE", bind_choose, choose)];

fn bind_choose(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 254)?;
    let mut ty = DataType::Null;
    for arg in &args[1..] {
        ty = common_type(&ty, &arg.ty)?;
    }
    let mut params = vec![ty.clone(); args.len()];
    params[0] = DataType::Int;
    sig(ty, params)
}

fn choose(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let chosen = if let Value::Int(n) = &args[0]
        && *n >= 1
    {
        args.get(*n as usize)
    } else {
        None
    };
    Ok(chosen.cloned().unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, n, t};
    use super::*;

    #[test]
    fn choices() {
        assert_eq!(call("CHOOSE", &[n(2), t("a"), t("b")]).unwrap(), t("b"));
        assert_eq!(
            call("CHOOSE", &[n(3), t("a"), t("b")]).unwrap(),
            Value::Null
        );
    }
}
