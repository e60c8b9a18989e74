//! Why there is no provider.

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
    #[error("{0}")]
    Connect(String),
    /// The schema could not be installed, verified or removed.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
}
