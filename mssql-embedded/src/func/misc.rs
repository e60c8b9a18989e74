//! Functions of no other family.

use std::cmp::Ordering;

use super::sig::{DEFAULT, arity, int, sig, text, units};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::compare::compare;
use crate::value::number_text::parse_float;
use crate::value::precedence::common_type;
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "ISNUMERIC",
        bind: bind_isnumeric,
        eval: isnumeric,
        date_part: false,
    },
    Function {
        name: "PARSENAME",
        bind: bind_parsename,
        eval: parsename,
        date_part: false,
    },
    Function {
        name: "GREATEST",
        bind: |a| bind_extreme("GREATEST", a),
        eval: |_, s, a| Ok(extreme(s, a, Ordering::Greater)),
        date_part: false,
    },
    Function {
        name: "LEAST",
        bind: |a| bind_extreme("LEAST", a),
        eval: |_, s, a| Ok(extreme(s, a, Ordering::Less)),
        date_part: false,
    },
    Function {
        name: "CHOOSE",
        bind: bind_choose,
        eval: choose,
        date_part: false,
    },
];

fn bind_isnumeric(args: &[Arg]) -> SqlResult<Signature> {
    arity("ISNUMERIC", args, 1, 1)?;
    let ty = &args[0].ty;
    sig(
        DataType::Int,
        vec![if ty.is_numeric() {
            ty.clone()
        } else {
            text(&args[0])
        }],
    )
}

/// Text that any numeric type takes is numeric; that includes currency signs, thousands separators
/// and a lone sign or point.
fn isnumeric(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let numeric = match &args[0] {
        Value::Null => false,
        Value::Str(s) => {
            let shown = String::from_utf16_lossy(s);
            let shown = shown.trim();
            let money: String = shown
                .chars()
                .filter(|c| !matches!(c, ',' | '$' | '€' | '£'))
                .collect();
            let lone = matches!(money.as_str(), "+" | "-" | "." | "");
            !shown.is_empty() && (lone || parse_float(&money).is_some())
        }
        _ => true,
    };
    Ok(Value::Int(i64::from(numeric)))
}

fn bind_parsename(args: &[Arg]) -> SqlResult<Signature> {
    arity("PARSENAME", args, 2, 2)?;
    let name = DataType::nvarchar(4000, DEFAULT);
    sig(DataType::nvarchar(128, DEFAULT), vec![name, DataType::Int])
}

/// Part 1 is the object, 4 the server.
fn parsename(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let name = String::from_utf16_lossy(units(&args[0]));
    let wanted = int(&args[1]);
    let parts = split_name(&name);
    let index = parts
        .as_ref()
        .and_then(|p| p.len().checked_sub(usize::try_from(wanted).ok()?));
    Ok(match (parts, index) {
        (Some(parts), Some(i)) if wanted >= 1 && !args[0].is_null() => match parts.get(i) {
            Some(part) if !part.is_empty() && part.encode_utf16().count() <= 128 => {
                Value::text(part)
            }
            _ => Value::Null,
        },
        _ => Value::Null,
    })
}

/// The parts of a multi-part name, brackets and quotes removed; `None` when it is not a name.
fn split_name(name: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = name.chars().peekable();
    loop {
        let mut part = String::new();
        match rest.peek() {
            Some(open @ ('[' | '"')) => {
                let close = if *open == '[' { ']' } else { '"' };
                rest.next();
                loop {
                    match rest.next()? {
                        c if c == close && rest.peek() == Some(&close) => {
                            part.push(c);
                            rest.next();
                        }
                        c if c == close => break,
                        c => part.push(c),
                    }
                }
            }
            _ => {
                while let Some(c) = rest.next_if(|c| *c != '.') {
                    part.push(c);
                }
            }
        }
        parts.push(part);
        match rest.next() {
            None => break,
            Some('.') => {}
            Some(_) => return None,
        }
    }
    (parts.len() <= 4).then_some(parts)
}

fn bind_extreme(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 254)?;
    let mut ty = DataType::Null;
    for arg in args {
        ty = common_type(&ty, &arg.ty)?;
    }
    sig(ty.clone(), vec![ty; args.len()])
}

/// NULL arguments do not count.
fn extreme(signature: &Signature, args: &[Value], wanted: Ordering) -> Value {
    let mut best = Value::Null;
    for value in args.iter().filter(|v| !v.is_null()) {
        if best.is_null() || compare(value, &best, &signature.ret) == wanted {
            best = value.clone();
        }
    }
    best
}

fn bind_choose(args: &[Arg]) -> SqlResult<Signature> {
    arity("CHOOSE", args, 2, 254)?;
    let mut ty = DataType::Null;
    for arg in &args[1..] {
        ty = common_type(&ty, &arg.ty)?;
    }
    let mut params = vec![ty.clone(); args.len()];
    params[0] = DataType::Int;
    sig(ty, params)
}

fn choose(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let chosen = match &args[0] {
        Value::Int(n) if *n >= 1 => args.get(*n as usize),
        _ => None,
    };
    Ok(chosen.cloned().unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::super::testing::text as shown;
    use super::super::testing::{call, n, t};
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(shown(call("PARSENAME", &[t("a.[b.c].d"), n(2)])), "b.c");
        assert_eq!(shown(call("PARSENAME", &[t("[x]]y]"), n(1)])), "x]y");
        assert_eq!(call("PARSENAME", &[t("a"), n(2)]).unwrap(), Value::Null);
        assert_eq!(call("PARSENAME", &[t("a"), n(-1)]).unwrap(), Value::Null);
    }

    #[test]
    fn choices() {
        assert_eq!(call("GREATEST", &[n(1), Value::Null, n(3)]).unwrap(), n(3));
        assert_eq!(call("LEAST", &[t("b"), t("A")]).unwrap(), t("A"));
        assert_eq!(call("CHOOSE", &[n(2), t("a"), t("b")]).unwrap(), t("b"));
        assert_eq!(
            call("CHOOSE", &[n(3), t("a"), t("b")]).unwrap(),
            Value::Null
        );
        for (text, expected) in [("1e5", 1), ("$1,000", 1), ("abc", 0), ("", 0), ("-", 1)] {
            assert_eq!(
                call("ISNUMERIC", &[t(text)]).unwrap(),
                n(expected),
                "{text}"
            );
        }
    }
}
