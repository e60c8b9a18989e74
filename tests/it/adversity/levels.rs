//! What a connection was left with must not change what the procedures show.

use super::bench::{Bench, ask, turn};
use super::pairs::{enqueue_work, post};
use crate::support::database::SnapshotReads;
use crate::support::session::Session;
use crate::support::setting::Setting;

/// What readers ask. The numbers for metrics are taken as they come, whoever asks.
pub(super) const QUESTIONS: [&str; 15] = [
    "get_custom_status @instance_id = N'i', @last_seen_version = 0",
    "get_execution_info @instance_id = N'i', @execution_id = 1",
    "get_instance_info @instance_id = N'i'",
    "get_instance_stats @instance_id = N'i'",
    "get_instance_tree @instance_id = N'i'",
    "get_kv_all_values @instance_id = N'i'",
    "get_kv_value @instance_id = N'i', @kv_key = N'k'",
    "get_parent_id @instance_id = N'child'",
    "latest_execution_id @instance_id = N'i'",
    "list_children @instance_id = N'i'",
    "list_executions @instance_id = N'i'",
    "list_instances",
    "list_instances_by_status @status = N'Running'",
    "[read] @instance_id = N'i'",
    "[read] @instance_id = N'i', @known_event_id = 0",
];

/// A transaction that changes every table, and may yet be undone.
const CHANGES: &str = "BEGIN TRANSACTION;
    UPDATE [$(schema)].instances SET custom_status = N'changed', custom_status_version = 9, status = N'Failed', parent_instance_id = N'x';
    UPDATE [$(schema)].instances SET current_execution_id = 2 WHERE instance_id = N'i';
    UPDATE [$(schema)].executions SET status = N'Failed', output = N'changed';
    UPDATE [$(schema)].history SET payload = N'changed';
    UPDATE [$(schema)].kv_store SET kv_value = N'changed';
    UPDATE [$(schema)].kv_delta SET kv_value = N'changed';
    INSERT INTO [$(schema)].executions (instance_id, execution_id, status, started_at_ms, event_count)
    VALUES (N'i', 2, N'Running', 0, 0);";

/// Nobody is shown what is not committed, on a connection that would see it.
#[tokio::test]
async fn uncommitted_changes_are_shown_to_nobody() {
    let setting = Setting::each(0..1, &[]).next().expect("a setting");
    let setting = Setting {
        reads: SnapshotReads::On,
        ..setting
    };
    let mut bench = Bench::new(setting).await;
    let values = ", @set_custom_status = 1, @custom_status = N'c', @kv_changes = N'[{\"key\":\"k\",\"value\":\"v\",\"value_bytes\":1}]'";
    let setup = [
        turn("i", "aa", values),
        turn("child", "bb", ", @parent_instance_id = N'i'"),
        vec![post("i", "m2"), enqueue_work(1, None)],
    ];
    bench.prepare(&setup.concat()).await;
    let mut reader = Session::open(&bench.schema).await;
    let level = "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SET LOCK_TIMEOUT 0;";
    reader.run(level).await.expect("the level is set");
    let mut before = Vec::new();
    for question in QUESTIONS {
        before.push(ask(&mut reader, question).await);
    }
    let mut writer = Session::open(&bench.schema).await;
    writer.run(CHANGES).await.expect("everything is changed");
    for (question, before) in QUESTIONS.iter().zip(before) {
        let answer = ask(&mut reader, question).await;
        // Whoever must have the newest waits, and here for no time at all.
        let waited = answer == ["error 1222"];
        assert!(
            waited || answer == before,
            "{question}: {answer:?} instead of {before:?}"
        );
    }
    writer.run("ROLLBACK;").await.expect("nothing has happened");
}
