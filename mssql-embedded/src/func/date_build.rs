//! Date functions that build or change dates.

use super::date::date_type;
use super::sig::{any_null, arity, int, sig, text, units};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::date_parse;
use crate::value::date_part::{self, DatePart};
use crate::value::datetime::{Moment, TICKS_PER_SECOND, days_in_month, from_civil, to_civil};
use crate::value::{CastMode, DataType, Value, bad_scale, cast};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("EOMONTH", bind_eomonth, eomonth),
    Function::new(
        "DATEFROMPARTS",
        |name, a| parts(name, a, 3, DataType::Date),
        date_from_parts,
    ),
    Function::new(
        "DATETIMEFROMPARTS",
        |name, a| parts(name, a, 7, DataType::DateTime),
        datetime_from_parts,
    ),
    Function::new(
        "SMALLDATETIMEFROMPARTS",
        |name, a| parts(name, a, 5, DataType::SmallDateTime),
        small_from_parts,
    ),
    Function::new(
        "DATETIME2FROMPARTS",
        |name, a| scaled(name, a, 8, DataType::DateTime2),
        datetime2_from_parts,
    ),
    Function::new(
        "TIMEFROMPARTS",
        |name, a| scaled(name, a, 5, DataType::Time),
        time_from_parts,
    ),
    Function::new(
        "DATETIMEOFFSETFROMPARTS",
        |name, a| scaled(name, a, 10, DataType::DateTimeOffset),
        offset_from_parts,
    ),
    Function::new("ISDATE", bind_isdate, isdate),
    Function::new("SWITCHOFFSET", bind_offset, |_, _, a| switch_offset(a)),
    Function::new("TODATETIMEOFFSET", bind_offset, |_, s, a| to_offset(s, a)),
];

fn bind_eomonth(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 2)?;
    let params = [date_type(&args[0], DataType::Date), DataType::Int];
    sig(
        DataType::Date,
        params.into_iter().take(args.len()).collect(),
    )
}

fn eomonth(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let Some(moment) = Moment::of(&args[0]) else {
        return Ok(Value::Null);
    };
    let months = args.get(1).map_or(0, int);
    let date = date_part::add(
        DatePart::Month,
        months,
        &Value::Date(moment.days),
        &DataType::Date,
    )?;
    let Value::Date(days) = date else {
        return Ok(Value::Null);
    };
    let (year, month, day) = to_civil(days);
    Ok(Value::Date(
        days + (days_in_month(year, month) - day) as i32,
    ))
}

fn parts(name: &str, args: &[Arg], count: usize, ret: DataType) -> SqlResult<Signature> {
    arity(name, args, count, count)?;
    sig(ret, vec![DataType::Int; count])
}

/// The last argument is the precision and must be a constant, since it is part of the type.
fn scaled(name: &str, args: &[Arg], count: usize, ty: fn(u8) -> DataType) -> SqlResult<Signature> {
    arity(name, args, count, count)?;
    let scale = match args[count - 1].constant {
        Some(Value::Int(n @ 0..=7)) => n as u8,
        Some(Value::Int(n)) => {
            return Err(bad_scale(n));
        }
        _ => {
            return Err(SqlError::with(
                10760,
                16,
                1,
                "Scale argument is not valid. Valid expressions for data type scale argument are \
                 integer constants and integer constant expressions.",
            ));
        }
    };
    parts(name, args, count, ty(scale))
}

fn not_valid(ty: &DataType) -> SqlError {
    SqlError::new(
        289,
        format!(
            "Cannot construct data type {}, some of the arguments have values which are not valid.",
            ty.name()
        ),
    )
}

fn small(value: &Value) -> Option<u32> {
    u32::try_from(int(value)).ok()
}

fn day(args: &[Value]) -> Option<i32> {
    from_civil(int(&args[0]) as i32, small(&args[1])?, small(&args[2])?)
}

/// Ticks of hour, minute, second and a fraction counted in `unit` ticks, of which `most` make a
/// second.
fn ticks(args: &[Value], unit: i64, most: i64) -> Option<i64> {
    let field = |i: usize, most: i64| args.get(i).map(int).filter(|n| (0..most).contains(n));
    let seconds = field(0, 24)? * 3600 + field(1, 60)? * 60 + field(2, 60)?;
    Some(seconds * TICKS_PER_SECOND + field(3, most)? * unit)
}

fn build(moment: Option<Moment>, ty: &DataType) -> SqlResult<Value> {
    moment
        .and_then(|m| m.to_value(ty, ty).ok())
        .ok_or_else(|| not_valid(ty))
}

fn date_from_parts(_: &mut dyn Host, s: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    build(
        day(args).map(|days| Moment {
            days,
            ticks: 0,
            offset: 0,
        }),
        &s.ret,
    )
}

fn datetime_from_parts(_: &mut dyn Host, s: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let moment = day(args).zip(ticks(&args[3..], 10_000, 1000));
    build(
        moment.map(|(days, ticks)| Moment {
            days,
            ticks,
            offset: 0,
        }),
        &s.ret,
    )
}

fn small_from_parts(_: &mut dyn Host, s: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let clock = [
        args[3].clone(),
        args[4].clone(),
        Value::Int(0),
        Value::Int(0),
    ];
    let moment = day(args).zip(ticks(&clock, 1, 1));
    build(
        moment.map(|(days, ticks)| Moment {
            days,
            ticks,
            offset: 0,
        }),
        &s.ret,
    )
}

fn fraction_unit(ty: &DataType) -> (i64, i64) {
    let digits = u32::from(ty.scale());
    (10_i64.pow(7 - digits), 10_i64.pow(digits))
}

fn datetime2_from_parts(_: &mut dyn Host, s: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let (unit, most) = fraction_unit(&s.ret);
    let moment = day(args).zip(ticks(&args[3..], unit, most));
    build(
        moment.map(|(days, ticks)| Moment {
            days,
            ticks,
            offset: 0,
        }),
        &s.ret,
    )
}

fn time_from_parts(_: &mut dyn Host, s: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let (unit, most) = fraction_unit(&s.ret);
    ticks(args, unit, most)
        .map(Value::Time)
        .ok_or_else(|| not_valid(&s.ret))
}

fn offset_from_parts(_: &mut dyn Host, s: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let (unit, most) = fraction_unit(&s.ret);
    let (hours, minutes) = (int(&args[7]), int(&args[8]));
    let total = hours * 60 + minutes;
    let same_sign = hours * minutes >= 0;
    let valid = minutes.abs() < 60 && total.abs() <= 14 * 60 && same_sign;
    let moment = day(args)
        .zip(ticks(&args[3..], unit, most))
        .filter(|_| valid);
    build(
        moment.map(|(days, ticks)| Moment {
            days,
            ticks,
            offset: total as i16,
        }),
        &s.ret,
    )
}

fn bind_isdate(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(DataType::Int, vec![text(&args[0])])
}

fn isdate(_: &mut dyn Host, s: &Signature, args: &[Value]) -> SqlResult<Value> {
    let blank = units(&args[0]).iter().all(|u| *u == 0x20);
    let valid = !args[0].is_null()
        && !blank
        && cast(
            &args[0],
            &s.params[0],
            &DataType::DateTime,
            None,
            CastMode::Assign,
        )
        .is_ok();
    Ok(Value::Int(i64::from(valid)))
}

fn bind_offset(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let scale = match &args[0].ty {
        DataType::DateTimeOffset(n) | DataType::DateTime2(n) => *n,
        DataType::DateTime => 3,
        DataType::SmallDateTime => 0,
        DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Decimal { .. }
        | DataType::Real
        | DataType::Float
        | DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..)
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_) => 7,
    };
    let zone = if args[1].ty.is_string() {
        args[1].ty.clone()
    } else {
        DataType::Int
    };
    let ty = DataType::DateTimeOffset(scale);
    sig(ty.clone(), vec![ty, zone])
}

/// Minutes of an offset given as a number or as `±hh:mm`.
fn minutes(value: &Value, function: &str) -> SqlResult<i16> {
    let found = match value {
        Value::Int(n) if n.abs() <= 14 * 60 => Some(*n as i16),
        Value::Str(s) => {
            let shown = crate::value::text::to_string(s);
            let zone = shown.trim();
            let signed = zone.starts_with(['+', '-']);
            let probe = format!("2000-01-01 00:00 {zone}");
            date_parse::parse(&probe)
                .ok()
                .filter(|_| signed)
                .and_then(|p| p.offset)
        }
        Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => None,
    };
    found.ok_or_else(|| {
        SqlError::new(
            9812,
            format!("The timezone provided to builtin function {function} is invalid."),
        )
    })
}

/// 9813: the date as it would be shown, or that in UTC, is not one of years 1 to 9999.
fn offset_overflow(function: &str, state: u8) -> SqlError {
    SqlError::with(
        9813,
        16,
        state,
        format!(
            "The timezone provided to builtin function {function} would cause the datetimeoffset to \
             overflow the range of valid date range in either UTC or local time."
        ),
    )
}

fn switch_offset(args: &[Value]) -> SqlResult<Value> {
    let Value::DateTimeOffset { days, ticks, .. } = args[0] else {
        return Ok(Value::Null);
    };
    if args[1].is_null() {
        return Ok(Value::Null);
    }
    let switched = Value::DateTimeOffset {
        days,
        ticks,
        offset: minutes(&args[1], "switchoffset")?,
    };
    match Moment::of(&switched) {
        Some(moment) if moment.is_in_calendar() => Ok(switched),
        _ => Err(offset_overflow("switchoffset", 0)),
    }
}

fn to_offset(s: &Signature, args: &[Value]) -> SqlResult<Value> {
    match Moment::of(&args[0]) {
        Some(moment) if !args[1].is_null() => {
            let offset = minutes(&args[1], "todatetimeoffset")?;
            Moment { offset, ..moment }
                .to_value(&s.ret, &s.ret)
                .map_err(|_| offset_overflow("todatetimeoffset", 2))
        }
        _ => Ok(Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, call_typed, n, t};
    use super::*;

    fn shown(name: &str, args: &[Value]) -> String {
        let typed: Vec<_> = args
            .iter()
            .map(|v| {
                let ty = if let Value::Int(_) = v {
                    DataType::Int
                } else {
                    DataType::varchar(50, super::super::sig::DEFAULT)
                };
                (v.clone(), ty)
            })
            .collect();
        let (value, ty) = call_typed(name, &typed).unwrap();
        crate::value::date_format::format(&value, &ty, Some(121)).unwrap()
    }

    #[test]
    fn dates_are_built_from_parts() {
        assert_eq!(
            shown("DATEFROMPARTS", &[n(2024), n(2), n(29)]),
            "2024-02-29"
        );
        assert_eq!(
            call("DATEFROMPARTS", &[n(2023), n(2), n(29)])
                .unwrap_err()
                .number,
            289
        );
        let parts = [2024, 2, 3, 4, 5, 6, 7, 3].map(n);
        assert_eq!(
            shown("DATETIME2FROMPARTS", &parts),
            "2024-02-03 04:05:06.007"
        );
        assert_eq!(shown("EOMONTH", &[t("2024-01-15"), n(1)]), "2024-02-29");
    }

    #[test]
    fn offsets_are_switched_and_attached() {
        let noon = t("2024-01-01 12:00 +00:00");
        assert_eq!(
            shown("SWITCHOFFSET", &[noon.clone(), t("-05:00")]),
            "2024-01-01 07:00:00.0000000 -05:00"
        );
        assert_eq!(
            shown("TODATETIMEOFFSET", &[noon, t("+02:00")]),
            "2024-01-01 12:00:00.0000000 +02:00"
        );
        assert_eq!(call("ISDATE", &[t("20240230")]).unwrap(), n(0));
        assert_eq!(call("ISDATE", &[t("20240229")]).unwrap(), n(1));
    }
}
