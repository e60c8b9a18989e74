//! The tokens of a response, each appended to a buffer.

use super::collation::to_wire;
use super::login7::{FEATURE_FEDERATED, FEATURE_UTF8};
use super::prelogin::SERVER_VERSION;
use super::type_out::put_type;
use super::version::Version;
use super::write::Put;
use crate::dictionary::SERVER_NAME;
use crate::error::SqlError;
use crate::session::{Done, DoneKind, EnvChange};
use crate::value::{Collation, ColumnMeta};

const RETURN_STATUS: u8 = 0x79;
const COL_METADATA: u8 = 0x81;
const ERROR: u8 = 0xAA;
const INFO: u8 = 0xAB;
/// RETURNVALUE, whose value the response appends.
pub(crate) const RETURN_VALUE: u8 = 0xAC;
const LOGIN_ACK: u8 = 0xAD;
const FEATURE_EXT_ACK: u8 = 0xAE;
/// ROW, whose values the response appends.
pub(crate) const ROW: u8 = 0xD1;
const ENV_CHANGE: u8 = 0xE3;
const DONE: u8 = 0xFD;
const DONE_PROC: u8 = 0xFE;
const DONE_IN_PROC: u8 = 0xFF;

const DONE_MORE: u16 = 0x0001;
const DONE_ERROR: u16 = 0x0002;
const DONE_COUNT: u16 = 0x0010;
const DONE_ATTENTION: u16 = 0x0020;

/// The product name in LOGINACK. Client libraries choose their dialect by it.
const PRODUCT: &str = "Microsoft SQL Server";
/// A message is cut here; RAISERROR and THROW never exceed 2,047 characters anyway.
const MESSAGE_UNITS: u16 = 8000;

/// The length of a DONE token since TDS 7.2.
pub(crate) const DONE_BYTES: u64 = 13;

/// A DONE, DONEPROC or DONEINPROC.
pub(crate) fn put_done(done: &Done, more: bool, version: Version, out: &mut Vec<u8>) {
    let token = match done.kind {
        DoneKind::Statement => DONE,
        DoneKind::InProcedure => DONE_IN_PROC,
        DoneKind::Procedure => DONE_PROC,
    };
    let mut status = 0;
    if more {
        status |= DONE_MORE;
    }
    if done.error {
        status |= DONE_ERROR;
    }
    if done.rows.is_some() {
        status |= DONE_COUNT;
    }
    put_done_bits(
        token,
        status,
        done.command,
        done.rows.unwrap_or(0),
        version,
        out,
    );
}

/// The DONE that acknowledges an attention.
pub(crate) fn put_attention(version: Version, out: &mut Vec<u8>) {
    put_done_bits(DONE, DONE_ATTENTION, 0, 0, version, out);
}

fn put_done_bits(t: u8, status: u16, command: u16, rows: u64, version: Version, out: &mut Vec<u8>) {
    out.put_u8(t);
    out.put_u16(status);
    out.put_u16(command);
    if version >= Version::V72 {
        out.put_u64(rows);
    } else {
        out.put_u32(u32::try_from(rows).unwrap_or(u32::MAX));
    }
}

/// Fills in the length of a token whose length field is at `at`.
fn close_length(at: usize, out: &mut [u8]) {
    let length = (out.len() - at - 2) as u16;
    out[at..at + 2].copy_from_slice(&length.to_le_bytes());
}

/// An ERROR, or an INFO for severities up to 10.
pub(crate) fn put_message(error: &SqlError, version: Version, out: &mut Vec<u8>) {
    out.put_u8(if error.severity > 10 { ERROR } else { INFO });
    let at = out.len();
    out.put_u16(0);
    out.put_u32(error.number as u32);
    out.put_u8(error.state);
    // "For compatibility reasons, the Database Engine converts severity 10 to severity 0 before
    // returning the error information to the calling application."
    out.put_u8(if error.severity == 10 {
        0
    } else {
        error.severity
    });
    out.put_us_varchar(&error.message, MESSAGE_UNITS);
    out.put_b_varchar(SERVER_NAME);
    out.put_b_varchar(&error.procedure);
    if version >= Version::V72 {
        out.put_u32(error.line);
    } else {
        out.put_u16(u16::try_from(error.line).unwrap_or(u16::MAX));
    }
    close_length(at, out);
}

pub(crate) fn put_return_status(status: i32, out: &mut Vec<u8>) {
    out.put_u8(RETURN_STATUS);
    out.put_u32(status as u32);
}

/// The UserType before a TYPE_INFO, which is 0 for every built-in type.
pub(crate) fn put_user_type(version: Version, out: &mut Vec<u8>) {
    if version >= Version::V72 {
        out.put_u32(0);
    } else {
        out.put_u16(0);
    }
}

pub(crate) fn put_columns(columns: &[ColumnMeta], version: Version, out: &mut Vec<u8>) {
    const NULLABLE: u16 = 0x0001;
    const UPDATEABLE_UNKNOWN: u16 = 0x0008;
    const IDENTITY: u16 = 0x0010;
    const NO_METADATA: u16 = 0xFFFF;
    out.put_u8(COL_METADATA);
    // No more than a select list may have.
    debug_assert!(columns.len() < usize::from(NO_METADATA));
    out.put_u16(columns.len() as u16);
    for column in columns {
        put_user_type(version, out);
        let mut flags = if column.identity {
            IDENTITY
        } else {
            UPDATEABLE_UNKNOWN
        };
        if column.nullable {
            flags |= NULLABLE;
        }
        out.put_u16(flags);
        put_type(&column.ty, version, true, out);
        out.put_b_varchar(&column.name);
    }
}

fn put_env(kind: u8, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    out.put_u8(ENV_CHANGE);
    let at = out.len();
    out.put_u16(0);
    out.put_u8(kind);
    body(out);
    close_length(at, out);
}

/// An ENVCHANGE the session reports.
pub(crate) fn put_env_change(change: &EnvChange, out: &mut Vec<u8>) {
    let texts = |kind, new: &str, old: &str, out: &mut Vec<u8>| {
        put_env(kind, out, |out| {
            out.put_b_varchar(new);
            out.put_b_varchar(old);
        });
    };
    match change {
        EnvChange::Database(new, old) => texts(1, new, old, out),
        EnvChange::Language(new, old) => texts(2, new, old, out),
        EnvChange::BeginTransaction(descriptor) => put_env(8, out, |out| {
            out.put_u8(8);
            out.put_u64(*descriptor);
            out.put_u8(0);
        }),
        EnvChange::CommitTransaction(descriptor) => put_ended(9, *descriptor, out),
        EnvChange::RollbackTransaction(descriptor) => put_ended(10, *descriptor, out),
        EnvChange::ResetConnection => texts(18, "", "", out),
    }
}

fn put_ended(kind: u8, descriptor: u64, out: &mut Vec<u8>) {
    put_env(kind, out, |out| {
        out.put_u8(0);
        out.put_u8(8);
        out.put_u64(descriptor);
    });
}

/// ENVCHANGE of the packet size.
pub(crate) fn put_packet_size(new: usize, old: usize, out: &mut Vec<u8>) {
    put_env(4, out, |out| {
        out.put_b_varchar(&new.to_string());
        out.put_b_varchar(&old.to_string());
    });
}

/// ENVCHANGE of the default collation.
pub(crate) fn put_collation(collation: Collation, out: &mut Vec<u8>) {
    put_env(7, out, |out| {
        out.put_u8(5);
        out.extend_from_slice(&to_wire(collation));
        out.put_u8(0);
    });
}

pub(crate) fn put_login_ack(version: Version, out: &mut Vec<u8>) {
    const TRANSACT_SQL: u8 = 1;
    let (major, minor, build) = SERVER_VERSION;
    out.put_u8(LOGIN_ACK);
    let at = out.len();
    out.put_u16(0);
    out.put_u8(TRANSACT_SQL);
    out.extend_from_slice(&version.acknowledged().to_be_bytes());
    out.put_b_varchar(PRODUCT);
    out.extend_from_slice(&[major, minor]);
    out.extend_from_slice(&build.to_be_bytes());
    close_length(at, out);
}

/// FEATUREEXTACK for what the client asked for: UTF-8 collations, a login by token.
pub(crate) fn put_feature_acks(utf8: bool, federated: bool, out: &mut Vec<u8>) {
    if !utf8 && !federated {
        return;
    }
    out.put_u8(FEATURE_EXT_ACK);
    if utf8 {
        out.put_u8(FEATURE_UTF8);
        out.put_u32(1);
        out.put_u8(1);
    }
    // Nothing to sign: no nonce was given.
    if federated {
        out.put_u8(FEATURE_FEDERATED);
        out.put_u32(0);
    }
    out.put_u8(0xFF);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(rows: Option<u64>, error: bool) -> Done {
        Done {
            kind: DoneKind::Statement,
            rows,
            error,
            command: 0xC1,
        }
    }

    /// The flags and the width of the row count follow the protocol version.
    #[test]
    fn done_says_what_it_counts() {
        let mut out = Vec::new();
        put_done(&done(Some(3), false), true, Version::V74, &mut out);
        assert_eq!(out, [0xFD, 0x11, 0, 0xC1, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        out.clear();
        put_done(&done(None, true), false, Version::V71, &mut out);
        assert_eq!(out, [0xFD, 0x02, 0, 0xC1, 0, 0, 0, 0, 0]);
    }

    /// A message's length covers exactly the rest of the token, however long the text.
    #[test]
    fn message_length_is_right_for_long_texts() {
        for text in ["short".to_string(), "😀".repeat(50_000)] {
            let mut out = Vec::new();
            put_message(&SqlError::new(50_000, text).at(7), Version::V74, &mut out);
            assert_eq!(out[0], ERROR);
            let length = usize::from(u16::from_le_bytes([out[1], out[2]]));
            assert_eq!(length, out.len() - 3);
            assert_eq!(out[out.len() - 4..], [7, 0, 0, 0]);
        }
    }

    /// Severity decides between ERROR and INFO.
    #[test]
    fn severity_ten_is_information() {
        let mut out = Vec::new();
        put_message(&SqlError::with(0, 10, 1, "hi"), Version::V74, &mut out);
        assert_eq!(out[0], INFO);
        assert_eq!(out[8], 0, "the class");
    }
}
