//! A login that may only execute: it can run everything and read nothing by itself.

use std::sync::Arc;

use duroxide::Client;
use duroxide::OrchestrationContext;
use duroxide::runtime::Runtime;
use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide_sql::{MigrationPolicy, MssqlProvider};

use crate::support::database::{TestSchema, connect, external};
use crate::support::runtime::{PATIENCE, echo_activities};

/// The connection string of another login.
fn as_login(url: &str, user: &str, password: &str) -> String {
    let kept = url.split(';').filter(|pair| {
        let key = pair
            .split('=')
            .next()
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        !["user id", "uid", "password", "pwd"].contains(&key.as_str())
    });
    let kept: Vec<_> = kept.collect();
    format!("{};user id={user};password={password}", kept.join(";"))
}

/// Creating logins needs rights that a server in `DATABASE_URL` may not give.
#[tokio::test]
async fn member_of_the_runtime_role_runs_workflows_and_nothing_else() {
    if external().is_some() {
        return;
    }
    let schema = TestSchema::new();
    schema.provider().await;
    let user = format!("app_{}", uuid::Uuid::new_v4().simple());
    let password = "Str0ng.enough";
    let role = format!("{}_runtime", schema.name().as_str());
    schema
        .sql(&format!(
            "CREATE LOGIN [{user}] WITH PASSWORD = N'{password}';"
        ))
        .await;
    schema
        .sql(&format!("CREATE USER [{user}] FOR LOGIN [{user}];"))
        .await;
    let url = as_login(schema.url(), &user, password);
    let builder = || MssqlProvider::builder(&url).schema(schema.name().as_str());

    // Without the role there is nothing to see, and nothing to install with.
    let verify = builder().migration_policy(MigrationPolicy::Verify);
    assert!(verify.build().await.is_err());
    assert!(builder().build().await.is_err());

    schema
        .sql(&format!("ALTER ROLE [{role}] ADD MEMBER [{user}];"))
        .await;
    let verify = builder().migration_policy(MigrationPolicy::Verify);
    let store = Arc::new(verify.build().await.expect("the role is enough"));
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "One",
            |ctx: OrchestrationContext, input: String| async move {
                ctx.set_kv_value("k", "v");
                ctx.schedule_activity("Echo", input).await
            },
        )
        .build();
    let runtime = Runtime::start_with_store(store.clone(), echo_activities(), orchestrations).await;
    let client = Client::new(store);
    client
        .start_orchestration("order", "One", "x")
        .await
        .unwrap();
    client
        .wait_for_orchestration("order", PATIENCE)
        .await
        .unwrap();
    client.delete_instance("order", true).await.unwrap();
    runtime.shutdown(None).await;

    let mut direct = connect(&url).await;
    let query = format!("SELECT COUNT(*) FROM {}.history;", schema.name().quoted());
    let result = match direct.simple_query(query).await {
        Ok(stream) => stream.into_results().await.map(drop),
        Err(error) => Err(error),
    };
    assert_eq!(result.unwrap_err().code(), Some(229));
    drop(direct);
    schema.sql(&format!("DROP USER [{user}];")).await;
    schema.sql(&format!("DROP LOGIN [{user}];")).await;
}
