//! What can go wrong, and whether trying again can help.

use std::time::Duration;

use duroxide::providers::ProviderError;

use crate::migrate::MigrateError;
use crate::options::OptionsError;

/// Server error numbers that pass by themselves: the whole of the table in `docs/errors.md`.
///
/// Lock conflicts and version conflicts come first, then memory and worker pressure, then a
/// database that moves or starts, then the network numbers that the server reports itself.
const PASSING: &[u32] = &[
    1203, 1204, 1205, 1221, 1222, 3935, 3960, 3966, 41301, 41302, 41305, 41325,
    41839, // conflicts
    601, 617, 669, 8628, 8645, 8651, 9515, 10922, 14355, 17197, 20041, // pressure, moved data
    921, 997, 1807, 4060, 4221, 10928, 10929, 10936, 18401, 40143, 40197, 40501, 40540, 40613,
    42108, 42109, 49918, 49919, 49920, // not available now
    20, 64, 121, 233, 10053, 10054, 10060, // network
];

/// Severities from here on mean that the server, not the request, is in trouble.
const SEVERITY_RESOURCES: u8 = 17;
/// Severities from here on end the connection.
pub(crate) const SEVERITY_FATAL: u8 = 20;
/// The numbers that our procedures raise, as `docs/errors.md` lists them. All are permanent.
const OURS: std::ops::RangeInclusive<u32> = 51_000..=51_099;
/// Ours: a procedure was called inside a transaction.
pub(crate) const CALLED_IN_TRANSACTION: u32 = 51_000;
/// The login was refused.
pub(crate) const LOGIN_FAILED: u32 = 18456;
/// The database does not exist, is not accessible, or is moving.
pub(crate) const DATABASE_UNAVAILABLE: u32 = 4060;

/// Whether a failure may pass by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The same call may succeed later without anyone changing anything.
    Retryable,
    /// The same call will fail again.
    Permanent,
}

/// Decides from a server error's number, and from its severity where the number is unknown,
/// whether trying again can help.
#[must_use]
pub fn classify(number: u32, severity: u8) -> ErrorClass {
    if PASSING.contains(&number) || (!OURS.contains(&number) && severity >= SEVERITY_RESOURCES) {
        ErrorClass::Retryable
    } else {
        ErrorClass::Permanent
    }
}

/// A provider could not be created, or its schema not be installed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings are wrong; nothing was sent to a server.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// No usable connection to the server.
    #[error("{0}")]
    Connect(String),
    /// The schema could not be installed, verified or removed.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
}

/// A single call failed. Turned into [`ProviderError`] at the edge of the crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The server answered with an error.
    Server {
        number: u32,
        severity: u8,
        message: String,
    },
    /// The connection broke, or none could be made.
    Connection {
        reason: String,
        /// The request may have reached the server, so its outcome is unknown.
        sent: bool,
    },
    /// The server did not answer in time; the outcome is unknown.
    Timeout { after: Duration },
    /// No connection became free in time.
    PoolTimeout {
        after: Duration,
        last_error: Option<String>,
    },
    /// The answer, or what was to be sent, is not what this release understands.
    Data(String),
}

impl CallError {
    /// A server error made of its parts.
    pub(crate) fn server(number: u32, severity: u8, message: impl Into<String>) -> Self {
        Self::Server {
            number,
            severity,
            message: message.into(),
        }
    }

    /// Translates a driver error. `sent` says whether the request may have reached the server.
    pub(crate) fn from_driver(error: tiberius::error::Error, sent: bool) -> Self {
        use tiberius::error::Error as Driver;
        match error {
            Driver::Server(token) => {
                Self::server(token.code(), token.class(), token.message().to_owned())
            }
            Driver::Io { message, .. } => Self::Connection {
                reason: message,
                sent,
            },
            Driver::Tls(message) => Self::Connection {
                reason: message,
                sent,
            },
            Driver::Routing { host, port } => Self::Connection {
                reason: format!("server redirects to {host}:{port}"),
                sent,
            },
            Driver::Utf8 | Driver::Utf16 | Driver::Conversion(_) | Driver::ParseInt(_) => {
                Self::Data(error.to_string())
            }
            other => Self::Connection {
                reason: other.to_string(),
                sent,
            },
        }
    }

    /// The server's number, when the server answered.
    pub(crate) fn number(&self) -> Option<u32> {
        match self {
            Self::Server { number, .. } => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::Server {
                number, severity, ..
            } => classify(*number, *severity) == ErrorClass::Retryable,
            Self::Connection { .. } | Self::Timeout { .. } | Self::PoolTimeout { .. } => true,
            Self::Data(_) => false,
        }
    }

    /// True when it is certain that the call changed nothing.
    ///
    /// Every procedure runs with XACT_ABORT in one transaction, so an ordinary error has rolled
    /// it back. The service errors of Azure (40000 and up) and fatal ones may also strike after
    /// the commit.
    pub(crate) fn is_undone(&self) -> bool {
        match self {
            Self::Server {
                number, severity, ..
            } => *severity < SEVERITY_FATAL && !(40_000..50_000).contains(number),
            Self::Connection { sent, .. } => !sent,
            Self::Timeout { .. } => false,
            Self::PoolTimeout { .. } | Self::Data(_) => true,
        }
    }

    /// The form that duroxide understands.
    pub(crate) fn into_provider_error(self, operation: &str) -> ProviderError {
        let retryable = self.is_retryable();
        ProviderError {
            operation: operation.to_owned(),
            message: self.to_string(),
            retryable,
        }
    }
}

impl std::fmt::Display for CallError {
    /// The runtime's metrics look for the words "deadlock", "timeout" and "connection".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Server {
                number, message, ..
            } => {
                let message = message.trim_end_matches('.');
                match number {
                    1205 => write!(f, "deadlock victim: ")?,
                    1222 => write!(f, "lock timeout: ")?,
                    _ => {}
                }
                write!(f, "{message} (server error {number})")
            }
            Self::Connection { reason, sent: true } => {
                write!(
                    f,
                    "connection lost during the call, outcome unknown: {reason}"
                )
            }
            Self::Connection {
                reason,
                sent: false,
            } => write!(f, "connection failed: {reason}"),
            Self::Timeout { after } => {
                write!(
                    f,
                    "timeout: no answer from the server within {after:?}, outcome unknown"
                )
            }
            Self::PoolTimeout { after, last_error } => {
                write!(
                    f,
                    "connection pool timeout: no connection became free within {after:?}"
                )?;
                match last_error {
                    Some(reason) => write!(f, "; the last attempt to connect failed: {reason}"),
                    None => write!(f, "; raise pool_max or lower the number of dispatchers"),
                }
            }
            Self::Data(reason) => f.write_str(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passing_numbers_are_retryable_at_any_severity() {
        for number in PASSING {
            for severity in [10, 13, 16, 20] {
                assert_eq!(
                    classify(*number, severity),
                    ErrorClass::Retryable,
                    "{number}"
                );
            }
        }
    }

    #[test]
    fn mistakes_of_the_request_are_permanent() {
        for number in [
            102, 207, 208, 229, 515, 547, 2601, 2627, 2628, 2812, 8115, 8152, 18456,
        ] {
            assert_eq!(classify(number, 16), ErrorClass::Permanent, "{number}");
        }
    }

    #[test]
    fn our_own_numbers_are_permanent() {
        for number in OURS {
            assert_eq!(classify(number, 16), ErrorClass::Permanent, "{number}");
        }
    }

    /// The numbers that follow THROW in the procedures.
    fn thrown() -> std::collections::BTreeSet<u32> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/procedures");
        let files = std::fs::read_dir(folder).unwrap();
        let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        let numbers = |text: String| -> Vec<u32> {
            let throws = text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("THROW "));
            throws
                .map(|rest| rest.split(',').next().unwrap().parse().unwrap())
                .collect()
        };
        texts.flat_map(numbers).collect()
    }

    #[test]
    fn numbers_that_procedures_throw_are_the_documented_ones() {
        let document = include_str!("../docs/errors.md");
        let rows = document
            .lines()
            .filter_map(|line| line.strip_prefix("| 51"));
        let documented: std::collections::BTreeSet<u32> = rows
            .map(|row| format!("51{}", &row[..3]).parse().unwrap())
            .collect();
        assert_eq!(documented, thrown());
        assert!(documented.iter().all(|number| OURS.contains(number)));
    }

    #[test]
    fn unknown_numbers_are_decided_by_severity() {
        assert_eq!(classify(777_777, 16), ErrorClass::Permanent);
        for severity in 17..=25 {
            assert_eq!(
                classify(777_777, severity),
                ErrorClass::Retryable,
                "{severity}"
            );
        }
    }

    #[test]
    fn passing_numbers_are_listed_once() {
        let mut numbers = PASSING.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), PASSING.len());
    }

    #[test]
    fn messages_carry_the_words_that_metrics_look_for() {
        let deadlock = CallError::server(1205, 13, "Rerun the transaction.").to_string();
        assert_eq!(
            deadlock,
            "deadlock victim: Rerun the transaction (server error 1205)"
        );
        assert!(
            CallError::server(1222, 16, "Lock request")
                .to_string()
                .contains("timeout")
        );
        let timeout = CallError::Timeout {
            after: Duration::from_secs(3),
        };
        assert!(timeout.to_string().contains("timeout"));
        let cut = CallError::Connection {
            reason: "reset".into(),
            sent: true,
        };
        assert!(cut.to_string().contains("connection"));
    }

    #[test]
    fn only_certain_failures_count_as_undone() {
        assert!(CallError::server(1205, 13, "").is_undone());
        assert!(!CallError::server(40197, 17, "").is_undone());
        assert!(!CallError::server(596, 21, "").is_undone());
        assert!(
            !CallError::Timeout {
                after: Duration::ZERO
            }
            .is_undone()
        );
        assert!(
            CallError::Connection {
                reason: String::new(),
                sent: false
            }
            .is_undone()
        );
        assert!(
            !CallError::Connection {
                reason: String::new(),
                sent: true
            }
            .is_undone()
        );
    }
}
