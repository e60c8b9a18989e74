//! Every function with arguments at the ends of their types: it computes or refuses, and what it gives fits the type
//! it has announced. What would not is found by the wire, which can only close the connection.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::testing::TestHost;
use super::{Accumulator, Aggregate, Arg, Function, computed};
use crate::value::extremes::{extremes, fits};
use crate::value::{CastMode, DataType, Value, cast};

/// How many calls with several arguments are tried for each function and number of arguments.
const TRIED: usize = 6000;

/// So many failures of one function are shown.
const SHOWN_MAX: usize = 3;

/// The most arguments of a function that takes a fixed number of them.
const ARGUMENTS_MAX: usize = 10;

const PARTS: &[&str] = &[
    "year",
    "quarter",
    "month",
    "dayofyear",
    "day",
    "week",
    "iso_week",
    "weekday",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "nanosecond",
    "tzoffset",
];

const WORDS: &[&str] = &["MD5", "SHA1", "SHA2_256", "SHA2_512", "json", "UTC"];

type Typed = (Value, DataType);

/// The same numbers in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// What a call gives, with its type; `None` if it is refused.
fn outcome(function: &Function, args: &[Typed], constant: bool) -> Option<Typed> {
    let bound: Vec<_> = args
        .iter()
        .enumerate()
        .map(|(i, (v, ty))| Arg {
            ty: ty.clone(),
            constant: (constant || i == 0 && function.date_part || i + 1 == args.len())
                .then(|| v.clone()),
        })
        .collect();
    let signature = (function.bind)(function.name, &bound).ok()?;
    let mut values = Vec::new();
    for ((value, from), to) in args.iter().zip(&signature.params) {
        values.push(cast(value, from, to, None, CastMode::Assign).ok()?);
    }
    let value = (function.eval)(&mut TestHost, &signature, &values).ok()?;
    Some((value, signature.ret))
}

fn values() -> Vec<Typed> {
    let all = extremes().into_iter();
    let mut all: Vec<Typed> = all
        .flat_map(|(ty, values)| values.into_iter().map(move |v| (v, ty.clone())))
        .collect();
    // Precisions, months, lengths and positions that mean something, so that the other arguments are looked at.
    for n in [2, 7, 12, 31, 59, 2000, 9999, -299, 299] {
        all.push((Value::Int(n), DataType::Int));
    }
    for word in WORDS {
        all.push((
            Value::text(word),
            DataType::nvarchar(20, crate::value::Collation::SqlLatin1CiAs),
        ));
    }
    all
}

#[test]
fn what_a_function_gives_fits_the_type_it_announces() {
    let all = values();
    let mut wrong = Vec::new();
    let mut silent = Vec::new();
    for function in computed() {
        let before = wrong.len();
        let mut draw = Draw(1);
        let mut computed = 0;
        for count in 0..=ARGUMENTS_MAX {
            let tries = if count < 2 { all.len() } else { TRIED };
            for round in 0..tries {
                let mut args: Vec<Typed> = (0..count)
                    .map(|_| {
                        all[if count == 1 {
                            round
                        } else {
                            draw.below(all.len())
                        }]
                        .clone()
                    })
                    .collect();
                if function.date_part && count > 0 {
                    args[0].0 = Value::text(PARTS[draw.below(PARTS.len())]);
                    args[0].1 = DataType::varchar(30, super::sig::DEFAULT);
                }
                // Functions that build a date take numbers only, which are rarely drawn.
                if function.name.ends_with("FROMPARTS") {
                    for arg in &mut args {
                        *arg = (
                            Value::Int(
                                [0, 1, 7, 12, 59, 2000, 9999, i64::from(i32::MAX)][draw.below(7)],
                            ),
                            DataType::Int,
                        );
                    }
                }
                let name = function.name;
                match catch_unwind(AssertUnwindSafe(|| {
                    outcome(function, &args, round % 2 == 0)
                })) {
                    Ok(Some((value, ty))) => {
                        computed += 1;
                        if !fits(&value, &ty) {
                            wrong.push(format!(
                                "{name} of {}: not {ty}: {}",
                                shown(&args),
                                cut(&value)
                            ));
                        }
                    }
                    Ok(None) => {}
                    Err(_) => wrong.push(format!("{name} of {}: panics", shown(&args))),
                }
            }
        }
        wrong.truncate(before + SHOWN_MAX);
        if computed == 0 {
            silent.push(function.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(silent.is_empty(), "never computed: {silent:?}");
}

/// Aggregates of two values at the ends of a type.
#[test]
fn what_an_aggregate_gives_fits_the_type_it_announces() {
    let mut wrong = Vec::new();
    for (ty, values) in extremes() {
        for (name, function) in Aggregate::NAMES {
            let Ok(arg_ty) = function.argument_type(&ty) else {
                continue;
            };
            let ret = function.result_type(&arg_ty);
            for a in &values {
                for b in &values {
                    let mut accumulator = Accumulator::new(*function, &arg_ty, &ret);
                    let mut add = |value: &Value| {
                        let value = cast(value, &ty, &arg_ty, None, CastMode::Assign)?;
                        accumulator.add(&[value, Value::text(",")])
                    };
                    if [a, b, b, a].into_iter().try_for_each(&mut add).is_err() {
                        continue;
                    }
                    match accumulator.finish() {
                        Ok(value) if !fits(&value, &ret) => {
                            wrong.push(format!("{name} of {ty}: not {ret}: {}", cut(&value)));
                        }
                        Ok(_) | Err(_) => {}
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn shown(args: &[Typed]) -> String {
    let args: Vec<_> = args
        .iter()
        .map(|(v, ty)| format!("{} {ty}", cut(v)))
        .collect();
    args.join(", ")
}

fn cut(value: &Value) -> String {
    let shown = match value {
        Value::Str(s) => format!("'{}' of {}", String::from_utf16_lossy(s), s.len()),
        _ => format!("{value:?}"),
    };
    shown.chars().take(60).collect()
}
