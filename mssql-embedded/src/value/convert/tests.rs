//! Conversions checked against the answers SQL Server gives.

use super::*;
use crate::value::Collation;
use DataType as D;

const C: Collation = Collation::SqlLatin1CiAs;

fn vc(n: u16) -> DataType {
    D::varchar(n, C)
}

fn convert(value: Value, from: &DataType, to: &DataType) -> SqlResult<Value> {
    cast(&value, from, to, None, CastMode::Explicit)
}

fn shown(value: Value, from: &DataType, to: &DataType) -> String {
    match convert(value, from, to) {
        Ok(Value::Str(s)) => text::to_string(&s),
        other => panic!("{other:?}"),
    }
}

fn parsed(s: &str, to: DataType) -> SqlResult<Value> {
    convert(Value::text(s), &vc(100), &to)
}

#[test]
fn text_to_numbers() {
    assert_eq!(parsed(" 12 ", D::Int).unwrap(), Value::Int(12));
    assert_eq!(parsed("", D::Int).unwrap(), Value::Int(0));
    assert_eq!(
        parsed("1.555", D::decimal(5, 2)).unwrap(),
        Value::Decimal {
            units: 156,
            scale: 2
        }
    );
    assert_eq!(parsed("TRUE", D::Bit).unwrap(), Value::Bit(true));
    let number = |s, to| parsed(s, to).unwrap_err().number;
    assert_eq!(number("1.5", D::Int), 245);
    assert_eq!(number("x", D::BigInt), 8114);
    assert_eq!(number("99999999999", D::Int), 248);
    assert_eq!(number("300", D::TinyInt), 244);
    assert_eq!(number("99999999999999999999", D::BigInt), 8115);
    assert_eq!(number("1e3", D::decimal(5, 2)), 8114);
    assert_eq!(number("12345", D::decimal(4, 1)), 8115);
    assert_eq!(number("x", D::Float), 8114);
    assert_eq!(number("nonsense", D::UniqueIdentifier), 8169);
    let error = parsed("abc", D::Int).unwrap_err();
    assert_eq!(
        error.message,
        "Conversion failed when converting the varchar value 'abc' to data type int."
    );
}

#[test]
fn numbers_to_numbers() {
    let d = |units, scale| Value::Decimal { units, scale };
    assert_eq!(
        convert(d(-159, 2), &D::decimal(5, 2), &D::Int).unwrap(),
        Value::Int(-1)
    );
    assert_eq!(
        convert(d(125, 2), &D::decimal(5, 2), &D::decimal(5, 1)).unwrap(),
        d(13, 1)
    );
    assert_eq!(
        convert(Value::Float(2.9), &D::Float, &D::Int).unwrap(),
        Value::Int(2)
    );
    assert_eq!(
        convert(Value::Int(300), &D::Int, &D::TinyInt)
            .unwrap_err()
            .number,
        220
    );
    assert_eq!(
        convert(Value::Int(1 << 40), &D::BigInt, &D::Int)
            .unwrap_err()
            .number,
        8115
    );
    assert_eq!(
        convert(Value::Float(3e9), &D::Float, &D::Int)
            .unwrap_err()
            .number,
        232
    );
}

#[test]
fn numbers_to_text() {
    assert_eq!(shown(Value::Int(12345), &D::Int, &vc(3)), "*");
    let short = D::nvarchar(3, C);
    assert_eq!(
        convert(Value::Int(12345), &D::Int, &short)
            .unwrap_err()
            .number,
        8115
    );
    assert_eq!(
        shown(Value::Float(1_000_000.0), &D::Float, &vc(30)),
        "1e+006"
    );
    let half = Value::Decimal {
        units: 50,
        scale: 2,
    };
    assert_eq!(shown(half, &D::decimal(5, 2), &vc(30)), "0.50");
    assert_eq!(shown(Value::text("ab"), &vc(2), &D::Char(4, C)), "ab  ");
}

#[test]
fn text_is_cut_by_cast_and_refused_by_columns() {
    let long = Value::text("abcdef");
    assert_eq!(shown(long.clone(), &vc(6), &vc(3)), "abc");
    let target = StoreTarget {
        table: "db.dbo.t",
        column: "c",
    };
    let error = store(&long, &vc(6), &vc(3), &target).unwrap_err();
    assert_eq!(error.number, 2628);
    assert!(
        error
            .message
            .contains("table 'db.dbo.t', column 'c'. Truncated value: 'abc'.")
    );
    let spaces = store(&Value::text("abc  "), &vc(6), &vc(3), &target).unwrap();
    assert_eq!(spaces, Value::text("abc"));
}

#[test]
fn unicode_is_lost_in_varchar_and_kept_in_utf8() {
    let from = D::nvarchar(10, C);
    assert_eq!(shown(Value::text("aж"), &from, &vc(10)), "a?");
    assert_eq!(
        shown(
            Value::text("aж"),
            &from,
            &D::varchar(10, Collation::Bin2Utf8)
        ),
        "aж"
    );
}

#[test]
fn dates() {
    assert_eq!(parsed("2024-13-01", D::DateTime).unwrap_err().number, 242);
    assert_eq!(
        parsed("2024-13-01", D::DateTime2(7)).unwrap_err().number,
        241
    );
    assert_eq!(parsed("nope", D::SmallDateTime).unwrap_err().number, 295);
    assert_eq!(parsed("1600-01-01", D::DateTime).unwrap_err().number, 242);
    assert_eq!(
        parsed("2024-01-01 00:00:00.1234567", D::DateTime)
            .unwrap_err()
            .number,
        241
    );
    let zero = convert(Value::Int(0), &D::Int, &D::DateTime).unwrap();
    assert_eq!(
        shown(zero.clone(), &D::DateTime, &vc(30)),
        "Jan  1 1900 12:00AM"
    );
    assert_eq!(convert(zero, &D::DateTime, &D::Int).unwrap(), Value::Int(0));
    assert_eq!(
        convert(Value::Int(0), &D::Int, &D::Date)
            .unwrap_err()
            .number,
        529
    );
    let d = parsed("2024-05-06", D::Date).unwrap();
    assert_eq!(convert(d, &D::Date, &D::Time(7)).unwrap_err().number, 529);
    let offset = parsed("2024-05-06 01:00 +02:00", D::DateTimeOffset(0)).unwrap();
    let local = convert(offset, &D::DateTimeOffset(0), &D::DateTime2(0)).unwrap();
    assert_eq!(
        shown(local, &D::DateTime2(0), &vc(30)),
        "2024-05-06 01:00:00"
    );
}

#[test]
fn styles_decide_the_order_of_numeric_dates() {
    let read = |style| {
        cast(
            &Value::text("03/04/2024"),
            &vc(10),
            &D::Date,
            Some(style),
            CastMode::Explicit,
        )
    };
    let april = parsed("2024-04-03", D::Date).unwrap();
    let march = parsed("2024-03-04", D::Date).unwrap();
    assert_eq!(read(103).unwrap(), april);
    assert_eq!(read(101).unwrap(), march);
    assert_eq!(read(99).unwrap_err().number, 9809);
    assert_eq!(read(130).unwrap_err().number, 40517);
}

#[test]
fn binary() {
    let bin = D::VarBinary(Length::Limited(30));
    let four = convert(Value::Int(258), &D::Int, &bin).unwrap();
    assert_eq!(four, Value::Bytes([0, 0, 1, 2].into()));
    assert_eq!(
        convert(four.clone(), &bin, &D::Int).unwrap(),
        Value::Int(258)
    );
    let hex = cast(&four, &bin, &vc(30), Some(1), CastMode::Explicit).unwrap();
    assert_eq!(hex, Value::text("0x00000102"));
    let back = cast(&hex, &vc(30), &bin, Some(1), CastMode::Explicit).unwrap();
    assert_eq!(back, four);
    let wide = convert(Value::text("aé"), &D::nvarchar(2, C), &bin).unwrap();
    assert_eq!(wide, Value::Bytes([0x61, 0, 0xE9, 0].into()));
    let d = convert(
        Value::Decimal {
            units: 15,
            scale: 1,
        },
        &D::decimal(2, 1),
        &bin,
    )
    .unwrap();
    assert_eq!(d, Value::Bytes([2, 1, 0, 1, 0x0F, 0, 0, 0].into()));
    let guid = convert(
        Value::text("0E984725-C51C-4BF4-9960-E1C80E27ABA0"),
        &vc(36),
        &D::UniqueIdentifier,
    );
    let stored = convert(guid.unwrap(), &D::UniqueIdentifier, &bin).unwrap();
    assert!(matches!(&stored, Value::Bytes(b) if b[0] == 0x25));
}
