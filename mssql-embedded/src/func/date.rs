//! The clock, and date functions that take a date part.

use super::sig::{DEFAULT, any_null, arity, int, never_null, sig, units};
use super::{Arg, Function, Host, SessionValue, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::date_part::{self, DatePart, PartUse};
use crate::value::datetime::Moment;
use crate::value::facts::Family;
use crate::value::{DataType, Value, errors, text};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("GETDATE", |name, a| clock(name, a, DataType::DateTime), now).of_its_time(),
    Function::new(
        "GETUTCDATE",
        |name, a| clock(name, a, DataType::DateTime),
        now,
    )
    .of_its_time(),
    Function::new(
        "CURRENT_TIMESTAMP",
        |name, a| clock(name, a, DataType::DateTime),
        now,
    )
    .of_its_time(),
    Function::new(
        "SYSDATETIME",
        |name, a| clock(name, a, DataType::DateTime2(7)),
        now,
    )
    .of_its_time(),
    Function::new(
        "SYSUTCDATETIME",
        |name, a| clock(name, a, DataType::DateTime2(7)),
        now,
    )
    .of_its_time(),
    Function::new(
        "SYSDATETIMEOFFSET",
        |name, a| clock(name, a, DataType::DateTimeOffset(7)),
        now,
    )
    .of_its_time(),
    Function::new("DATEADD", bind_dateadd, dateadd).with_date_part(),
    Function::new(
        "DATEDIFF",
        |name, a| bind_diff(name, a, DataType::Int),
        datediff,
    )
    .with_date_part(),
    Function::new(
        "DATEDIFF_BIG",
        |name, a| bind_diff(name, a, DataType::BigInt),
        datediff,
    )
    .with_date_part(),
    Function::new(
        "DATEPART",
        |name, a| bind_part(name, a, DataType::Int),
        datepart,
    )
    .with_date_part(),
    Function::new(
        "DATENAME",
        |name, a| bind_part(name, a, DataType::nvarchar(30, DEFAULT)),
        datename,
    )
    .with_date_part(),
    Function::new("YEAR", bind_field, |_, s, a| field(DatePart::Year, s, a)),
    Function::new("MONTH", bind_field, |_, s, a| field(DatePart::Month, s, a)),
    Function::new("DAY", bind_field, |_, s, a| field(DatePart::Day, s, a)),
];

fn clock(name: &str, args: &[Arg], ty: DataType) -> SqlResult<Signature> {
    arity(name, args, 0, 0)?;
    never_null(ty, Vec::new())
}

/// The server's zone is UTC, so the local functions and the UTC ones agree.
fn now(host: &mut dyn Host, signature: &Signature, _: &[Value]) -> SqlResult<Value> {
    let (days, ticks) = host.now_utc();
    Moment {
        days,
        ticks,
        offset: 0,
    }
    .to_value(&DataType::DateTime2(7), &signature.ret)
}

/// The date type an argument is read as: its own, DATETIME for numbers, `for_text` for text.
pub(super) fn date_type(arg: &Arg, for_text: DataType) -> DataType {
    match arg.ty.facts().family {
        Family::OldDate | Family::Date | Family::Time | Family::NewDate => arg.ty.clone(),
        Family::Text => for_text,
        Family::Exact | Family::Float | Family::Binary | Family::Guid => DataType::DateTime,
    }
}

fn part_name() -> DataType {
    DataType::varchar(30, DEFAULT)
}

/// The part a constant names, or 155.
fn part_of(args: &[Arg], function: &str) -> SqlResult<DatePart> {
    let name = match &args[0].constant {
        Some(Value::Str(s)) => text::to_string(s),
        _ => String::new(),
    };
    DatePart::by_name(&name)
        .ok_or_else(|| errors::unknown_option(&name, &function.to_ascii_lowercase(), 1))
}

fn part_value(value: &Value) -> DatePart {
    // The binder has checked the name; the fallback is never reached.
    DatePart::by_name(&text::to_string(units(value))).unwrap_or(DatePart::Day)
}

fn bind_dateadd(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 3, 3)?;
    let ty = date_type(&args[2], DataType::DateTime);
    part_of(args, name)?.check(PartUse::Add, name, &ty)?;
    // A text is no number here, whatever it holds.
    if args[1].ty.is_string() {
        return Err(errors::invalid_argument(&args[1].ty, 2, "dateadd"));
    }
    sig(ty.clone(), vec![part_name(), DataType::Int, ty])
}

fn dateadd(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    date_part::add(
        part_value(&args[0]),
        int(&args[1]),
        &args[2],
        &signature.ret,
    )
}

fn bind_diff(name: &str, args: &[Arg], ret: DataType) -> SqlResult<Signature> {
    arity(name, args, 3, 3)?;
    let (from, to) = (
        date_type(&args[1], DataType::DateTime2(7)),
        date_type(&args[2], DataType::DateTime2(7)),
    );
    let part = part_of(args, name)?;
    if matches!(part, DatePart::TzOffset | DatePart::IsoWeek) {
        let (part, name) = (part.name(), name.to_ascii_lowercase());
        let message = format!("The datepart {part} is not supported by date function {name}.");
        return Err(SqlError::new(9806, message));
    }
    sig(ret, vec![part_name(), from, to])
}

fn datediff(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let (Some(from), Some(to)) = (Moment::of(&args[1]), Moment::of(&args[2])) else {
        return Ok(Value::Null);
    };
    let count = date_part::diff(part_value(&args[0]), from, to);
    let fits = if let DataType::Int = signature.ret {
        i32::try_from(count).is_ok()
    } else {
        i64::try_from(count).is_ok()
    };
    if fits {
        return Ok(Value::Int(count as i64));
    }
    let name = if signature.ret == DataType::Int {
        "datediff"
    } else {
        "datediff_big"
    };
    Err(SqlError::with(
        535,
        16,
        0,
        format!(
            "The {name} function resulted in an overflow. The number of dateparts separating two \
             date/time instances is too large. Try to use {name} with a less precise datepart."
        ),
    ))
}

fn bind_part(name: &str, args: &[Arg], ret: DataType) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let ty = date_type(&args[1], DataType::DateTime2(7));
    part_of(args, name)?.check(PartUse::Read, name, &ty)?;
    sig(ret, vec![part_name(), ty])
}

fn date_first(host: &dyn Host) -> i32 {
    if let Value::Int(n) = host.session_value(SessionValue::DateFirst) {
        n as i32
    } else {
        7
    }
}

fn datepart(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let Some(moment) = Moment::of(&args[1]) else {
        return Ok(Value::Null);
    };
    let part = part_value(&args[0]);
    Ok(Value::Int(date_part::extract(
        part,
        moment,
        &signature.params[1],
        date_first(host),
    )))
}

fn datename(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let Some(moment) = Moment::of(&args[1]) else {
        return Ok(Value::Null);
    };
    let part = part_value(&args[0]);
    let name = date_part::name(part, moment, &signature.params[1], date_first(host));
    Ok(Value::text(&name))
}

fn bind_field(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    sig(
        DataType::Int,
        vec![date_type(&args[0], DataType::DateTime2(7))],
    )
}

fn field(part: DatePart, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let value = Moment::of(&args[0]).map_or(Value::Null, |m| {
        Value::Int(date_part::extract(part, m, &signature.params[0], 7))
    });
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, call_typed, n, t, text};
    use super::*;

    #[test]
    fn the_clock_has_the_precision_of_each_function() {
        let (value, ty) = call_typed("SYSUTCDATETIME", &[]).unwrap();
        let shown = crate::value::date_format::format(&value, &ty, None).unwrap();
        assert_eq!(shown, "2024-03-05 13:02:03.4567891");
        let (value, ty) = call_typed("GETDATE", &[]).unwrap();
        let shown = crate::value::date_format::format(&value, &ty, Some(121)).unwrap();
        assert_eq!(shown, "2024-03-05 13:02:03.457");
    }

    #[test]
    fn epoch_milliseconds() {
        let now = call("SYSUTCDATETIME", &[]).unwrap();
        let ms = call(
            "DATEDIFF_BIG",
            &[t("MILLISECOND"), t("19700101"), now.clone()],
        )
        .unwrap();
        assert_eq!(ms, n(1_709_643_723_456));
        let error = call("DATEDIFF", &[t("ms"), t("19700101"), now]).unwrap_err();
        assert_eq!(error.number, 535);
    }

    #[test]
    fn parts_are_checked_when_bound() {
        assert_eq!(
            call("DATEADD", &[t("nope"), n(1), t("20240101")])
                .unwrap_err()
                .number,
            155
        );
        let (_, ty) = call_typed(
            "DATEADD",
            &[
                (t("day"), DataType::varchar(30, DEFAULT)),
                (n(1), DataType::Int),
                (t("20240101"), DataType::varchar(8, DEFAULT)),
            ],
        )
        .unwrap();
        assert_eq!(ty, DataType::DateTime);
        assert_eq!(call("DATEPART", &[t("dw"), t("20240305")]).unwrap(), n(3));
        assert_eq!(
            text(call("DATENAME", &[t("weekday"), t("20240305")])),
            "Tuesday"
        );
        assert_eq!(call("YEAR", &[t("20240305")]).unwrap(), n(2024));
        assert_eq!(call("DAY", &[Value::Null]).unwrap(), Value::Null);
    }
}
