//! Why there is no provider.

use crate::connect_error::ConnectionError;
use crate::migrate::MigrateError;
use crate::options::OptionsError;

/// A provider could not be created, or its schema not be installed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings are wrong; nothing was sent to a server.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// No usable connection to the server.
    #[error(transparent)]
    Connect(#[from] ConnectionError),
    /// The schema could not be installed, verified or removed.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
}

impl Error {
    /// The server's error number, when a server refused the connection.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        match self {
            Self::Connect(error) => error.number(),
            Self::Options(_) | Self::Migrate(_) => None,
        }
    }

    /// Whether the same call may succeed later without anybody changing anything: the server was not
    /// there, or not ready, or did not answer in time, or another process was installing. A wrong setting or a schema of another release does not pass.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Connect(error) => error.is_retryable(),
            Self::Migrate(error) => error.is_retryable(),
            Self::Options(_) => false,
        }
    }
}
