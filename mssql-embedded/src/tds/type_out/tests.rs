//! Every type goes out as it comes in.

use super::*;
use crate::tds::read::Reader;
use crate::tds::type_in::read_typed_value;

const CI: Collation = Collation::SqlLatin1CiAs;

fn samples() -> Vec<(DataType, Value)> {
    let text = |s: &str| Value::text(s);
    let unpaired = Value::Str([0x61, 0xD800, 0x62].as_slice().into());
    vec![
        (DataType::Bit, Value::Bit(true)),
        (DataType::TinyInt, Value::Int(255)),
        (DataType::SmallInt, Value::Int(-32768)),
        (DataType::Int, Value::Int(-5)),
        (DataType::BigInt, Value::Int(i64::MIN)),
        (
            DataType::Decimal {
                precision: 9,
                scale: 2,
            },
            Value::Decimal {
                units: -5,
                scale: 2,
            },
        ),
        (
            DataType::Decimal {
                precision: 38,
                scale: 0,
            },
            Value::Decimal {
                units: 10_i128.pow(38) - 1,
                scale: 0,
            },
        ),
        (DataType::Real, Value::Float(1.5)),
        (DataType::Float, Value::Float(-1e300)),
        (DataType::Char(3, CI), text("a€c")),
        (DataType::VarChar(Length::Limited(10), CI), text("")),
        (
            DataType::VarChar(Length::Max, Collation::CiAsUtf8),
            text("漢😀"),
        ),
        (DataType::NChar(2, CI), text("😀")),
        (
            DataType::NVarChar(Length::Limited(4000), CI),
            unpaired.clone(),
        ),
        (DataType::NVarChar(Length::Max, Collation::Bin2), unpaired),
        (DataType::NVarChar(Length::Max, CI), text("")),
        (
            DataType::Binary(2),
            Value::Bytes([0, 255].as_slice().into()),
        ),
        (
            DataType::VarBinary(Length::Max),
            Value::Bytes(vec![7; 100_000].into()),
        ),
        (
            DataType::UniqueIdentifier,
            Value::Guid(std::array::from_fn(|i| i as u8)),
        ),
        (DataType::Date, Value::Date(3_652_058)),
        (DataType::Time(7), Value::Time(863_999_999_999)),
        (DataType::Time(0), Value::Time(10_000_000)),
        (
            DataType::SmallDateTime,
            Value::DateTime {
                days: 700_000,
                ticks: 600_000_000,
            },
        ),
        (
            DataType::DateTime,
            Value::DateTime {
                days: 700_000,
                ticks: 33_333,
            },
        ),
        (
            DataType::DateTime2(3),
            Value::DateTime {
                days: 0,
                ticks: 10_000,
            },
        ),
        (
            DataType::DateTimeOffset(7),
            Value::DateTimeOffset {
                days: 1,
                ticks: 1,
                offset: -330,
            },
        ),
    ]
}

/// No type is forgotten in the samples.
#[test]
fn every_type_has_a_sample() {
    let sampled: Vec<_> = samples().iter().map(|(ty, _)| ty.name()).collect();
    for facts in crate::value::facts::ALL {
        assert!(sampled.contains(&facts.name), "{}", facts.name);
    }
}

/// What is sent as a column can be read as a parameter: one format in both directions.
#[test]
fn every_type_round_trips_with_value_and_null() {
    for (ty, value) in samples() {
        for value in [value, Value::Null] {
            let mut out = Vec::new();
            put_type(&ty, Version::V74, true, &mut out);
            put_value(&value, &ty, Version::V74, &mut out).unwrap();
            let mut reader = Reader::new(&out);
            let read = read_typed_value(&mut reader).unwrap();
            assert_eq!(read, (ty.clone(), value));
            assert!(reader.is_empty());
        }
    }
}

/// A value of another type than its column is a fault to report, never bytes to send.
#[test]
fn mismatched_values_are_refused() {
    for (ty, value) in [
        (DataType::Int, Value::Int(1 << 40)),
        (DataType::Int, Value::text("1")),
        (DataType::TinyInt, Value::Int(-1)),
        (DataType::Bit, Value::Int(1)),
        (
            DataType::Decimal {
                precision: 9,
                scale: 2,
            },
            Value::Decimal { units: 1, scale: 3 },
        ),
        (DataType::Date, Value::Date(-1)),
        (
            DataType::NVarChar(Length::Limited(4000), CI),
            Value::text(&"x".repeat(4001)),
        ),
    ] {
        assert_eq!(
            put_value(&value, &ty, Version::V74, &mut Vec::new()),
            Err(Mismatch)
        );
    }
}

/// A client before TDS 7.3 reads dates as text.
#[test]
fn old_clients_get_text_for_dates() {
    let mut out = Vec::new();
    put_type(&DataType::Date, Version::V72, true, &mut out);
    put_value(&Value::Date(0), &DataType::Date, Version::V72, &mut out).unwrap();
    let (_, value) = read_typed_value(&mut Reader::new(&out)).unwrap();
    assert_eq!(value, Value::text("0001-01-01"));
}

/// A client before TDS 7.2 gets NTEXT for NVARCHAR(MAX).
#[test]
fn old_clients_get_text_types_for_max_types() {
    let ty = DataType::NVarChar(Length::Max, CI);
    let mut out = Vec::new();
    put_type(&ty, Version::V71, true, &mut out);
    assert_eq!(out[0], 0x63);
    out.clear();
    put_value(&Value::text("ab"), &ty, Version::V71, &mut out).unwrap();
    assert_eq!(out[0], 16);
    assert_eq!(&out[25..], [4, 0, 0, 0, b'a', 0, b'b', 0]);
}

/// A parameter that is longer than the type it comes with is none of that type, and would not be sent back.
#[test]
fn values_longer_than_their_type_are_refused() {
    let longer: [&[u8]; 6] = [
        &[0x26, 1, 8, 1, 0, 0, 0, 0, 0, 0, 1],
        &[0x6D, 4, 8, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F],
        &[0x6E, 4, 8, 1, 0, 0, 0, 0, 0, 0, 0],
        &[0x6F, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x27, 1, 3, b'a', b'b', b'c'],
        &[0x2D, 2, 3, 1, 2, 3],
    ];
    for bytes in longer {
        let error = read_typed_value(&mut Reader::new(bytes)).unwrap_err();
        assert_eq!(error.number, 8016, "{bytes:x?}");
    }
    // One that is shorter becomes wider.
    let (ty, value) = read_typed_value(&mut Reader::new(&[0x26, 8, 1, 7])).unwrap();
    assert_eq!((ty, value), (DataType::BigInt, Value::Int(7)));
}

/// Neither the moment of a DATETIMEOFFSET nor what is shown of it may leave the calendar.
#[test]
fn offsets_that_leave_the_calendar_are_refused() {
    let first_day = |offset: i16| {
        let mut bytes = vec![0x2B, 0, 8, 0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&offset.to_le_bytes());
        read_typed_value(&mut Reader::new(&bytes)).map(|(_, value)| value)
    };
    assert!(first_day(840).is_ok());
    assert_eq!(first_day(-1).unwrap_err().number, 8023);
}

/// The types that a client may send and the engine has not are in the register of refusals.
#[test]
fn types_of_other_values_are_refused_by_name() {
    for token in [0x62, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5] {
        let error = read_typed_value(&mut Reader::new(&[token])).unwrap_err();
        assert_eq!(error.number, 40517, "{token:#x}: {error}");
    }
}
