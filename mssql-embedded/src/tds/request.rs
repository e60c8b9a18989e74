//! SQL batches and transaction-manager requests, and the headers before every request.

use super::read::{Reader, ended_early, utf16_text};
use super::version::Version;
use crate::ast::IsolationLevel;
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refused};
use crate::session::{BeginRequest, TransactionRequest};

/// The header of ALL_HEADERS that asks to be told when a query's result changes.
const QUERY_NOTIFICATION: u16 = 1;

/// Skips ALL_HEADERS. They name the client's transaction and trace identifiers, and with one
/// request at a time on a connection the session already knows its transaction.
pub(crate) fn skip_headers(r: &mut Reader<'_>, version: Version) -> SqlResult<()> {
    if version < Version::V72 {
        return Ok(());
    }
    let total = r.u32()? as usize;
    let mut headers = Reader::new(r.bytes(total.checked_sub(4).ok_or_else(ended_early)?)?);
    while !headers.is_empty() {
        let length = headers.u32()? as usize;
        let mut header =
            Reader::new(headers.bytes(length.checked_sub(4).ok_or_else(ended_early)?)?);
        if header.u16()? == QUERY_NOTIFICATION {
            return Err(refused(Kind::Client, "a query notification"));
        }
    }
    Ok(())
}

pub(crate) fn batch_text(message: &[u8], version: Version) -> SqlResult<String> {
    let mut r = Reader::new(message);
    skip_headers(&mut r, version)?;
    Ok(utf16_text(r.rest()))
}

pub(crate) fn transaction(message: &[u8], version: Version) -> SqlResult<TransactionRequest> {
    let mut r = Reader::new(message);
    skip_headers(&mut r, version)?;
    match r.u16()? {
        5 => Ok(TransactionRequest::Begin(begin(&mut r)?)),
        7 => {
            let (name, begin) = end(&mut r)?;
            Ok(TransactionRequest::Commit { name, begin })
        }
        8 => {
            let (name, begin) = end(&mut r)?;
            Ok(TransactionRequest::Rollback { name, begin })
        }
        9 => Ok(TransactionRequest::Save {
            name: name(&mut r)?,
        }),
        0 | 1 | 6 => Err(refused(Kind::Client, "a distributed transaction")),
        other => Err(SqlError::unsupported(format!(
            "transaction-manager request {other}"
        ))),
    }
}

fn begin(r: &mut Reader<'_>) -> SqlResult<BeginRequest> {
    let isolation = match r.u8()? {
        0 => None,
        1 => Some(IsolationLevel::ReadUncommitted),
        2 => Some(IsolationLevel::ReadCommitted),
        3 => Some(IsolationLevel::RepeatableRead),
        4 => Some(IsolationLevel::Serializable),
        5 => Some(IsolationLevel::Snapshot),
        other => return Err(SqlError::unsupported(format!("isolation level {other}"))),
    };
    let name = name(r)?;
    Ok(BeginRequest { isolation, name })
}

type Ended = (String, Option<BeginRequest>);

fn end(r: &mut Reader<'_>) -> SqlResult<Ended> {
    let name = name(r)?;
    // Clients that end with the name mean "no flags".
    let begin_again = !r.is_empty() && r.u8()? & 1 != 0;
    let next = if begin_again { Some(begin(r)?) } else { None };
    Ok((name, next))
}

/// A transaction's name, whose length counts bytes, unlike that of other short texts.
fn name(r: &mut Reader<'_>) -> SqlResult<String> {
    let length = r.u8()?;
    Ok(utf16_text(r.bytes(usize::from(length))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ALL_HEADERS with one transaction descriptor, as every client sends it.
    const HEADERS: [u8; 22] = [
        22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
    ];

    /// The text begins after the headers, and TDS 7.1 has none.
    #[test]
    fn batch_text_follows_the_headers() {
        let text: Vec<u8> = "SELECT '😀'"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let message = [&HEADERS[..], &text].concat();
        assert_eq!(batch_text(&message, Version::V74).unwrap(), "SELECT '😀'");
        assert_eq!(batch_text(&text, Version::V71).unwrap(), "SELECT '😀'");
        assert!(batch_text(&HEADERS[..10], Version::V74).is_err());
        assert!(batch_text(&[3, 0, 0, 0], Version::V74).is_err());
        let mut notification = HEADERS;
        notification[8] = 1;
        let refused = batch_text(&notification, Version::V74).unwrap_err();
        assert!(refused.is_unsupported(), "{refused}");
        assert!(refused.message.contains("query notification"));
    }

    /// Each request kind is told apart, and distributed ones are refused by name.
    #[test]
    fn transaction_requests_are_read() {
        let read = |body: &[u8]| transaction(&[&HEADERS[..], body].concat(), Version::V74);
        assert_eq!(
            read(&[5, 0, 4, 2, b'x', 0]).unwrap(),
            TransactionRequest::Begin(BeginRequest {
                isolation: Some(IsolationLevel::Serializable),
                name: "x".into()
            })
        );
        assert_eq!(
            read(&[7, 0, 0, 1, 2, 0]).unwrap(),
            TransactionRequest::Commit {
                name: String::new(),
                begin: Some(BeginRequest {
                    isolation: Some(IsolationLevel::ReadCommitted),
                    name: String::new()
                })
            }
        );
        assert_eq!(
            read(&[8, 0, 0, 0]).unwrap(),
            TransactionRequest::Rollback {
                name: String::new(),
                begin: None
            }
        );
        assert_eq!(
            read(&[9, 0, 2, b's', 0]).unwrap(),
            TransactionRequest::Save { name: "s".into() }
        );
        let refused = read(&[6, 0]).unwrap_err();
        assert!(refused.is_unsupported(), "{refused}");
        assert!(refused.message.contains("distributed"));
    }
}
