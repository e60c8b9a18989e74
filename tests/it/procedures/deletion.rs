//! Deletion and pruning: all or nothing, in batches, whatever the tree looks like.

use duroxide::providers::{InstanceFilter, Provider, PruneOptions};

use super::Session;
use crate::support::database::TestSchema;
use crate::support::items::create;

/// Gives an instance many events and messages, more than fit one batch of the deletion.
async fn fatten(schema: &TestSchema, instance: &str, rows: u32) {
    let numbers = "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"
        .replace("{rows}", &rows.to_string());
    schema
        .sql(&format!(
            "{numbers} INSERT INTO [$(schema)].history (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)
             SELECT N'{instance}', 1, i + 1000, NEWID(), 1, N'x' FROM n OPTION (MAXRECURSION 0);
             {numbers} INSERT INTO [$(schema)].orchestrator_queue (instance_id, visible_at_ms, kind, lock_token, attempt_count, payload)
             SELECT N'{instance}', 9000000000000, N'TimerFired', NULL, 0, N'x' FROM n OPTION (MAXRECURSION 0);
             {numbers} INSERT INTO [$(schema)].worker_queue (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms, enqueued_at_ms, lock_token, attempt_count, payload)
             SELECT N'{instance}', 1, i, N'', N'', 0, 0, NULL, 0, N'x' FROM n OPTION (MAXRECURSION 0);"
        ))
        .await;
}

const LEFT_OVERS: &str = "SELECT (SELECT COUNT(*) FROM [$(schema)].history) + (SELECT COUNT(*) FROM [$(schema)].executions)
    + (SELECT COUNT(*) FROM [$(schema)].instances) + (SELECT COUNT(*) FROM [$(schema)].orchestrator_queue)
    + (SELECT COUNT(*) FROM [$(schema)].worker_queue) + (SELECT COUNT(*) FROM [$(schema)].instance_locks)
    + (SELECT COUNT(*) FROM [$(schema)].kv_store) + (SELECT COUNT(*) FROM [$(schema)].kv_delta) AS n;";

/// An instance with more rows than a batch goes completely, and every row is counted.
#[tokio::test]
async fn large_instance_is_deleted_in_batches_and_counted() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "big").await;
    fatten(&schema, "big", 9_000).await;
    let admin = provider.as_management_capability().unwrap();
    let result = admin.delete_instance("big", true).await.unwrap();
    assert_eq!(result.instances_deleted, 1);
    assert_eq!(result.executions_deleted, 1);
    assert_eq!(result.events_deleted, 9_001);
    assert_eq!(result.queue_messages_deleted, 18_000);
    assert_eq!(schema.number(LEFT_OVERS).await, 0);
}

/// Rows that claim to be each other's parent cannot send the walk round for ever.
#[tokio::test]
async fn tree_with_a_cycle_ends() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for instance in ["a", "b", "c"] {
        create(&provider, instance).await;
    }
    schema
        .sql("UPDATE [$(schema)].instances SET parent_instance_id = CASE instance_id WHEN N'a' THEN N'c' WHEN N'b' THEN N'a' ELSE N'b' END WHERE instance_id IN (N'a', N'b', N'c');")
        .await;
    let admin = provider.as_management_capability().unwrap();
    let tree = admin.get_instance_tree("a").await.unwrap();
    assert_eq!(tree.all_ids, ["a", "b", "c"]);
    assert!(
        admin.delete_instance("a", true).await.is_err(),
        "none of them is a root"
    );
}

/// A tree deeper than the recursion limit of common table expressions.
#[tokio::test]
async fn tree_of_two_hundred_levels_is_found_and_deleted() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "n0").await;
    schema
        .sql("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200)
              INSERT INTO [$(schema)].instances (instance_id, orchestration_name, orchestration_version, parent_instance_id, current_execution_id, status, custom_status, custom_status_version, created_at_ms, updated_at_ms)
              SELECT CONCAT(N'n', i), N'o', N'1', CONCAT(N'n', i - 1), 1, N'Completed', NULL, 0, 0, 0 FROM n OPTION (MAXRECURSION 0);")
        .await;
    let admin = provider.as_management_capability().unwrap();
    assert_eq!(
        admin.get_instance_tree("n0").await.unwrap().all_ids.len(),
        201
    );
    let result = admin.delete_instance("n0", true).await.unwrap();
    assert_eq!(result.instances_deleted, 201);
    assert_eq!(schema.number(LEFT_OVERS).await, 0);
}

/// Pruning by age looks at when an execution ended, and never touches the current or a running one.
#[tokio::test]
async fn pruning_by_age_keeps_recent_current_and_running_executions() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let mut session = Session::open(&schema).await;
    session
        .run("UPDATE [$(schema)].instances SET current_execution_id = 5 WHERE instance_id = N'order';
              UPDATE [$(schema)].executions SET status = N'ContinuedAsNew', completed_at_ms = 100 WHERE instance_id = N'order';
              INSERT INTO [$(schema)].executions (instance_id, execution_id, status, output, pinned_version, event_count, started_at_ms, completed_at_ms)
              VALUES (N'order', 2, N'ContinuedAsNew', NULL, NULL, 0, 0, 200), (N'order', 3, N'Running', NULL, NULL, 0, 0, NULL),
                     (N'order', 4, N'ContinuedAsNew', NULL, NULL, 0, 0, 400), (N'order', 5, N'Completed', NULL, NULL, 0, 0, 500);")
        .await
        .unwrap();
    let admin = provider.as_management_capability().unwrap();
    let options = |keep_last, completed_before| PruneOptions {
        keep_last,
        completed_before,
    };
    let result = admin
        .prune_executions("order", options(None, Some(200)))
        .await
        .unwrap();
    assert_eq!((result.executions_deleted, result.events_deleted), (1, 1));
    assert_eq!(admin.list_executions("order").await.unwrap(), [2, 3, 4, 5]);
    let filter = InstanceFilter {
        instance_ids: Some(vec!["order".into()]),
        completed_before: None,
        limit: None,
    };
    let result = admin
        .prune_executions_bulk(filter, options(Some(3), Some(1_000)))
        .await
        .unwrap();
    assert_eq!(
        (result.instances_processed, result.executions_deleted),
        (1, 1)
    );
    assert_eq!(admin.list_executions("order").await.unwrap(), [3, 4, 5]);
}
