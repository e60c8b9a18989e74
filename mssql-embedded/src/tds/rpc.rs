//! Remote procedure calls, one or several in a message.

use super::read::Reader;
use super::request::skip_headers;
use super::type_in::read_typed_value;
use super::version::Version;
use crate::ast::PARAMETERS_MAX;
use crate::error::{SqlError, SqlResult};
use crate::session::{RpcParam, RpcProcedure, RpcRequest, too_many_parameters};

/// Ends a call when another follows (TDS 7.2 and later).
const BATCH_FLAG: u8 = 0xFF;
/// Ends a call when another follows that shall not run.
const NO_EXEC_FLAG: u8 = 0xFE;
/// Ends a call when another follows (before TDS 7.2).
const OLD_BATCH_FLAG: u8 = 0x80;

/// A parameter is an output parameter.
const BY_REFERENCE: u8 = 0x01;
/// A parameter takes the procedure's default.
const DEFAULT_VALUE: u8 = 0x02;
/// A parameter is encrypted by the client.
const ENCRYPTED: u8 = 0x08;

/// The calls of one message, read one by one.
pub(crate) struct RpcCalls<'a> {
    r: Reader<'a>,
    version: Version,
}

impl<'a> RpcCalls<'a> {
    pub(crate) fn new(message: &'a [u8], version: Version) -> SqlResult<Self> {
        let mut r = Reader::new(message);
        skip_headers(&mut r, version)?;
        Ok(Self { r, version })
    }

    /// The next call to run, or `None` after the last.
    pub(crate) fn next(&mut self) -> SqlResult<Option<RpcRequest>> {
        loop {
            if self.r.is_empty() {
                return Ok(None);
            }
            let call = self.call()?;
            match self.r.peek() {
                Some(NO_EXEC_FLAG) if self.version >= Version::V72 => {
                    self.r.u8()?;
                    // The flag speaks of the call before it: read, and not to be run.
                }
                Some(_) => {
                    self.r.u8()?;
                    return Ok(Some(call));
                }
                None => return Ok(Some(call)),
            }
        }
    }

    fn at_separator(&self) -> bool {
        match self.r.peek() {
            None => true,
            Some(byte) if self.version >= Version::V72 => {
                matches!(byte, BATCH_FLAG | NO_EXEC_FLAG)
            }
            Some(byte) => byte == OLD_BATCH_FLAG,
        }
    }

    fn call(&mut self) -> SqlResult<RpcRequest> {
        let procedure = match self.r.u16()? {
            0xFFFF => RpcProcedure::Id(self.r.u16()?),
            length => RpcProcedure::Name(self.r.text(usize::from(length))?),
        };
        let _recompile_and_metadata_flags = self.r.u16()?;
        let mut params = Vec::new();
        while !self.at_separator() {
            if params.len() == PARAMETERS_MAX {
                return Err(too_many_parameters());
            }
            params.push(self.param()?);
        }
        Ok(RpcRequest { procedure, params })
    }

    fn param(&mut self) -> SqlResult<RpcParam> {
        let name = self.r.b_varchar()?;
        let flags = self.r.u8()?;
        if flags & ENCRYPTED != 0 {
            return Err(SqlError::unsupported("a parameter encrypted by the client"));
        }
        let (ty, value) = read_typed_value(&mut self.r)?;
        Ok(RpcParam {
            // The wire has an empty name for a positional one.
            name: (!name.is_empty()).then_some(name),
            output: flags & BY_REFERENCE != 0,
            default: flags & DEFAULT_VALUE != 0,
            ty,
            value,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tds::type_out::{put_type, put_value};
    use crate::tds::write::Put;
    use crate::value::{DataType, Length, Value};

    /// A call by name as clients build it, without headers.
    pub(crate) fn call(name: &str, params: &[(&str, u8, DataType, Value)]) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_us_varchar(name, u16::MAX);
        out.put_u16(0);
        for (name, flags, ty, value) in params {
            out.put_b_varchar(name);
            out.put_u8(*flags);
            put_type(ty, Version::V74, false, &mut out);
            put_value(value, ty, Version::V74, &mut out).unwrap();
        }
        out
    }

    /// ALL_HEADERS without any header.
    pub(crate) const NO_HEADERS: [u8; 4] = [4, 0, 0, 0];

    fn calls(body: &[u8]) -> SqlResult<Vec<RpcRequest>> {
        let message = [&NO_HEADERS[..], body].concat();
        let mut calls = RpcCalls::new(&message, Version::V74)?;
        let mut all = Vec::new();
        while let Some(call) = calls.next()? {
            all.push(call);
        }
        Ok(all)
    }

    /// Names, flags, types and values arrive; calls in one message are told apart.
    #[test]
    fn several_calls_in_a_message_are_read() {
        let first = call(
            "dbo.p",
            &[("@a", BY_REFERENCE, DataType::Int, Value::Int(7))],
        );
        let second = [&[0xFF, 0xFF, 10, 0, 0, 0][..], &[0, 0, 0x1F]].concat();
        let read = calls(&[&first[..], &[BATCH_FLAG], &second].concat()).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].procedure, RpcProcedure::Name("dbo.p".into()));
        assert_eq!(
            read[0].params,
            [RpcParam {
                name: Some("@a".into()),
                output: true,
                default: false,
                ty: DataType::Int,
                value: Value::Int(7)
            }]
        );
        assert_eq!(read[1].procedure, RpcProcedure::Id(10));
        assert_eq!(read[1].params[0].value, Value::Null);
    }

    /// A value in many small chunks, cut in the middle of a character, is put together again.
    #[test]
    fn chunked_values_are_joined() {
        let text: Vec<u8> = "a😀b".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut body = call("p", &[]);
        body.extend_from_slice(&[0, 0, 0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34]);
        body.put_u64(u64::MAX - 1);
        for chunk in text.chunks(3) {
            body.put_u32(chunk.len() as u32);
            body.extend_from_slice(chunk);
        }
        body.put_u32(0);
        let read = calls(&body).unwrap();
        assert_eq!(read[0].params[0].value, Value::text("a😀b"));
        assert!(matches!(
            read[0].params[0].ty,
            DataType::NVarChar(Length::Max, _)
        ));
    }

    /// A parameter is a few bytes on the wire and many in memory, so they are counted as they are read.
    #[test]
    fn parameters_beyond_the_limit_are_not_read() {
        let body = |count: usize| {
            let mut body = call("p", &[]);
            body.extend(std::iter::repeat_n([0, 0, 0x1F], count).flatten());
            body
        };
        assert_eq!(calls(&body(2100)).unwrap()[0].params.len(), 2100);
        assert_eq!(calls(&body(2101)).unwrap_err().number, 8003);
        // No parameter can follow, and none is looked at.
        let mut broken = body(2100);
        broken.extend([0, 0, 0x01]);
        assert_eq!(calls(&broken).unwrap_err().number, 8003);
    }

    /// What the engine does not take is refused by its name.
    #[test]
    fn table_valued_and_unknown_types_are_refused() {
        let mut body = call("p", &[]);
        body.extend_from_slice(&[0, 0, 0xF3]);
        assert!(calls(&body).unwrap_err().message.contains("table-valued"));
        *body.last_mut().unwrap() = 0x01;
        assert_eq!(calls(&body).unwrap_err().number, 8009);
    }
}
