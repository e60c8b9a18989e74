//! What can go wrong, and whether trying again can help.

use std::time::Duration;

use duroxide::providers::ProviderError;

pub(crate) use crate::server_errors::{
    CALLED_IN_TRANSACTION, DATABASE_UNAVAILABLE, DEFAULT_DATABASE_UNAVAILABLE, LOGIN_FAILED,
};
use crate::server_errors::{ErrorClass, SEVERITY_FATAL, classify, classify_settling, says_moved};

/// A single call failed. Turned into [`ProviderError`] at the edge of the crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The server answered with an error.
    Server {
        number: u32,
        severity: u8,
        class: ErrorClass,
        message: String,
        /// It answered a request, and not the login before it.
        sent: bool,
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
    /// A server error made of its parts, in answer to a request.
    #[cfg(test)]
    pub(crate) fn server(number: u32, severity: u8, message: impl Into<String>) -> Self {
        Self::Server {
            number,
            severity,
            class: classify(number, severity),
            message: message.into(),
            sent: true,
        }
    }

    /// Translates a driver error. `sent` says whether the request may have reached the server.
    pub(crate) fn from_driver(error: tiberius::error::Error, sent: bool) -> Self {
        use tiberius::error::Error as Driver;
        match error {
            Driver::Server(token) => Self::Server {
                number: token.code(),
                severity: token.class(),
                class: classify(token.code(), token.class()),
                message: token.message().to_owned(),
                sent,
            },
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

    /// The same failure as one of a call that settles or extends a lease. Its answer has nothing that must be
    /// understood: one that cannot be read is as good as none.
    pub(crate) fn of_settling(mut self) -> Self {
        match &mut self {
            Self::Server { number, class, .. } => *class = classify_settling(*number),
            Self::Data(reason) => {
                return Self::Connection {
                    reason: std::mem::take(reason),
                    sent: true,
                };
            }
            Self::Connection { .. } | Self::Timeout { .. } | Self::PoolTimeout { .. } => {}
        }
        self
    }

    /// The number of a failure that would be permanent if no lease were at stake.
    pub(crate) fn doubtful_number(&self) -> Option<u32> {
        match self {
            Self::Server {
                number,
                severity,
                class: ErrorClass::Retryable,
                ..
            } if classify(*number, *severity) == ErrorClass::Permanent => Some(*number),
            _ => None,
        }
    }

    /// True when the server said that it no longer serves the database.
    pub(crate) fn says_moved(&self) -> bool {
        self.number().is_some_and(says_moved)
    }

    /// True when the answer has been read to its end and the connection goes on. A fatal error
    /// ends it, and one on which a transaction was left open must not be used again.
    pub(crate) fn leaves_connection_usable(&self) -> bool {
        match self {
            Self::Server {
                number, severity, ..
            } => {
                *severity < SEVERITY_FATAL
                    && *number != CALLED_IN_TRANSACTION
                    && !says_moved(*number)
            }
            _ => false,
        }
    }

    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::Server { class, .. } => *class == ErrorClass::Retryable,
            Self::Connection { .. } | Self::Timeout { .. } | Self::PoolTimeout { .. } => true,
            Self::Data(_) => false,
        }
    }

    /// True when it is certain that the call changed nothing.
    ///
    /// Every procedure runs with XACT_ABORT in one transaction, so an ordinary error has rolled
    /// it back. The service errors of Azure (40000 and up) and fatal ones may also strike after
    /// the commit; but a login that meets them, as every one does during a failover, was followed by no
    /// request.
    pub(crate) fn is_undone(&self) -> bool {
        match self {
            Self::Server { sent: false, .. } => true,
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
    fn doubt_counts_for_the_lease() {
        for number in [208, 229, 2627, 2812, 8152, 777_777] {
            let error = CallError::server(number, 16, "");
            assert!(!error.is_retryable() && error.doubtful_number().is_none());
            let error = error.of_settling();
            assert!(error.is_retryable(), "{number}");
            assert_eq!(error.doubtful_number(), Some(number));
        }
        let known = CallError::server(1205, 13, "").of_settling();
        assert_eq!(known.doubtful_number(), None);
        let ours = CallError::server(51_003, 16, "").of_settling();
        assert!(!ours.is_retryable());
    }

    #[test]
    fn connection_to_a_server_that_lost_the_database_is_not_used_again() {
        assert!(CallError::server(1205, 13, "").leaves_connection_usable());
        for (number, severity) in [(3906, 16), (976, 14), (983, 14), (51_000, 16), (596, 21)] {
            let error = CallError::server(number, severity, "");
            assert!(!error.leaves_connection_usable(), "{number}");
        }
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

    /// During a failover every login gets one of Azure's service errors. No request was sent, so any call
    /// may be repeated.
    #[test]
    fn refused_logins_leave_nothing_in_doubt() {
        for (number, severity) in [(40_613, 17), (40_197, 17), (40_501, 20), (49_918, 16)] {
            let mut error = CallError::server(number, severity, "moving");
            assert!(error.is_retryable() && !error.is_undone(), "{number}");
            if let CallError::Server { sent, .. } = &mut error {
                *sent = false;
            }
            assert!(error.is_retryable() && error.is_undone(), "{number}");
        }
    }
}
