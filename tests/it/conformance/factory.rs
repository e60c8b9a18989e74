//! What duroxide's suite asks of a provider's author: stores, and ways to look into and damage them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use duroxide::provider_validation::ProviderFactory;
use duroxide::providers::Provider;
use duroxide_sql::{MigrationPolicy, MssqlProvider};

use crate::support::database::{SnapshotReads, TestSchema, connection_string};
use crate::support::login::Member;

/// Long enough that a busy machine does not lose a lease by accident; eleven of the tests wait
/// for it to end.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Whose login the providers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// Who may do everything, and installs the schema.
    Owner,
    /// A login of the schema's own, which is a member of its runtime role and of nothing else.
    RuntimeRole,
}

/// Gives every provider a schema of its own, and removes them all when the test is over.
pub struct Factory {
    url: String,
    caller: Caller,
    /// Before the schemas: a role that has members cannot be removed.
    members: Mutex<Vec<Member>>,
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
            caller: Caller::Owner,
            members: Mutex::default(),
            schemas: Mutex::default(),
        }
    }

    /// Gives out providers that have nothing but the runtime role.
    pub fn of_the_runtime_role(reads: SnapshotReads) -> Self {
        Self {
            caller: Caller::RuntimeRole,
            ..Self::new(reads)
        }
    }

    /// A provider together with the factory that removes its schema.
    pub async fn create_alone(self) -> (Arc<dyn Provider>, Self) {
        (self.create_provider().await, self)
    }

    async fn as_member(&self, schema: Arc<TestSchema>) -> MssqlProvider {
        let member = Member::join(schema.clone(), "runtime").await;
        let builder = MssqlProvider::builder(member.url())
            .schema(schema.name().as_str())
            .migration_policy(MigrationPolicy::Verify);
        self.members
            .lock()
            .expect("no test panics while it holds this")
            .push(member);
        builder.build().await.expect("the role is enough")
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
        // Even if the rest fails, the schema is removed.
        self.schemas
            .lock()
            .expect("no test panics while it holds this")
            .push(schema.clone());
        let provider = schema.provider().await;
        match self.caller {
            Caller::Owner => Arc::new(provider),
            Caller::RuntimeRole => Arc::new(self.as_member(schema).await),
        }
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
