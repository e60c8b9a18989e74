//! The provider on Azure SQL, with an Entra ID token: what no embedded engine can show.
//!
//! ```text
//! DUROXIDE_SQL_AZURE_URL='sqlserver://SERVER.database.windows.net/DATABASE' \
//! DUROXIDE_SQL_AZURE_TOKEN="$(az account get-access-token \
//!     --resource https://database.windows.net/ --query accessToken --output tsv)" \
//!     cargo test --test azure_live
//! ```
//!
//! Without the two variables it says so and does nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use duroxide::provider_validation::{self as validation, ProviderFactory};
use duroxide::providers::Provider;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime};
use duroxide::{ActivityContext, Client, OrchestrationContext};
use duroxide_sql::{
    AccessToken, MigrationPolicy, MssqlProvider, MssqlProviderBuilder, TokenError, TokenSource,
};
use tokio::sync::Mutex;

const URL: &str = "DUROXIDE_SQL_AZURE_URL";
const TOKEN: &str = "DUROXIDE_SQL_AZURE_TOKEN";

/// Gives the token of the environment, and counts how often it was asked for.
struct FromEnvironment {
    secret: String,
    asked: AtomicU32,
}

#[async_trait::async_trait]
impl TokenSource for FromEnvironment {
    async fn token(&self) -> Result<AccessToken, TokenError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(AccessToken {
            secret: self.secret.clone(),
            // The Azure CLI gives tokens that last an hour; this run takes minutes.
            expires_at: SystemTime::now() + Duration::from_secs(30 * 60),
        })
    }
}

/// The database of the environment, and the schemas that were created in it.
struct Azure {
    url: String,
    tokens: Arc<FromEnvironment>,
    schemas: Mutex<Vec<String>>,
}

impl Azure {
    /// Prints what is missing if there is nothing to test with.
    fn from_environment() -> Option<Self> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (Some(url), Some(secret)) = (variable(URL), variable(TOKEN)) else {
            println!("skipped: {URL} and {TOKEN} name no Azure SQL database and no token for it");
            return None;
        };
        Some(Self {
            url,
            tokens: Arc::new(FromEnvironment {
                secret,
                asked: AtomicU32::new(0),
            }),
            schemas: Mutex::default(),
        })
    }

    fn builder(&self, schema: &str) -> MssqlProviderBuilder {
        MssqlProvider::builder(&self.url)
            .schema(schema)
            .token_source(self.tokens.clone())
    }

    /// A provider on a schema of its own.
    async fn provider(&self) -> (String, MssqlProvider) {
        let schema = format!("azure_live_{}", uuid::Uuid::new_v4().simple());
        self.schemas.lock().await.push(schema.clone());
        let provider = self.builder(&schema).build().await;
        (schema, provider.expect("the provider starts"))
    }

    async fn clean_up(&self) {
        for schema in self.schemas.lock().await.drain(..) {
            let removed = self.builder(&schema).uninstall().await;
            removed.expect("the schema is removed");
        }
    }
}

#[async_trait::async_trait]
impl ProviderFactory for Azure {
    async fn create_provider(&self) -> Arc<dyn Provider> {
        Arc::new(self.provider().await.1)
    }

    fn lock_timeout(&self) -> Duration {
        Duration::from_secs(5)
    }
}

/// A workflow from start to end, the start without DDL, and a part of duroxide's suite that does
/// not depend on a fast network.
#[tokio::test]
async fn workflow_and_suite_pass_on_azure_sql() {
    let Some(azure) = Azure::from_environment() else {
        return;
    };
    let (schema, provider) = azure.provider().await;
    let verified = azure
        .builder(&schema)
        .migration_policy(MigrationPolicy::Verify);
    verified.build().await.expect("what was installed verifies");
    run_workflow(Arc::new(provider)).await;
    assert_eq!(
        azure.tokens.asked.load(Ordering::SeqCst),
        2,
        "one token for each pool"
    );

    validation::atomicity::test_multi_operation_atomic_ack(&azure).await;
    validation::instance_locking::test_exclusive_instance_lock(&azure).await;
    validation::instance_locking::test_concurrent_instance_fetching(&azure).await;
    validation::queue_semantics::test_worker_queue_fifo_ordering(&azure).await;
    validation::kv_store::test_kv_set_and_get(&azure).await;
    validation::deletion::test_delete_cleans_queues_and_locks(&azure).await;
    validation::prune::test_prune_options_combinations(&azure).await;
    validation::multi_execution::test_continue_as_new_creates_new_execution(&azure).await;
    azure.clean_up().await;
}

async fn run_workflow(store: Arc<MssqlProvider>) {
    let activities = ActivityRegistry::builder()
        .register("Greet", |_: ActivityContext, name: String| async move {
            Ok(format!("Hello, {name}!"))
        })
        .build();
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Greeting",
            |ctx: OrchestrationContext, name: String| async move {
                ctx.schedule_timer(Duration::from_millis(100)).await;
                ctx.schedule_activity("Greet", name).await
            },
        )
        .build();
    let runtime = Runtime::start_with_store(store.clone(), activities, orchestrations).await;
    let client = Client::new(store);
    client
        .start_orchestration("greeting", "Greeting", "Azure")
        .await
        .expect("started");
    let status = client
        .wait_for_orchestration("greeting", Duration::from_secs(60))
        .await;
    match status.expect("an end") {
        OrchestrationStatus::Completed { output, .. } => assert_eq!(output, "Hello, Azure!"),
        other => panic!("ended as {other:?}"),
    }
    runtime.shutdown(None).await;
}
