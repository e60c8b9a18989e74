//! What a scenario is, and what it works with.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use duroxide::Client;
use duroxide::providers::Provider;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use tokio_util::sync::CancellationToken;

use crate::backend::Backend;
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::settings::Settings;

/// A kind of load.
#[async_trait::async_trait]
pub trait Scenario: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// One line for the help.
    fn about(&self) -> &'static str;

    /// Whether a runtime has to run; without one the scenario calls the provider itself.
    fn needs_runtime(&self) -> bool {
        true
    }

    /// The activities it registers.
    fn activities(&self, settings: &Settings) -> ActivityRegistry {
        let _ = settings;
        ActivityRegistry::builder().build()
    }

    /// The orchestrations it registers.
    fn orchestrations(&self, settings: &Settings) -> OrchestrationRegistry {
        let _ = settings;
        OrchestrationRegistry::builder().build()
    }

    /// Produces the load until the time is over or the run is stopped.
    async fn drive(&self, run: &Run<'_>) -> Result<()>;
}

/// What a scenario works with.
pub struct Run<'a> {
    /// The user's choices.
    pub settings: &'a Settings,
    /// The place under test.
    pub backend: &'a dyn Backend,
    /// The provider itself, uncounted.
    pub store: Arc<dyn Provider>,
    /// Starts and awaits orchestrations.
    pub client: Arc<Client>,
    /// Where results go.
    pub recorder: Arc<Recorder>,
    /// Cancelled by Ctrl-C.
    pub stop: CancellationToken,
    /// The bar.
    pub progress: Progress,
}

/// Waits, unless the run is stopped; says whether it may go on.
pub async fn pause(run: &Run<'_>, time: Duration) -> bool {
    tokio::select! {
        () = run.stop.cancelled() => false,
        () = tokio::time::sleep(time) => true,
    }
}
