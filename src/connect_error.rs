//! Why no connection could be made, in words that say what to do.

use crate::auth::TokenError;
use crate::error::{CallError, DATABASE_UNAVAILABLE, LOGIN_FAILED};
use crate::options::{Encrypt, Options};

/// An attempt to connect failed.
#[derive(Debug)]
pub(crate) enum ConnectError {
    /// Nobody answers there.
    Unreachable(std::io::Error),
    /// The application's token source gave no token.
    Token(TokenError),
    /// Somebody answers, and then something went wrong.
    Driver(tiberius::error::Error),
}

impl From<std::io::Error> for ConnectError {
    fn from(error: std::io::Error) -> Self {
        Self::Unreachable(error)
    }
}

impl From<TokenError> for ConnectError {
    fn from(error: TokenError) -> Self {
        Self::Token(error)
    }
}

impl From<tiberius::error::Error> for ConnectError {
    fn from(error: tiberius::error::Error) -> Self {
        Self::Driver(error)
    }
}

impl ConnectError {
    /// One line for people. What the server itself said keeps its number.
    pub(crate) fn explain(self, encrypt: Encrypt, host: &str, port: u16) -> CallError {
        use tiberius::error::Error as Driver;
        let server = format!("{host}:{port}");
        let reason = match self {
            Self::Driver(error @ Driver::Server(_)) => return CallError::from_driver(error, false),
            Self::Unreachable(error) => {
                format!("no SQL Server answers at {server}: {error}; check host, port and firewall")
            }
            Self::Token(error) => format!("{error}; {server} was not asked"),
            Self::Driver(Driver::Tls(reason)) => untrusted(&server, &reason),
            Self::Driver(Driver::Protocol(reason)) if reason.contains("encryption level") => {
                unencrypted(&server)
            }
            Self::Driver(Driver::Io { message, .. }) if message.contains("handshake") => {
                handshake_ended(encrypt, &server)
            }
            Self::Driver(Driver::Io { message, .. }) => format!(
                "{server} accepts connections, but does not answer as a SQL Server: {message}; \
                 check host and port"
            ),
            Self::Driver(other) => format!("{server}: {other}"),
        };
        CallError::Connection {
            reason,
            sent: false,
        }
    }
}

/// The driver's text goes on with advice about its own API, which is not ours.
fn untrusted(server: &str, reason: &str) -> String {
    let reason = reason.split(" To connect anyway").next();
    let reason = reason.unwrap_or_default().trim_end_matches('.');
    let advice = if reason.contains("not valid for name") {
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

/// At the start only the server itself can say that waiting helps; everything else is a mistake
/// that its author wants to hear about at once.
pub(crate) fn startup_error(options: &Options, error: CallError) -> CallError {
    let server = options.server();
    match error.number() {
        Some(LOGIN_FAILED) => CallError::Data(format!(
            "login to {server} refused: {error}; check user and password"
        )),
        Some(DATABASE_UNAVAILABLE) => CallError::Data(format!(
            "database {:?} on {server} cannot be opened: {error}; check its name and the login's \
             access to it",
            options.database.as_deref().unwrap_or_default()
        )),
        Some(_) => error,
        None => match error {
            CallError::Connection { reason, .. } => CallError::Data(reason),
            other => CallError::Data(other.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiberius::error::Error as Driver;

    fn explained(error: impl Into<ConnectError>) -> String {
        match error.into().explain(Encrypt::Required, "db", 1433) {
            CallError::Connection {
                reason,
                sent: false,
            } => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn certificate_for_another_name_is_named() {
        let driver = "the server's certificate was rejected during the TLS handshake: certificate \
                      not valid for name \"db\"; certificate is only valid for DnsName(\"other\"). \
                      To connect anyway you can: …";
        assert_eq!(
            explained(Driver::Tls(driver.into())),
            "TLS with db:1433 failed: the server's certificate was rejected during the TLS \
             handshake: certificate not valid for name \"db\"; certificate is only valid for \
             DnsName(\"other\"); write the name in the certificate as the host, or as \
             hostNameInCertificate"
        );
    }

    #[test]
    fn broken_handshake_is_named() {
        let error = Driver::Io {
            kind: std::io::ErrorKind::UnexpectedEof,
            message: "tls handshake eof".into(),
        };
        assert_eq!(
            explained(error),
            "db:1433 ended the TLS handshake; look into the server's error log"
        );
    }

    #[test]
    fn missing_token_is_not_blamed_on_the_server() {
        assert_eq!(
            explained(TokenError::new("run az login")),
            "no access token: run az login; db:1433 was not asked"
        );
    }
}
