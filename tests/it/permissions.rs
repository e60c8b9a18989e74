//! Logins with one role each: what they may do, and that they may do nothing else.

use std::sync::Arc;

use duroxide::Client;
use duroxide::OrchestrationContext;
use duroxide::runtime::Runtime;
use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide_sql::{MigrationPolicy, MssqlProvider, install_script, uninstall_script};

use crate::support::database::{TestSchema, connect};
use crate::support::login::Login;
use crate::support::runtime::{PATIENCE, echo_activities};

/// A server in `DATABASE_URL` must let its login create others.
#[tokio::test]
async fn member_of_the_runtime_role_runs_workflows_and_nothing_else() {
    let schema = TestSchema::new();
    schema.provider().await;
    let login = Login::create(&schema).await;
    let url = login.url().to_owned();
    let builder = || MssqlProvider::builder(&url).schema(schema.name().as_str());

    // Without the role there is nothing to see, and nothing to install with.
    let verify = builder().migration_policy(MigrationPolicy::Verify);
    assert!(verify.build().await.is_err());
    assert!(builder().build().await.is_err());

    login.join(&schema, "runtime").await;
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

    assert_eq!(
        refusal(&url, &schema, "SELECT COUNT(*) FROM [$(schema)].history;").await,
        229
    );
    assert_eq!(
        refusal(&url, &schema, "SELECT COUNT(*) FROM [$(schema)].v_history;").await,
        229
    );
    login.drop(&schema).await;
}

/// The runtime role reaches its own schema through the public procedures alone, and nothing of a
/// schema beside it.
#[tokio::test]
async fn runtime_role_gets_229_on_every_table_and_on_everything_of_another_tenant() {
    let (own, other) = (TestSchema::new(), TestSchema::new());
    own.provider().await;
    other.provider().await;
    let login = Login::create(&own).await;
    login.join(&own, "runtime").await;
    for schema in [&own, &other] {
        let tables = names(schema, "U").await;
        assert!(tables.len() > 9, "{tables:?}");
        for table in tables {
            for verb in [
                "SELECT COUNT(*) FROM [$(schema)].[{}];",
                "DELETE FROM [$(schema)].[{}];",
                "INSERT INTO [$(schema)].[{}] DEFAULT VALUES;",
            ] {
                let statement = verb.replace("{}", &table);
                let number = refusal(login.url(), schema, &statement).await;
                assert_eq!(number, 229, "{statement}");
            }
        }
        for view in names(schema, "V").await {
            let query = format!("SELECT COUNT(*) FROM [$(schema)].[{view}];");
            assert_eq!(refusal(login.url(), schema, &query).await, 229, "{view}");
        }
    }
    for procedure in names(&own, "P").await {
        let call = format!("EXEC [$(schema)].[{procedure}];");
        let is_helper = procedure.starts_with('_');
        let number = refusal(login.url(), &own, &call).await;
        assert_eq!(number == 229, is_helper, "{procedure}: {number}");
    }
    for procedure in names(&other, "P").await {
        let call = format!("EXEC [$(schema)].[{procedure}];");
        assert_eq!(
            refusal(login.url(), &other, &call).await,
            229,
            "{procedure}"
        );
    }
    let stranger = MssqlProvider::builder(login.url())
        .schema(other.name().as_str())
        .migration_policy(MigrationPolicy::Verify);
    assert!(stranger.build().await.is_err());
    login.drop(&own).await;
}

/// The number with which the server refuses a statement; 0 when it does not.
async fn refusal(url: &str, schema: &TestSchema, text: &str) -> u32 {
    let mut client = connect(url).await;
    let text = text.replace("[$(schema)]", &schema.name().quoted());
    let result = match client.simple_query(text).await {
        Ok(stream) => stream.into_results().await.map(drop),
        Err(error) => Err(error),
    };
    result
        .err()
        .map_or(0, |error| error.code().expect("a number"))
}

/// The names of the schema's objects of a type: U tables, V views, P procedures.
async fn names(schema: &TestSchema, kind: &str) -> Vec<String> {
    let query = format!(
        "SELECT o.name FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(N'{}') AND o.type = N'{kind}';",
        schema.name().literal()
    );
    let rows = schema.sql(&query).await;
    rows.iter()
        .map(|row| row.get::<&str, _>("name").expect("a name").to_owned())
        .collect()
}

/// Views that carry payloads, for the inspector alone.
const PAYLOADS: [&str; 4] = [
    "v_history_payloads",
    "v_instance_payloads",
    "v_key_values",
    "v_queue_payloads",
];

/// Observer and inspector read their views and get 229 on everything else.
#[tokio::test]
async fn observers_read_their_views_and_nothing_else() {
    let schema = TestSchema::new();
    schema.provider().await;
    for role in ["observer", "inspector"] {
        let login = Login::create(&schema).await;
        login.join(&schema, role).await;
        for view in names(&schema, "V").await {
            let is_theirs = match role {
                "observer" => !view.starts_with('_') && !PAYLOADS.contains(&view.as_str()),
                _ => PAYLOADS.contains(&view.as_str()),
            };
            let query = format!("SELECT COUNT(*) FROM [$(schema)].[{view}];");
            let number = refusal(login.url(), &schema, &query).await;
            assert_eq!(number, if is_theirs { 0 } else { 229 }, "{role} on {view}");
        }
        for table in names(&schema, "U").await {
            for verb in ["SELECT COUNT(*) FROM", "DELETE FROM"] {
                let statement = format!("{verb} [$(schema)].[{table}];");
                assert_eq!(
                    refusal(login.url(), &schema, &statement).await,
                    229,
                    "{table}"
                );
            }
        }
        for procedure in names(&schema, "P").await {
            let statement = format!("EXEC [$(schema)].[{procedure}];");
            assert_eq!(
                refusal(login.url(), &schema, &statement).await,
                229,
                "{procedure}"
            );
        }
        login.drop(&schema).await;
    }
}

/// What the documents ask for is enough to install a schema, to upgrade it and to remove it.
#[tokio::test]
async fn rights_of_the_installer_are_those_that_are_documented() {
    let rights = [
        "CREATE SCHEMA",
        "CREATE TABLE",
        "CREATE PROCEDURE",
        "CREATE VIEW",
        "CREATE ROLE",
    ];
    let operations = include_str!("../../docs/operations.md");
    let row = operations
        .lines()
        .find(|line| line.starts_with("| installer "));
    for right in rights {
        assert!(row.is_some_and(|row| row.contains(right)), "{right}");
    }
    // Into a schema of its own, and into one that is there already.
    for own in [true, false] {
        let schema = TestSchema::new();
        let login = Login::create(&schema).await;
        let user = login.name();
        for right in &rights[usize::from(!own)..] {
            schema.sql(&format!("GRANT {right} TO [{user}];")).await;
        }
        if !own {
            schema.sql("CREATE SCHEMA [$(schema)];").await;
            let control = format!("GRANT CONTROL ON SCHEMA::[$(schema)] TO [{user}];");
            schema.sql(&control).await;
        }
        let mut client = connect(login.url()).await;
        for script in [
            install_script(schema.name()),
            install_script(schema.name()),
            uninstall_script(schema.name()),
        ] {
            for batch in script.split_inclusive("\nGO\n") {
                let batch = batch.strip_suffix("GO\n").unwrap_or(batch);
                let stream = client.simple_query(batch).await.unwrap();
                stream.into_results().await.unwrap();
            }
        }
        drop(client);
        assert_eq!(schema.exists().await, !own);
        if !own {
            schema.sql("DROP SCHEMA [$(schema)];").await;
        }
        login.drop(&schema).await;
    }
}
