//! Functions that search in text.

use super::like::Pattern;
use super::sig::{any_null, arity, collation, count_type, int, param_collation, sig, text, units};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::text::{char_count, char_offset};
use crate::value::{DataType, Steps, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("CHARINDEX", bind_charindex, charindex),
    Function::new("PATINDEX", bind_patindex, patindex),
];

/// Both texts are given the collation that decides, so that `eval` finds it in either.
fn searched(args: &[Arg]) -> Vec<DataType> {
    let (a, b) = (text(&args[0]), text(&args[1]));
    let collation = collation(&[&a, &b]);
    vec![a.with_collation(collation), b.with_collation(collation)]
}

fn bind_charindex(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 3)?;
    let mut params = searched(args);
    let ret = count_type(&params[1]);
    if args.len() == 3 {
        params.push(DataType::BigInt);
    }
    sig(ret, params)
}

fn charindex(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let collation = param_collation(signature, 1);
    let (wanted, s) = (units(&args[0]), units(&args[1]));
    let skip = args.get(2).map_or(0, int).saturating_sub(1).max(0) as usize;
    let start = char_offset(s, skip, collation);
    if wanted.is_empty() || wanted.len() > s.len() - start {
        return Ok(Value::Int(0));
    }
    let wanted: Vec<u16> = wanted.iter().map(|u| collation.fold(*u)).collect();
    let mut ask = || host.go_on();
    let mut steps = Steps::new(&mut ask);
    let mut found = None;
    'places: for (place, here) in s[start..].windows(wanted.len()).enumerate() {
        for (a, b) in here.iter().zip(&wanted) {
            steps.take()?;
            if collation.fold(*a) != *b {
                continue 'places;
            }
        }
        found = Some(place);
        break;
    }
    Ok(Value::Int(found.map_or(0, |i| {
        char_count(&s[..start + i], collation) as i64 + 1
    })))
}

fn bind_patindex(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let params = searched(args);
    sig(count_type(&params[1]), params)
}

fn patindex(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    const PERCENT: u16 = b'%' as u16;
    let collation = param_collation(signature, 1);
    let (pattern, s) = (units(&args[0]), units(&args[1]));
    let mut ask = || host.go_on();
    let mut steps = Steps::new(&mut ask);
    let Some(rest) = pattern.strip_prefix(&[PERCENT]) else {
        let matched = Pattern::new(pattern, None, collation)?.matches(s, &mut steps)?;
        return Ok(Value::Int(i64::from(matched)));
    };
    let pattern = Pattern::new(rest, None, collation)?;
    for start in 0..=s.len() {
        if pattern.matches(&s[start..], &mut steps)? {
            return Ok(Value::Int(char_count(&s[..start], collation) as i64 + 1));
        }
    }
    Ok(Value::Int(0))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, n, t};

    #[test]
    fn positions_count_from_one_and_zero_means_absent() {
        assert_eq!(call("CHARINDEX", &[t("B"), t("abcb")]).unwrap(), n(2));
        assert_eq!(call("CHARINDEX", &[t("b"), t("abcb"), n(3)]).unwrap(), n(4));
        assert_eq!(call("CHARINDEX", &[t("z"), t("abc")]).unwrap(), n(0));
        assert_eq!(call("CHARINDEX", &[t(""), t("abc")]).unwrap(), n(0));
        assert_eq!(call("PATINDEX", &[t("%[0-9]%"), t("ab7")]).unwrap(), n(3));
        assert_eq!(call("PATINDEX", &[t("%b"), t("ab")]).unwrap(), n(2));
        assert_eq!(call("PATINDEX", &[t("b%"), t("ab")]).unwrap(), n(0));
    }
}
