//! The life of a schema: installed, upgraded, verified, refused, removed.

use duroxide::providers::Provider;
use duroxide_sql::{Error, MigrateError, MigrationPolicy, MssqlProvider};

use crate::support::database::{SnapshotReads, TestSchema, connection_string};
use crate::support::items::{create, fetch};

pub async fn verify(schema: &TestSchema) -> Result<MssqlProvider, MigrateError> {
    match schema
        .builder()
        .migration_policy(MigrationPolicy::Verify)
        .build()
        .await
    {
        Ok(provider) => Ok(provider),
        Err(Error::Migrate(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

async fn apply(schema: &TestSchema) -> Result<MssqlProvider, MigrateError> {
    match schema.builder().build().await {
        Ok(provider) => Ok(provider),
        Err(Error::Migrate(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

pub async fn objects(schema: &TestSchema) -> i64 {
    let name = schema.name().literal();
    let query = format!("SELECT COUNT(*) FROM sys.objects WHERE schema_id = SCHEMA_ID(N'{name}');");
    schema.number(&query).await
}

/// The second start finds everything in place and changes nothing.
#[tokio::test]
async fn installing_twice_is_harmless() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let before = objects(&schema).await;
    let provider = schema.provider().await;
    assert_eq!(objects(&schema).await, before);
    assert_eq!(provider.read("order").await.unwrap().len(), 1);
}

/// Eight processes that start at once install one schema.
#[tokio::test]
async fn eight_concurrent_starts_install_once() {
    let schema = TestSchema::new();
    let starts: Vec<_> = (0..8)
        .map(|_| tokio::spawn(schema.builder().pool_min_idle(1).build()))
        .collect();
    for start in starts {
        let provider = start.await.unwrap().expect("every start succeeds");
        assert!(fetch(&provider).await.is_none());
    }
    let ledger = "SELECT COUNT(*) FROM [$(schema)].schema_migrations;";
    assert_eq!(schema.number(ledger).await, 1);
}

/// Schema names of every legal kind.
#[tokio::test]
async fn unusual_schema_names_work() {
    let url = connection_string(SnapshotReads::Off);
    let unique = uuid::Uuid::new_v4().simple().to_string();
    let names = [
        format!("with space {unique}"),
        format!("with]bracket {unique}"),
        format!("it's {unique}"),
        format!("\"quoted\" {unique}"),
        format!("日本 😀 {unique}"),
        format!("select {unique}"),
        format!("{unique:x<128}"),
    ];
    for name in names {
        let schema = TestSchema::named(url.clone(), &name);
        let provider = schema.provider().await;
        create(&provider, "order").await;
        assert_eq!(provider.read("order").await.unwrap().len(), 1, "{name}");
        verify(&schema).await.expect("an installed schema verifies");
    }
}

/// Verify runs no DDL and says what is missing.
#[tokio::test]
async fn verify_refuses_what_is_not_installed() {
    let schema = TestSchema::new();
    let error = verify(&schema).await.unwrap_err();
    assert!(
        matches!(error, MigrateError::NotInstalled { .. }),
        "{error}"
    );
    assert_eq!(objects(&schema).await, 0);
}

/// Both policies refuse a migration that was applied with another text.
#[tokio::test]
async fn altered_migration_is_refused() {
    let schema = TestSchema::new();
    schema.provider().await;
    schema
        .sql("UPDATE [$(schema)].schema_migrations SET checksum = N'other';")
        .await;
    for result in [apply(&schema).await, verify(&schema).await] {
        let error = result.unwrap_err();
        assert!(matches!(error, MigrateError::Altered { .. }), "{error}");
    }
}

/// Both policies refuse a schema that a later release has changed.
#[tokio::test]
async fn newer_schema_is_refused() {
    let schema = TestSchema::new();
    schema.provider().await;
    schema
        .sql(
            "INSERT INTO [$(schema)].schema_migrations \
             (migration_number, migration_name, checksum, applied_at_ms, release) \
             VALUES (99, N'0099_later.sql', N'x', 0, N'9.0.0');",
        )
        .await;
    for result in [apply(&schema).await, verify(&schema).await] {
        let error = result.unwrap_err();
        assert!(
            matches!(error, MigrateError::Ahead { at: 99, .. }),
            "{error}"
        );
    }
}

/// Procedures of an older release, or changed ones of this release, are replaced by Apply and
/// refused by Verify.
#[tokio::test]
async fn outdated_procedures_are_replaced() {
    let schema = TestSchema::new();
    schema.provider().await;
    for change in [
        "release_order = release_order - 1, checksum = N'old'",
        "checksum = N'edited'",
    ] {
        schema
            .sql(&format!("UPDATE [$(schema)].schema_release SET {change};"))
            .await;
        schema
            .sql("DROP PROCEDURE [$(schema)].read_with_execution;")
            .await;
        assert!(verify(&schema).await.is_err());
        let provider = apply(&schema).await.unwrap();
        assert!(
            provider
                .read_with_execution("order", 1)
                .await
                .unwrap()
                .is_empty()
        );
        verify(&schema).await.unwrap();
    }
}

/// An older build leaves the procedures of a newer release alone.
#[tokio::test]
async fn newer_procedures_are_left_alone() {
    let schema = TestSchema::new();
    schema.provider().await;
    schema.sql("UPDATE [$(schema)].schema_release SET release_order = release_order + 1, checksum = N'newer';").await;
    apply(&schema).await.unwrap();
    verify(&schema).await.unwrap();
    let untouched = "SELECT COUNT(*) FROM [$(schema)].schema_release WHERE checksum = N'newer';";
    assert_eq!(schema.number(untouched).await, 1);
}

/// An installation that fails half-way leaves nothing behind.
#[tokio::test]
async fn failed_installation_leaves_nothing() {
    let schema = TestSchema::new();
    schema.sql("CREATE SCHEMA [$(schema)];").await;
    schema
        .sql("CREATE TABLE [$(schema)].worker_queue (id INT NOT NULL);")
        .await;
    let error = apply(&schema).await.unwrap_err();
    assert!(matches!(error, MigrateError::Failed { .. }), "{error}");
    assert!(error.to_string().contains("0001"), "{error}");
    assert_eq!(objects(&schema).await, 1);
    schema.sql("DROP TABLE [$(schema)].worker_queue;").await;
    schema.sql("DROP SCHEMA [$(schema)];").await;
}

/// Tables without their ledger's entries are named as what they are.
#[tokio::test]
async fn half_installed_schema_is_refused() {
    let schema = TestSchema::new();
    schema.provider().await;
    schema
        .sql("DELETE FROM [$(schema)].schema_migrations;")
        .await;
    for result in [apply(&schema).await, verify(&schema).await] {
        let error = result.unwrap_err();
        assert!(
            matches!(error, MigrateError::HalfInstalled { .. }),
            "{error}"
        );
    }
}

/// Removing a schema that was there before leaves it there, with what is not ours.
#[tokio::test]
async fn uninstall_removes_only_what_was_installed() {
    let schema = TestSchema::new();
    schema.sql("CREATE SCHEMA [$(schema)];").await;
    schema
        .sql("CREATE TABLE [$(schema)].not_ours (id INT NOT NULL);")
        .await;
    schema.provider().await;
    schema.builder().uninstall().await.unwrap();
    assert_eq!(objects(&schema).await, 1);
    // Nothing is installed any more, and that is no error.
    schema.builder().uninstall().await.unwrap();
    schema.sql("DROP TABLE [$(schema)].not_ours;").await;
    schema.sql("DROP SCHEMA [$(schema)];").await;
}

/// No key that turns write has statistics that a turn would have to compute anew.
#[test]
fn keys_keep_their_statistics() {
    let tables = include_str!("../../migrations/0001_initial_schema.sql");
    let quiet = [
        "pk_schema_migrations",
        "pk_schema_release",
        "pk_metrics_cache",
    ];
    let mut lines = tables.lines().peekable();
    let mut keys = 0;
    while let Some(line) = lines.next() {
        let Some(constraint) = line.trim().strip_prefix("CONSTRAINT ") else {
            continue;
        };
        let name = constraint.split(' ').next().expect("a name");
        let is_key = name.starts_with("pk_") || name.starts_with("uq_");
        if is_key && !quiet.contains(&name) {
            let option = lines
                .peek()
                .is_some_and(|next| next.contains("STATISTICS_NORECOMPUTE = ON"));
            assert!(option, "{name}");
            keys += 1;
        }
    }
    assert!(keys > 10, "{keys} keys");
}
