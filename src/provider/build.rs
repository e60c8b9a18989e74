//! From the settings to a provider: what the builder ends with.

use super::{Error, MssqlProvider};
use crate::options::MssqlProviderBuilder;

impl MssqlProviderBuilder {
    /// Connects, brings the schema into the state that the migration policy asks for, and
    /// returns the provider.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for a wrong setting, before anything is sent; [`Error::Connect`] when
    /// the server cannot be used; [`Error::Migrate`] when the schema is not what it must be.
    pub async fn build(self) -> Result<MssqlProvider, Error> {
        MssqlProvider::start(self.resolve()?).await
    }

    /// Drops everything that the installation created in the schema, with all its data, and
    /// nothing else. The schema itself goes too if the installation created it.
    ///
    /// # Errors
    ///
    /// As [`MssqlProviderBuilder::build`]. When something fails, nothing is dropped.
    pub async fn uninstall(self) -> Result<(), Error> {
        MssqlProvider::remove(self.pool_min_idle(0).resolve()?).await
    }
}
