//! A real runtime on a schema of its own.

use std::sync::Arc;
use std::time::Duration;

use duroxide::Client;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};

use super::database::TestSchema;

/// No workflow here takes longer than this.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A runtime, a client and what they work on. The schema goes last.
pub struct App {
    pub runtime: Arc<Runtime>,
    pub client: Client,
    pub schema: TestSchema,
}

impl App {
    pub async fn start(
        activities: ActivityRegistry,
        orchestrations: OrchestrationRegistry,
    ) -> Self {
        Self::with_options(activities, orchestrations, RuntimeOptions::default()).await
    }

    pub async fn with_options(
        activities: ActivityRegistry,
        orchestrations: OrchestrationRegistry,
        options: RuntimeOptions,
    ) -> Self {
        let schema = TestSchema::new();
        let store = Arc::new(schema.provider().await);
        let runtime =
            Runtime::start_with_options(store.clone(), activities, orchestrations, options).await;
        Self {
            runtime,
            client: Client::new(store),
            schema,
        }
    }

    /// Starts an instance and waits for its output.
    pub async fn run(&self, instance: &str, orchestration: &str, input: &str) -> String {
        let started = self
            .client
            .start_orchestration(instance, orchestration, input)
            .await;
        started.expect("the instance starts");
        self.output(instance).await
    }

    /// Waits for the output of an instance that must succeed.
    pub async fn output(&self, instance: &str) -> String {
        match self.wait(instance).await {
            OrchestrationStatus::Completed { output, .. } => output,
            other => panic!("{instance} ended as {other:?}"),
        }
    }

    /// Waits for an instance to end.
    pub async fn wait(&self, instance: &str) -> OrchestrationStatus {
        let ended = self.client.wait_for_orchestration(instance, PATIENCE).await;
        ended.expect("the instance ends in time")
    }

    pub async fn stop(self) {
        self.runtime.clone().shutdown(None).await;
    }
}

/// Activities `Echo` (its input) and `Upper` (its input in capitals).
pub fn echo_activities() -> ActivityRegistry {
    ActivityRegistry::builder()
        .register("Echo", |_, input: String| async move { Ok(input) })
        .register("Upper", |_, input: String| async move {
            Ok(input.to_uppercase())
        })
        .build()
}
