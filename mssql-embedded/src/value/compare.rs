//! Comparison of values of one type, and keys whose byte order is that comparison.

use std::cmp::Ordering;

use super::{Collation, DataType, Value, decimal, guid};

/// The order of two values that are not NULL and already have type `ty`. Values of different
/// representations, which the binder never lets meet, compare by representation.
pub fn compare(a: &Value, b: &Value, ty: &DataType) -> Ordering {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => x.cmp(y),
        (Value::Bit(x), Value::Bit(y)) => x.cmp(y),
        (Value::Decimal { units: x, scale: s }, Value::Decimal { units: y, scale: t }) => {
            decimal::compare(*x, *s, *y, *t)
        }
        (Value::Float(x), Value::Float(y)) => x.partial_cmp(y).unwrap_or(Ordering::Equal),
        (Value::Str(x), Value::Str(y)) => collation_of(ty).compare(x, y),
        (Value::Bytes(x), Value::Bytes(y)) => trim_zeros(x).cmp(trim_zeros(y)),
        (Value::Guid(x), Value::Guid(y)) => guid::compare(x, y),
        (Value::Date(x), Value::Date(y)) => x.cmp(y),
        (Value::Time(x), Value::Time(y)) => x.cmp(y),
        (Value::DateTime { days: d, ticks: t }, Value::DateTime { days: e, ticks: u })
        | (
            Value::DateTimeOffset {
                days: d, ticks: t, ..
            },
            Value::DateTimeOffset {
                days: e, ticks: u, ..
            },
        ) => (d, t).cmp(&(e, u)),
        (
            Value::Null
            | Value::Bit(_)
            | Value::Int(_)
            | Value::Decimal { .. }
            | Value::Float(_)
            | Value::Str(_)
            | Value::Bytes(_)
            | Value::Guid(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime { .. }
            | Value::DateTimeOffset { .. },
            _,
        ) => {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            encode_key(a, ty, false, &mut x);
            encode_key(b, ty, false, &mut y);
            x.cmp(&y)
        }
    }
}

/// Appends bytes whose `memcmp` order is the order of the values, NULL first (last when
/// descending). Equal values give equal bytes and no key is a prefix of another, so the keys of
/// several columns can follow each other.
pub fn encode_key(value: &Value, ty: &DataType, descending: bool, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(u8::from(!value.is_null()));
    match value {
        Value::Null => {}
        Value::Bit(b) => out.push(u8::from(*b)),
        Value::Int(n) => out.extend_from_slice(&flip64(*n)),
        Value::Decimal { units, scale } => encode_decimal(*units, *scale, ty, out),
        Value::Float(f) => out.extend_from_slice(&float_bits(*f).to_be_bytes()),
        Value::Str(text) => collation_of(ty).sort_key(text, out),
        Value::Bytes(bytes) => encode_bytes(trim_zeros(bytes), out),
        Value::Guid(g) => out.extend_from_slice(&guid::sort_key(g)),
        Value::Date(days) => out.extend_from_slice(&flip32(*days)),
        Value::Time(ticks) => out.extend_from_slice(&flip64(*ticks)),
        Value::DateTime { days, ticks } | Value::DateTimeOffset { days, ticks, .. } => {
            out.extend_from_slice(&flip32(*days));
            out.extend_from_slice(&flip64(*ticks));
        }
    }
    if descending {
        for byte in &mut out[start..] {
            *byte = !*byte;
        }
    }
}

fn collation_of(ty: &DataType) -> Collation {
    ty.collation().unwrap_or(Collation::SqlLatin1CiAs)
}

/// Binary values compare as if padded with zero bytes.
fn trim_zeros(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
    &bytes[..len]
}

/// Keys of one column share the scale of its type. A value of another scale is brought to it;
/// when that loses nothing the order is kept, and the binder has made sure of that.
fn encode_decimal(units: i128, scale: u8, ty: &DataType, out: &mut Vec<u8>) {
    let units = decimal::rescale(units, scale, ty.scale()).unwrap_or(units);
    out.extend_from_slice(&((units as u128) ^ (1 << 127)).to_be_bytes());
}

fn flip64(n: i64) -> [u8; 8] {
    ((n as u64) ^ (1 << 63)).to_be_bytes()
}

fn flip32(n: i32) -> [u8; 4] {
    ((n as u32) ^ (1 << 31)).to_be_bytes()
}

fn float_bits(f: f64) -> u64 {
    let bits = if f == 0.0 { 0 } else { f.to_bits() };
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | (1 << 63)
    }
}

fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Length;

    fn key(values: &[Value], ty: &DataType, descending: bool) -> Vec<u8> {
        let mut out = Vec::new();
        for v in values {
            encode_key(v, ty, descending, &mut out);
        }
        out
    }

    fn check(values: &[Value], ty: &DataType) {
        for a in values {
            for b in values {
                let expected = compare(a, b, ty);
                assert_eq!(
                    key(std::slice::from_ref(a), ty, false).cmp(&key(
                        std::slice::from_ref(b),
                        ty,
                        false
                    )),
                    expected,
                    "{a:?} {b:?}"
                );
                assert_eq!(
                    key(std::slice::from_ref(a), ty, true).cmp(&key(
                        std::slice::from_ref(b),
                        ty,
                        true
                    )),
                    expected.reverse()
                );
                // A following column must not change the order of different first columns.
                let first = key(&[a.clone(), Value::Null], ty, false);
                let second = key(&[b.clone(), a.clone()], ty, false);
                if expected != Ordering::Equal {
                    assert_eq!(first.cmp(&second), expected, "{a:?} {b:?} then a column");
                }
            }
        }
    }

    #[test]
    fn keys_order_as_values_do() {
        check(
            &[-5, -1, 0, 1, 70_000, i64::MAX, i64::MIN].map(Value::Int),
            &DataType::BigInt,
        );
        check(
            &[-1e300, -1.5, -0.0, 0.0, 1e-300, 2.0].map(Value::Float),
            &DataType::Float,
        );
        let bytes: [&[u8]; 6] = [&[], &[0], &[0, 1], &[1], &[1, 0], &[255, 0, 1]];
        check(
            &bytes.map(|b| Value::Bytes(b.into())),
            &DataType::VarBinary(Length::Max),
        );
        check(
            &[-12_345, -1, 0, 99].map(|units| Value::Decimal { units, scale: 2 }),
            &DataType::decimal(10, 2),
        );
        for collation in [
            Collation::Bin2,
            Collation::SqlLatin1CiAs,
            Collation::Latin1CsAs,
        ] {
            let texts = [
                "",
                "a",
                "A",
                "a ",
                "a b",
                "a\t",
                "ab",
                "a-b",
                "é",
                "\u{1F600}",
            ];
            check(&texts.map(Value::text), &DataType::nvarchar_max(collation));
        }
    }

    #[test]
    fn null_comes_first() {
        let ty = DataType::Int;
        assert!(key(&[Value::Null], &ty, false) < key(&[Value::Int(i64::MIN)], &ty, false));
        assert!(key(&[Value::Null], &ty, true) > key(&[Value::Int(i64::MIN)], &ty, true));
    }
}
