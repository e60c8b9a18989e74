//! Values at the ends of what their types hold, and whether a value is within its type: for the tests that no
//! arithmetic leaves the numbers it is done with, and that every result fits the type that was announced.

use super::arith::in_range;
use super::datetime::{DAYS_END, Moment, TICKS_PER_DAY};
use super::{Collation, DataType, Length, Value, decimal, text};

const C: Collation = Collation::SqlLatin1CiAs;

/// Texts that mean a number, a date, an offset or nothing, and such that grow when their case changes.
const TEXTS: &[&str] = &[
    "",
    " ",
    "-",
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999999999999999999999",
    "1.7976931348623157E308",
    "0001-01-01",
    "9999-12-31 23:59:59.9999999",
    "9999-12-31 23:59:59 -14:00",
    "0001-01-01 00:00 +14:00",
    "+14:00",
    "-14:00",
    "%s %d %099d %.99s",
    "{\"a\":[1,9223372036854775808]}",
    "$.a",
    "0xFFFFFFFFFFFFFFFF",
    "ÿıßȺɐİ",
];

/// Each type with values at both ends of it.
pub(crate) fn extremes() -> Vec<(DataType, Vec<Value>)> {
    let ints = |values: &[i64]| values.iter().map(|n| Value::Int(*n)).collect::<Vec<_>>();
    let floats = |values: &[f64]| values.iter().map(|f| Value::Float(*f)).collect::<Vec<_>>();
    let moments = |days: &[i32]| -> Vec<Value> {
        let all = days
            .iter()
            .flat_map(|days| [(*days, 0), (*days, TICKS_PER_DAY - 1)]);
        all.map(|(days, ticks)| Value::DateTime { days, ticks })
            .collect()
    };
    let mut all = vec![
        (DataType::Null, vec![Value::Null]),
        (DataType::Bit, vec![Value::Bit(false), Value::Bit(true)]),
        (DataType::TinyInt, ints(&[0, 255])),
        (DataType::SmallInt, ints(&[-32_768, 32_767])),
        (
            DataType::Int,
            ints(&[i64::from(i32::MIN), -1, 0, 1, i64::from(i32::MAX)]),
        ),
        (DataType::BigInt, ints(&[i64::MIN, i64::MAX])),
        (
            DataType::Real,
            floats(&[f64::from(f32::MIN), f64::from(f32::MAX)]),
        ),
        (
            DataType::Float,
            floats(&[f64::MIN, f64::MAX, f64::MIN_POSITIVE, -0.5]),
        ),
        (
            DataType::UniqueIdentifier,
            vec![Value::Guid([0; 16]), Value::Guid([0xFF; 16])],
        ),
        (
            DataType::Date,
            vec![Value::Date(0), Value::Date(DAYS_END - 1)],
        ),
        (
            DataType::Time(7),
            vec![Value::Time(0), Value::Time(TICKS_PER_DAY - 1)],
        ),
        (DataType::DateTime2(7), moments(&[0, DAYS_END - 1])),
        (
            DataType::DateTimeOffset(7),
            [(0, 0, 0), (0, 0, 840), (DAYS_END - 1, TICKS_PER_DAY - 1, 0)]
                .into_iter()
                .chain([(DAYS_END - 1, TICKS_PER_DAY - 1, -840)])
                .map(|(days, ticks, offset)| Value::DateTimeOffset {
                    days,
                    ticks,
                    offset,
                })
                .collect(),
        ),
    ];
    let midnight = |days| Value::DateTime { days, ticks: 0 };
    let last = super::datetime::round_datetime(TICKS_PER_DAY - 100_000);
    all.push((
        DataType::DateTime,
        vec![
            midnight(639_905),
            midnight(DAYS_END - 1),
            Value::DateTime {
                days: DAYS_END - 1,
                ticks: last,
            },
        ],
    ));
    all.push((
        DataType::SmallDateTime,
        vec![midnight(693_595), midnight(759_130)],
    ));
    for (precision, scale) in [(1, 0), (1, 1), (38, 0), (38, 19), (38, 38)] {
        let units = decimal::pow10(precision) - 1;
        let values = [units, -units].map(|units| Value::Decimal { units, scale });
        all.push((DataType::decimal(precision, scale), values.into()));
    }
    let texts: Vec<Value> = TEXTS.iter().copied().map(Value::text).collect();
    let long = Value::Str(vec![0x78; 4000].into());
    let halves = Value::Str(vec![0xD83D, 0x20, 0xDE00].into());
    all.push((DataType::nvarchar(4000, C), texts.clone()));
    all.push((DataType::nvarchar_max(C), vec![long.clone(), halves]));
    all.push((DataType::varchar(8000, C), vec![long.clone()]));
    all.push((DataType::NChar(1, C), vec![Value::text("ß")]));
    all.push((DataType::Char(3, C), vec![Value::text("ÿ  ")]));
    let grows = ["ıȺɐİ", "ȺȺȺȺ", "9"].map(Value::text);
    all.push((DataType::varchar(8, Collation::CiAsUtf8), grows.into()));
    let bytes = |len: usize| vec![Value::Bytes(vec![0xFF; len].into())];
    all.push((
        DataType::Binary(8),
        vec![Value::Bytes([0x7F, 255, 255, 255, 0, 0, 0, 0].into())],
    ));
    all.push((DataType::Binary(1), bytes(1)));
    all.push((DataType::VarBinary(Length::Limited(8000)), bytes(8000)));
    all.push((DataType::VarBinary(Length::Max), bytes(20)));
    all
}

/// Whether a value is one of its type: what a column of this type can hold, and the wire can carry.
pub(crate) fn fits(value: &Value, ty: &DataType) -> bool {
    let days_fit = |days: &i32, least: i32, end: i32| (least..end).contains(days);
    match (value, ty) {
        (Value::Null, _) | (Value::Bit(_), DataType::Bit) => true,
        (Value::Guid(_), DataType::UniqueIdentifier) => true,
        (Value::Int(n), _) => ty.is_integer() && in_range(*n, ty),
        (Value::Decimal { units, scale }, DataType::Decimal { precision, .. }) => {
            *scale == ty.scale() && decimal::fits(*units, *precision)
        }
        (Value::Float(f), DataType::Real) => f.is_finite() && f64::from(*f as f32) == *f,
        (Value::Float(f), DataType::Float) => f.is_finite(),
        (Value::Str(s), _) => {
            let Some(length) = ty.length() else {
                return false;
            };
            let collation = ty.collation().unwrap_or(C);
            let of_code_page = ty.is_unicode() || *text::to_varchar(s, collation) == **s;
            let kept = match length {
                Length::Limited(n) => text::fitting_prefix(s, ty, usize::from(n)).len(),
                Length::Max => s.len(),
            };
            ty.is_string() && of_code_page && kept == s.len()
        }
        (Value::Bytes(bytes), _) => {
            ty.is_binary()
                && match ty.length() {
                    Some(Length::Limited(n)) => bytes.len() <= usize::from(n),
                    Some(Length::Max) | None => true,
                }
        }
        (Value::Date(days), DataType::Date) => days_fit(days, 0, DAYS_END),
        (Value::Time(ticks), DataType::Time(_)) => (0..TICKS_PER_DAY).contains(ticks),
        (Value::DateTime { days, ticks }, _) => {
            (0..TICKS_PER_DAY).contains(ticks)
                && match ty {
                    DataType::DateTime2(_) => days_fit(days, 0, DAYS_END),
                    DataType::DateTime => days_fit(days, 639_905, DAYS_END),
                    DataType::SmallDateTime => days_fit(days, 693_595, 759_131),
                    _ => false,
                }
        }
        (Value::DateTimeOffset { days, .. }, DataType::DateTimeOffset(_)) => {
            let local = Moment::of(value).map_or(-1, |m| m.days);
            days_fit(days, 0, DAYS_END) && days_fit(&local, 0, DAYS_END)
        }
        _ => false,
    }
}

mod tests {
    use super::super::operation::operation;
    use super::super::{BinaryOp, CastMode, arith, cast};
    use super::*;

    /// Every value at the end of its type, with that type.
    fn values() -> Vec<(Value, DataType)> {
        let all = extremes().into_iter();
        all.flat_map(|(ty, values)| values.into_iter().map(move |v| (v, ty.clone())))
            .collect()
    }

    #[test]
    fn the_extremes_are_values_of_their_types() {
        for (value, ty) in values() {
            assert!(fits(&value, &ty), "{value:?} as {ty}");
        }
        let all: Vec<&str> = extremes().iter().map(|(ty, _)| ty.name()).collect();
        for facts in super::super::facts::ALL {
            assert!(all.contains(&facts.name), "{}", facts.name);
        }
    }

    /// A conversion refuses what does not fit its type, whatever the value and the style.
    #[test]
    fn what_a_conversion_gives_fits_its_type() {
        let mut wrong = Vec::new();
        let types: Vec<DataType> = extremes().into_iter().map(|(ty, _)| ty).collect();
        let coarse = [
            DataType::DateTime2(0),
            DataType::DateTimeOffset(0),
            DataType::Time(0),
        ];
        for (value, from) in values() {
            for to in types.iter().chain(&coarse) {
                for style in [None, Some(0), Some(1), Some(2), Some(121), Some(126)] {
                    for mode in [CastMode::Explicit, CastMode::Assign, CastMode::Store] {
                        match cast(&value, &from, to, style, mode) {
                            Ok(cast) if !fits(&cast, to) && *to != DataType::Null => {
                                wrong.push(format!("{value:?} from {from} to {to}: {cast:?}"));
                            }
                            Ok(_) | Err(_) => {}
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// An operator refuses a result that its type does not hold.
    #[test]
    fn what_an_operator_gives_fits_its_type() {
        let mut wrong = Vec::new();
        let ops = [
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Mod,
            BinaryOp::BitAnd,
            BinaryOp::BitOr,
            BinaryOp::BitXor,
        ];
        for (a, a_ty) in values() {
            for (b, b_ty) in values() {
                for op in ops {
                    let Ok(types) = operation(op, &a_ty, &b_ty) else {
                        continue;
                    };
                    let operand = |v: &Value, from, to| cast(v, from, to, None, CastMode::Assign);
                    let left = operand(&a, &a_ty, &types.left);
                    let (Ok(left), Ok(right)) = (left, operand(&b, &b_ty, &types.right)) else {
                        continue;
                    };
                    match arith::binary(op, &left, &right, &types.result) {
                        Ok(result) if !fits(&result, &types.result) => {
                            let ty = types.result;
                            wrong.push(format!("{a:?} {op:?} {b:?} as {ty}: {result:?}"));
                        }
                        Ok(_) | Err(_) => {}
                    }
                }
            }
            for one in [arith::negate, arith::bit_not] {
                if let Ok(result) = one(&a, &a_ty)
                    && !fits(&result, &a_ty)
                {
                    wrong.push(format!("of {a:?} as {a_ty}: {result:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
