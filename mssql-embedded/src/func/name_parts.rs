//! Names of several parts, taken apart: PARSENAME.

use super::sig::{DEFAULT, arity, int, sig, units};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[Function::new("PARSENAME", bind_parsename, parsename)];

fn bind_parsename(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
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
}
