//! What duroxide's suite asks of a provider's author: stores, and ways to look into and damage them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use duroxide::provider_validation::ProviderFactory;
use duroxide::providers::Provider;

use crate::support::database::{SnapshotReads, TestSchema, connection_string};

/// Long enough that a busy machine does not lose a lease by accident; eleven of the tests wait
/// for it to end.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Gives every provider a schema of its own, and removes them all when the test is over.
pub struct Factory {
    url: String,
    schemas: Mutex<Vec<Arc<TestSchema>>>,
}

impl Factory {
    pub fn new(reads: SnapshotReads) -> Self {
        Self::at(connection_string(reads))
    }

    /// On a server of the test's own.
    pub fn at(url: String) -> Self {
        Self {
            url,
            schemas: Mutex::default(),
        }
    }

    /// A provider together with the factory that removes its schema.
    pub async fn create_alone(self) -> (Arc<dyn Provider>, Self) {
        (self.create_provider().await, self)
    }

    fn newest(&self) -> Arc<TestSchema> {
        let schemas = self
            .schemas
            .lock()
            .expect("no test panics while it holds this");
        schemas.last().expect("a provider was created").clone()
    }
}

#[async_trait::async_trait]
impl ProviderFactory for Factory {
    async fn create_provider(&self) -> Arc<dyn Provider> {
        let schema = Arc::new(TestSchema::at(self.url.clone()));
        let provider = schema.provider().await;
        self.schemas
            .lock()
            .expect("no test panics while it holds this")
            .push(schema);
        Arc::new(provider)
    }

    fn lock_timeout(&self) -> Duration {
        LOCK_TIMEOUT
    }

    /// Text that is not JSON, and JSON that is no event: either must be reported, neither may
    /// hide the other. Whoever changes a history by hand gives it another appended_by.
    async fn corrupt_instance_history(&self, instance: &str) {
        let update = format!(
            "UPDATE [$(schema)].history SET payload = CASE WHEN event_id % 2 = 1 THEN N'not JSON' \
             ELSE N'{{\"type\":\"NoSuchEvent\"}}' END, appended_by = NEWID() WHERE instance_id = N'{instance}';"
        );
        self.newest().sql(&update).await;
    }

    async fn get_max_attempt_count(&self, instance: &str) -> u32 {
        let query = format!(
            "SELECT MAX(attempt_count) AS attempts FROM [$(schema)].orchestrator_queue \
             WHERE instance_id = N'{instance}';"
        );
        u32::try_from(self.newest().number(&query).await).expect("a count")
    }
}
