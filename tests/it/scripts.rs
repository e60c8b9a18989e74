//! The printed scripts, run as a DBA's client runs them: what they install, refuse, say and remove.

use std::path::Path;
use std::time::Duration;

use duroxide::providers::Provider;
use duroxide_sql::{SchemaName, install_script, uninstall_script};

use crate::migrations::{objects, verify};
use crate::support::database::{SnapshotReads, TestSchema, connect, connection_string, own_server};
use crate::support::items::create;

/// Runs a script batch by batch, as sqlcmd would; every batch must succeed.
async fn run_script(schema: &TestSchema, script: &str) {
    let errors = run_until_end(schema, script).await;
    assert!(errors.is_empty(), "{errors:?}");
}

/// Runs a script batch by batch and goes on after an error, as sqlcmd does without `-b`; returns
/// the errors' numbers.
async fn run_until_end(schema: &TestSchema, script: &str) -> Vec<u32> {
    let (errors, _) = transcript(schema, script).await;
    errors.into_iter().map(|(number, _)| number).collect()
}

/// What a client that runs the script shows: errors with their numbers, and the text of the rows.
async fn transcript(schema: &TestSchema, script: &str) -> (Vec<(u32, String)>, Vec<String>) {
    let mut client = connect(schema.url()).await;
    let (mut errors, mut said) = (Vec::new(), Vec::new());
    for batch in script.split_inclusive("\nGO\n") {
        let batch = batch.strip_suffix("GO\n").unwrap_or(batch);
        let result = match client.simple_query(batch).await {
            Ok(stream) => stream.into_results().await,
            Err(error) => Err(error),
        };
        match result {
            Ok(sets) => {
                let rows = sets.iter().flatten();
                said.extend(rows.map(|row| row.get::<&str, _>(0).expect("a text").to_owned()));
            }
            Err(error) => errors.push((error.code().expect("a number"), error.to_string())),
        }
    }
    (errors, said)
}

/// The exported script installs what Verify accepts, and running it again changes nothing.
#[tokio::test]
async fn exported_script_installs_and_verifies() {
    let schema = TestSchema::new();
    let script = install_script(schema.name());
    run_script(&schema, &script).await;
    let provider = verify(&schema)
        .await
        .expect("the script installed everything");
    create(&provider, "order").await;
    run_script(&schema, &script).await;
    assert_eq!(
        verify(&schema)
            .await
            .unwrap()
            .read("order")
            .await
            .unwrap()
            .len(),
        1
    );
}

/// What the exported script created, the exported script for removal removes, the schema
/// included; running it again is harmless.
#[tokio::test]
async fn exported_scripts_remove_what_they_created() {
    let url = connection_string(SnapshotReads::Off);
    let name = format!("it's [odd] {}", uuid::Uuid::new_v4().simple());
    let schema = TestSchema::named(url, &name);
    run_script(&schema, &install_script(schema.name())).await;
    verify(&schema).await.expect("the script installed");
    for _ in 0..2 {
        run_script(&schema, &uninstall_script(schema.name())).await;
        assert!(!schema.exists().await);
    }
}

/// A schema that was there before the exported script ran outlives the removal.
#[tokio::test]
async fn exported_scripts_leave_a_schema_that_was_there_before() {
    let schema = TestSchema::new();
    schema.sql("CREATE SCHEMA [$(schema)];").await;
    run_script(&schema, &install_script(schema.name())).await;
    verify(&schema).await.expect("the script installed");
    run_script(&schema, &uninstall_script(schema.name())).await;
    assert!(schema.exists().await);
    assert_eq!(objects(&schema).await, 0);
    schema.sql("DROP SCHEMA [$(schema)];").await;
}

/// The exported script for removal removes nothing when it cannot remove everything.
#[tokio::test]
async fn exported_removal_is_all_or_nothing() {
    let schema = TestSchema::new();
    schema.provider().await;
    let before = objects(&schema).await;
    let role = format!("{}_runtime", schema.name().as_str());
    let user = format!("u_{}", uuid::Uuid::new_v4().simple());
    schema
        .sql(&format!("CREATE USER [{user}] WITHOUT LOGIN;"))
        .await;
    schema
        .sql(&format!("ALTER ROLE [{role}] ADD MEMBER [{user}];"))
        .await;

    let script = uninstall_script(schema.name());
    let errors = run_until_end(&schema, &script).await;
    assert_eq!(errors, [15144], "the role has a member");
    assert_eq!(objects(&schema).await, before);
    verify(&schema).await.expect("nothing is missing");

    schema.sql(&format!("DROP USER [{user}];")).await;
    assert!(run_until_end(&schema, &script).await.is_empty());
    assert!(!schema.exists().await);
}

/// The scripts say in the end what they did, and nothing else.
#[tokio::test]
async fn exported_scripts_say_what_they_did() {
    let schema = TestSchema::new();
    let name = schema.name().quoted();
    for _ in 0..2 {
        let (errors, said) = transcript(&schema, &install_script(schema.name())).await;
        assert!(errors.is_empty(), "{errors:?}");
        let [line] = said.as_slice() else {
            panic!("{said:?}")
        };
        let release = env!("CARGO_PKG_VERSION");
        let expected = format!("schema {name} is at release {release}, migration ");
        assert!(line.starts_with(&expected), "{line}");
        assert!(line.ends_with(" procedures"), "{line}");
    }
    let (errors, said) = transcript(&schema, &uninstall_script(schema.name())).await;
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(
        said,
        [format!(
            "everything of duroxide-sql in schema {name} is removed"
        )]
    );
}

/// What must stop the script, the number it stops with, and a part of what it says.
const REFUSALS: [(&str, u32, &str); 5] = [
    (
        "UPDATE [$(schema)].schema_release SET release = N'99.2.0', \
         release_order = release_order + 1, checksum = N'newer';",
        51091,
        "holds release 99.2.0",
    ),
    (
        "INSERT INTO [$(schema)].schema_migrations \
         (migration_number, migration_name, checksum, applied_at_ms, release) \
         VALUES (99, N'0099_later.sql', N'x', 0, N'9.0.0');",
        51092,
        "0099_later.sql, which release",
    ),
    (
        "UPDATE [$(schema)].schema_migrations SET checksum = N'other' WHERE migration_number = 1;",
        51093,
        "0001_initial_schema.sql differs",
    ),
    (
        "DELETE FROM [$(schema)].schema_migrations WHERE migration_number > 0;",
        51094,
        "only partly installed",
    ),
    (
        "DROP PROCEDURE [$(schema)].get_schema_state;",
        51094,
        "only partly installed",
    ),
];

/// A script never goes backwards and never builds on what it does not know: it fails with one
/// error that says why, and nothing has changed.
#[tokio::test]
async fn exported_script_refuses_what_it_would_damage() {
    for (damage, number, words) in REFUSALS {
        let schema = TestSchema::new();
        run_script(&schema, &install_script(schema.name())).await;
        schema.sql(damage).await;
        schema
            .sql("DROP PROCEDURE [$(schema)].read_with_execution;")
            .await;
        let before = objects(&schema).await;
        let ledger =
            "SELECT SUM(release_order) + SUM(applied_at_ms) FROM [$(schema)].schema_release;";
        let entry = schema.number(ledger).await;

        let (errors, said) = transcript(&schema, &install_script(schema.name())).await;
        let [(found, message)] = errors.as_slice() else {
            panic!("{errors:?}")
        };
        assert_eq!(*found, number, "{message}");
        assert!(message.contains("nothing was changed"), "{message}");
        assert!(message.contains(words), "{message}");
        assert!(said.is_empty(), "{said:?}");
        assert_eq!(objects(&schema).await, before, "{number}");
        assert_eq!(schema.number(ledger).await, entry, "{number}");
    }
}

/// A database that behaves like an older server is refused before anything is created.
#[tokio::test]
async fn exported_script_refuses_a_compatibility_level_without_json() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let level = |level| server.controls().set_compatibility_level("master", level);
    level(120).expect("the level is set");
    let errors = run_until_end(&schema, &install_script(schema.name())).await;
    // What follows is only parsed, and what names OPENJSON is refused even then.
    assert_eq!(errors.first(), Some(&51095));
    assert!(!errors[1..].contains(&51095), "{errors:?}");
    assert!(!schema.exists().await);
    level(150).expect("the level is set");
}

/// While another installation holds the lock the script waits, and then fails instead of
/// skipping everything in silence.
#[tokio::test]
async fn exported_script_fails_when_the_lock_is_not_granted() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let mut other = connect(schema.url()).await;
    let lock = format!(
        "BEGIN TRANSACTION; EXEC sp_getapplock @Resource = N'duroxide-sql install {}', \
         @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 0;",
        schema.name().literal()
    );
    let stream = other.simple_query(lock).await.expect("the lock is free");
    stream.into_results().await.expect("the lock is taken");

    for script in [
        install_script(schema.name()),
        uninstall_script(schema.name()),
    ] {
        let run = transcript(&schema, &script);
        let wait_over = async {
            crate::support::wait::until("the script waits", || async {
                server.controls().blocked() > 0
            })
            .await;
            server.controls().advance(Duration::from_secs(61));
        };
        let ((errors, said), ()) = tokio::join!(run, wait_over);
        let [(number, message)] = errors.as_slice() else {
            panic!("{errors:?}")
        };
        assert_eq!(*number, 51090, "{message}");
        assert!(
            message.contains("another process is installing"),
            "{message}"
        );
        assert!(said.is_empty(), "{said:?}");
    }
    assert!(!schema.exists().await);
}

/// Inside a transaction of the client's the work would vanish with it.
#[tokio::test]
async fn exported_script_refuses_a_transaction_of_the_client() {
    let schema = TestSchema::new();
    let script = format!("BEGIN TRANSACTION;\nGO\n{}", install_script(schema.name()));
    assert_eq!(run_until_end(&schema, &script).await, [51000]);
    assert!(!schema.exists().await);
}

/// A client without autocommit has a transaction as soon as the script begins one, and ends it only when it is told to.
#[tokio::test]
async fn exported_scripts_commit_for_clients_without_autocommit() {
    let schema = TestSchema::new();
    let script = |text: String| format!("SET IMPLICIT_TRANSACTIONS ON;\nGO\n{text}");
    run_script(&schema, &script(install_script(schema.name()))).await;
    verify(&schema).await.expect("the script installed");
    run_script(&schema, &script(uninstall_script(schema.name()))).await;
    assert!(!schema.exists().await);
}

/// A COUNT that leaves rows out by a NULL comes with a warning (8153), which clients may log at every call.
#[test]
fn counts_leave_no_rows_out() {
    let script = install_script(&SchemaName::new("orders").expect("a name"));
    for count in ["COUNT(CASE", "COUNT_BIG(CASE"] {
        let at = script.find(count);
        assert_eq!(at.map(|at| &script[at..at + 60]), None);
    }
}

/// What is done to the queues most of the time waits for no statistics: they are out of date all the time.
#[test]
fn statements_on_queues_keep_their_plans() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/procedures");
    let mut found = 0;
    for procedure in [
        "fetch_orchestration_item",
        "ack_orchestration_item",
        "abandon_orchestration_item",
        "_release_instance",
        "_cancel_activities",
        "fetch_work_item",
        "ack_work_item",
        "abandon_work_item",
        "renew_work_item_lock",
        "_find_session_item",
    ] {
        let text =
            std::fs::read_to_string(folder.join(format!("{procedure}.sql"))).expect("a file");
        let on_queues = |statement: &&str| statement.contains("_queue AS q");
        for statement in text.split(';').filter(on_queues) {
            assert!(
                statement.contains("KEEPFIXED PLAN"),
                "{procedure}:{statement}"
            );
            found += 1;
        }
    }
    assert!(found > 15, "{found} statements");
}
