//! Why no connection could be made, in words that say what to do.

use std::error::Error as StdError;
use std::fmt;
use std::io::{Error as IoError, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use crate::auth::TokenError;
use crate::error::{CallError, DATABASE_UNAVAILABLE, DEFAULT_DATABASE_UNAVAILABLE, LOGIN_FAILED};
use crate::options::{Encrypt, Options};

/// No usable connection to the server, in words that say what to do.
#[derive(Debug, Clone)]
pub struct ConnectionError {
    message: String,
    number: Option<u32>,
    is_retryable: bool,
    source: Option<Cause>,
}

/// What the driver, the system or the token source said.
type Cause = Arc<dyn StdError + Send + Sync>;

impl ConnectionError {
    /// A failure that may pass, for which nobody gave a reason.
    pub(crate) fn passing(message: String) -> Self {
        Self {
            message,
            number: None,
            is_retryable: true,
            source: None,
        }
    }

    /// The same, with more words at its end.
    pub(crate) fn with(mut self, words: fmt::Arguments<'_>) -> Self {
        self.message += &words.to_string();
        self
    }

    /// The server's error number, when a server answered: 18456 for a refused login, 4060 for a
    /// database that cannot be opened.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.number
    }

    /// Whether the same settings may work later. The start of a provider has already tried again for
    /// `startup_timeout` then. Otherwise somebody must change a setting.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// What the driver, the system or the token source said, for those who look for its type.
    ///
    /// The message repeats its words, so [`source`](StdError::source) begins with what lies below it: whoever
    /// prints the whole chain reads nothing twice.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.source.as_deref()
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for ConnectionError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref()?.source()
    }
}

/// An attempt to connect failed.
#[derive(Debug)]
pub(crate) enum ConnectError {
    /// Nobody answers there.
    Unreachable(IoError),
    /// The file with the authority to trust cannot be read.
    Authority(PathBuf, IoError),
    /// Somebody answers, and then something went wrong.
    Driver(tiberius::error::Error),
}

impl From<IoError> for ConnectError {
    fn from(error: IoError) -> Self {
        Self::Unreachable(error)
    }
}

impl From<tiberius::error::Error> for ConnectError {
    fn from(error: tiberius::error::Error) -> Self {
        Self::Driver(error)
    }
}

/// The same in words, and whether waiting helps.
#[derive(Debug, Clone)]
pub(crate) struct DialError {
    /// One line for people. What the server itself said keeps its number.
    pub(crate) error: CallError,
    /// It passes by itself; otherwise somebody must change a setting.
    pub(crate) is_passing: bool,
    /// The server hung up in the TLS handshake. One that is starting, or going away, does so for a while, and so does whatever stands in
    /// front of it; one that wants another kind of encryption does so each time.
    pub(crate) ended_handshake: bool,
    source: Option<Cause>,
}

impl DialError {
    pub(crate) fn passing(reason: String) -> Self {
        Self::new(reason, true)
    }

    fn mistake(reason: String) -> Self {
        Self::new(reason, false)
    }

    fn new(reason: String, is_passing: bool) -> Self {
        Self {
            error: CallError::Connection {
                reason,
                sent: false,
            },
            is_passing,
            ended_handshake: false,
            source: None,
        }
    }

    fn ended_handshake(reason: String) -> Self {
        Self {
            ended_handshake: true,
            ..Self::passing(reason)
        }
    }

    fn because(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The token source failed, and the server never heard of us.
    pub(crate) fn token(error: TokenError, options: &Options) -> Self {
        let reason = format!("{error}; {} was not asked", options.server());
        Self::new(reason, error.is_passing()).because(error)
    }

    /// Adds where the server had sent us.
    pub(crate) fn after(self, redirect: &str) -> Self {
        match self.error {
            CallError::Connection { reason, .. } => Self {
                ended_handshake: self.ended_handshake,
                source: self.source,
                ..Self::new(format!("{reason}; {redirect}"), self.is_passing)
            },
            _ => self,
        }
    }

    /// What a running provider makes of it. It had a connection before, so whatever is wrong
    /// now may be right again later, and no workflow may fail for it.
    pub(crate) fn while_running(self) -> CallError {
        if self.error.is_retryable() {
            return self.error;
        }
        CallError::Connection {
            reason: self.error.to_string(),
            sent: false,
        }
    }

    /// What the start reports.
    pub(crate) fn at_start(self, options: &Options) -> ConnectionError {
        ConnectionError {
            message: self.message_at_start(options),
            number: self.error.number(),
            is_retryable: self.is_passing,
            source: self.source,
        }
    }

    fn message_at_start(&self, options: &Options) -> String {
        let (server, error) = (options.server(), &self.error);
        match error.number() {
            Some(LOGIN_FAILED) if options.identity.is_token() => format!(
                "login to {server} refused: {error}; check that the database has a user for this \
                 identity"
            ),
            Some(LOGIN_FAILED) => {
                format!("login to {server} refused: {error}; check user and password")
            }
            Some(DATABASE_UNAVAILABLE) => format!(
                "database {:?} on {server} cannot be opened: {error}; check its name and the \
                 login's access to it",
                options.database.as_deref().unwrap_or_default()
            ),
            Some(DEFAULT_DATABASE_UNAVAILABLE) => format!(
                "the login's default database on {server} cannot be opened: {error}; check it and the \
                 login's access to it, or name another as database=…"
            ),
            _ => match error {
                CallError::Connection { reason, .. } => reason.clone(),
                other => other.to_string(),
            },
        }
    }
}

impl ConnectError {
    /// Says what was wrong with `server`.
    pub(crate) fn explain(self, encrypt: Encrypt, server: &str) -> DialError {
        use tiberius::error::Error as Driver;
        let driver = match self {
            Self::Unreachable(error) => {
                return DialError::passing(format!(
                    "no SQL Server answers at {server}: {error}; check host, port and firewall"
                ))
                .because(error);
            }
            Self::Authority(file, error) => {
                return DialError::mistake(format!(
                    "certificate authority {} cannot be read: {error}",
                    file.display()
                ))
                .because(error);
            }
            Self::Driver(driver) => driver,
        };
        let explained = match driver.clone() {
            Driver::Server(_) => {
                let error = CallError::from_driver(driver.clone(), false);
                DialError {
                    is_passing: error.is_retryable(),
                    error,
                    ended_handshake: false,
                    source: None,
                }
            }
            // The system's TLS libraries report as their own what is the network's.
            Driver::Tls(reason) if reason.contains("unexpected EOF") => {
                DialError::ended_handshake(handshake_ended(encrypt, server))
            }
            Driver::Tls(reason) if reason.contains("(os error ") => {
                DialError::passing(no_sql_server(server, &reason))
            }
            Driver::Tls(reason) => DialError::mistake(untrusted(server, &reason)),
            Driver::Protocol(reason) if reason.contains("encryption level") => {
                DialError::mistake(unencrypted(server))
            }
            Driver::Io { message, .. }
                if message.contains("CA source") || message.contains("CA bundle") =>
            {
                DialError::mistake(format!("TLS with {server} failed: {message}"))
            }
            Driver::Io { message, .. } if message.contains("handshake") => {
                DialError::ended_handshake(handshake_ended(encrypt, server))
            }
            Driver::Io { message, kind } => DialError::new(
                no_sql_server(server, &message),
                is_hangup(kind) && !message.contains("bytes remaining"),
            ),
            other => DialError::mistake(format!("{server}: {other}")),
        };
        explained.because(driver)
    }
}

fn no_sql_server(server: &str, reason: &str) -> String {
    format!(
        "{server} accepts connections, but does not answer as a SQL Server: {reason}; check host \
         and port"
    )
}

/// A server or a gateway that is going away, or not there yet.
fn is_hangup(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::TimedOut
    )
}

/// The driver's text goes on with advice about its own API, which is not ours.
fn untrusted(server: &str, reason: &str) -> String {
    let reason = reason.split(" To connect anyway").next();
    let reason = reason.unwrap_or_default().trim_end_matches('.');
    // OpenSSL says where in its source it failed, and then in brackets why.
    let verdict = reason.split_once("certificate verify failed");
    let verdict = verdict.and_then(|(_, rest)| rest.rsplit_once('(')?.1.strip_suffix(')'));
    let rejected = verdict.map(|verdict| {
        format!("the server's certificate was rejected during the TLS handshake: {verdict}")
    });
    let reason = rejected.as_deref().unwrap_or(reason);
    // rustls, OpenSSL and Schannel, in their words.
    let says_name = |words: &&str| reason.contains(*words);
    let is_name = [
        "not valid for name",
        "hostname mismatch",
        "CN name does not match",
    ];
    let advice = if is_name.iter().any(says_name) {
        "write the name in the certificate as the host, or as hostNameInCertificate"
    } else {
        "if the server's certificate is self-signed, install its authority, or add \
         trustServerCertificate=true on a trusted network"
    };
    format!("TLS with {server} failed: {reason}; {advice}")
}

fn unencrypted(server: &str) -> String {
    format!(
        "{server} offers no encryption; give it a certificate, or, on this machine only, write \
         encrypt=DANGER_PLAINTEXT, which sends the password in clear text"
    )
}

/// A server that does not like the kind of encryption just hangs up.
fn handshake_ended(encrypt: Encrypt, server: &str) -> String {
    match encrypt {
        Encrypt::Strict => format!(
            "{server} does not begin with TLS, as encrypt=strict demands; write encrypt=true for \
             SQL Server 2019 and older"
        ),
        Encrypt::Plaintext => format!("{server} demands encryption; write encrypt=true"),
        Encrypt::LoginOnly => unencrypted(server),
        Encrypt::Required => {
            format!("{server} ended the TLS handshake; look into the server's error log")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::MssqlProviderBuilder;
    use tiberius::error::Error as Driver;

    fn explained(error: impl Into<ConnectError>) -> (String, bool) {
        let explained = error.into().explain(Encrypt::Required, "db:1433");
        match explained.error {
            CallError::Connection {
                reason,
                sent: false,
            } => (reason, explained.is_passing),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn certificate_for_another_name_is_named() {
        let driver = "the server's certificate was rejected during the TLS handshake: certificate \
                      not valid for name \"db\"; certificate is only valid for DnsName(\"other\"). \
                      To connect anyway you can: …";
        assert_eq!(
            explained(Driver::Tls(driver.into())).0,
            "TLS with db:1433 failed: the server's certificate was rejected during the TLS \
             handshake: certificate not valid for name \"db\"; certificate is only valid for \
             DnsName(\"other\"); write the name in the certificate as the host, or as \
             hostNameInCertificate"
        );
    }

    /// What OpenSSL and Schannel say, in their own forms.
    #[test]
    fn words_of_the_systems_libraries_are_understood() {
        let openssl = |verdict: &str| {
            let text = format!(
                "error:0A000086:SSL routines:tls_post_process_server_certificate:certificate verify \
                 failed:../ssl/statem/statem_clnt.c:1889: ({verdict})"
            );
            explained(Driver::Tls(text))
        };
        let (text, is_passing) = openssl("self-signed certificate");
        assert!(text.contains("rejected during the TLS handshake: self-signed certificate; if"));
        assert!(!is_passing);
        assert!(
            openssl("hostname mismatch")
                .0
                .contains("hostNameInCertificate")
        );
        let schannel = "The certificate's CN name does not match the passed value. (os error)";
        assert!(
            explained(Driver::Tls(schannel.into()))
                .0
                .contains("hostNameInCertificate")
        );
        assert!(
            explained(Driver::Tls("unexpected EOF".into()))
                .0
                .contains("ended the TLS handshake")
        );
        let reset = Driver::Tls("Connection reset by peer (os error 104)".into());
        assert!(explained(reset).1, "it passes");
    }

    #[test]
    fn broken_handshake_is_named() {
        let error = Driver::Io {
            kind: std::io::ErrorKind::UnexpectedEof,
            message: "tls handshake eof".into(),
        };
        let (text, is_passing) = explained(error);
        assert_eq!(
            text,
            "db:1433 ended the TLS handshake; look into the server's error log"
        );
        assert!(is_passing, "unless it comes again and again");
    }

    /// What may pass by itself is told from what somebody must change.
    #[test]
    fn mistakes_are_told_from_failures_that_pass() {
        let io = |kind, message: &str| Driver::Io {
            kind,
            message: message.into(),
        };
        for kind in [ErrorKind::ConnectionReset, ErrorKind::UnexpectedEof] {
            assert!(explained(io(kind, "gone")).1);
        }
        assert!(explained(IoError::from(ErrorKind::ConnectionRefused)).1);
        assert!(!explained(io(ErrorKind::UnexpectedEof, "bytes remaining on stream")).1);
        assert!(!explained(io(ErrorKind::InvalidData, "the CA source `x` …")).1);
        assert!(!explained(Driver::Tls("UnknownIssuer".into())).1);
        assert!(!explained(Driver::Protocol("encryption level".into())).1);
        let unread = ConnectError::Authority("ca.pem".into(), ErrorKind::NotFound.into());
        assert!(!explained(unread).1);
    }

    /// A connection that names no database ends in the login's own one, which may be away for a while as any other.
    #[test]
    fn default_database_that_is_away_is_named() {
        let builder = MssqlProviderBuilder::new("server=tcp:db;user id=app;password=x");
        let options = builder.resolve().unwrap();
        let error = DialError {
            error: CallError::server(4064, 11, "Cannot open user default database. Login failed."),
            is_passing: true,
            ended_handshake: false,
            source: None,
        };
        let error = error.at_start(&options);
        assert_eq!(
            error.to_string(),
            "the login's default database on db:1433 cannot be opened: Cannot open user default \
             database. Login failed (server error 4064); check it and the login's access to it, or \
             name another as database=…"
        );
        assert!(error.is_retryable());
    }

    /// A login that is refused while the provider runs is no reason to fail a workflow.
    #[test]
    fn refused_logins_pass_while_running() {
        let refused = DialError {
            error: CallError::server(LOGIN_FAILED, 14, "Login failed for user 'app'."),
            is_passing: false,
            ended_handshake: false,
            source: None,
        };
        let error = refused.while_running();
        assert!(error.is_retryable());
        assert!(error.to_string().contains("18456"), "{error}");
    }
}
