//! HASHBYTES and NEWID.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::sig::{DEFAULT, arity, never_null, sig, units};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refusal};
use crate::value::{DataType, Length, STEPS_PER_TURN, Steps, Value, errors, text};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("HASHBYTES", bind_hashbytes, hashbytes),
    Function::new("NEWID", bind_newid, newid).random(),
];

fn bind_hashbytes(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let ty = &args[1].ty;
    let input = if *ty == DataType::Null {
        DataType::varchar(1, DEFAULT)
    } else if ty.is_string() || ty.is_binary() {
        ty.clone()
    } else {
        return Err(errors::invalid_argument(ty, 2, name));
    };
    if let Some(algorithm @ Value::Str(_)) = &args[0].constant {
        refuse(&text::to_string(units(algorithm)))?;
    }
    let algorithm = DataType::varchar(30, DEFAULT);
    sig(
        DataType::VarBinary(Length::Limited(8000)),
        vec![algorithm, input],
    )
}

/// Refuses the algorithms that SQL Server has and the engine has not.
fn refuse(algorithm: &str) -> SqlResult<()> {
    refusal(Kind::Word("HASHBYTES"), algorithm).map_or(Ok(()), Err)
}

/// The bytes hashed are those the type stores: UTF-16 for NVARCHAR, the code page for VARCHAR. An
/// unknown algorithm gives NULL.
fn hashbytes(host: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if args[1].is_null() {
        return Ok(Value::Null);
    }
    let ty = &signature.params[1];
    let algorithm = text::to_string(units(&args[0])).to_ascii_uppercase();
    let hash = match algorithm.as_str() {
        "MD5" => digest::<Md5>,
        "SHA" | "SHA1" => digest::<Sha1>,
        "SHA2_256" => digest::<Sha256>,
        "SHA2_512" => digest::<Sha512>,
        _ => {
            refuse(&algorithm)?;
            return Ok(Value::Null);
        }
    };
    let mut ask = || host.go_on();
    hash(&args[1], ty, Steps::new(&mut ask)).map(|digest| Value::Bytes(digest.into()))
}

/// The hash of a value, which is never there as bytes in whole: it may be as long as memory allows.
fn digest<D: Digest>(value: &Value, ty: &DataType, mut steps: Steps<'_>) -> SqlResult<Vec<u8>> {
    let mut hasher = D::new();
    match value {
        Value::Bytes(bytes) => {
            for part in bytes.chunks(STEPS_PER_TURN) {
                steps.take_many(part.len())?;
                hasher.update(part);
            }
        }
        Value::Str(s) => {
            let mut rest = &s[..];
            while !rest.is_empty() {
                let (part, behind) = rest.split_at(whole_characters(rest));
                steps.take_many(part.len())?;
                hasher.update(if ty.is_unicode() {
                    text::nvarchar_bytes(part)
                } else {
                    text::varchar_bytes(part, ty.collation().unwrap_or(DEFAULT))
                });
                rest = behind;
            }
        }
        Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => {
            return Err(SqlError::internal(
                "a hash of what is neither text nor bytes",
            ));
        }
    }
    Ok(hasher.finalize().to_vec())
}

/// How many units a part of a text has that does not end between the halves of a character.
fn whole_characters(text: &[u16]) -> usize {
    let end = text.len().min(STEPS_PER_TURN);
    let halved = end < text.len() && (0xD800..0xDC00).contains(&text[end - 1]);
    if halved { end + 1 } else { end }
}

fn bind_newid(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 0, 0)?;
    never_null(DataType::UniqueIdentifier, Vec::new())
}

fn newid(host: &mut dyn Host, _: &Signature, _: &[Value]) -> SqlResult<Value> {
    Ok(Value::Guid(host.newid()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, call_typed, n, t};
    use super::*;

    fn hex(value: &Value) -> String {
        if let Value::Bytes(b) = value {
            b.iter().map(|b| format!("{b:02x}")).collect()
        } else {
            panic!("{value:?}")
        }
    }

    /// A character of two units on the border between two parts is hashed whole.
    #[test]
    fn a_long_text_is_hashed_in_parts() {
        let utf8 = DataType::VarChar(Length::Max, crate::value::Collation::CiAsUtf8);
        let shown = "x".repeat(STEPS_PER_TURN - 1) + "😀" + &"y".repeat(3 * STEPS_PER_TURN);
        let algorithm = (t("SHA2_256"), DataType::varchar(10, DEFAULT));
        let args = [algorithm, (t(&shown), utf8)];
        let (hashed, _) = call_typed("HASHBYTES", &args).unwrap();
        assert_eq!(hashed, Value::Bytes(Sha256::digest(&shown).to_vec().into()));
    }

    #[test]
    fn varchar_and_nvarchar_hash_differently() {
        let varchar = DataType::varchar(10, DEFAULT);
        let args = [(t("md5"), varchar.clone()), (t("abc"), varchar)];
        let (narrow, _) = call_typed("HASHBYTES", &args).unwrap();
        assert_eq!(hex(&narrow), "900150983cd24fb0d6963f7d28e17f72");
        let wide = call("HASHBYTES", &[t("MD5"), t("abc")]).unwrap();
        assert_eq!(hex(&wide), "ce1473cf80c6b3fda8e3dfc006adc315");
        let empty = call("HASHBYTES", &[t("SHA2_256"), Value::Bytes([].into())]).unwrap();
        assert!(hex(&empty).starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
        assert_eq!(
            call("HASHBYTES", &[t("nope"), t("abc")]).unwrap(),
            Value::Null
        );
        for old in ["MD2", "md4"] {
            let refused = call("HASHBYTES", &[t(old), t("abc")]).unwrap_err();
            assert_eq!(refused.number, 40517, "{old}");
        }
        assert_eq!(
            call("HASHBYTES", &[t("MD5"), n(1)]).unwrap_err().number,
            8116
        );
    }
}
