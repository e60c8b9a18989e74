//! Rows that move while they are read: under read committed a search by an index meets a row once more
//! when somebody changes its key in the meantime.
//!
//! Each test holds the search at a row in the middle, moves a row that it has passed to where it has
//! not been yet, and lets it go on. A procedure that keeps what it found in a table with a primary key
//! fails with 2627 unless it counts on that.

use mssql_embedded::{Controls, Server};
use tokio::task::JoinHandle;

use super::Session;
use crate::support::database::{TestSchema, own_server};
use crate::support::wait::until;

struct Scene {
    schema: TestSchema,
    controls: Controls,
    // Stops when everything that uses it is gone.
    _server: Server,
}

type Answer = Result<Vec<Vec<tiberius::Row>>, u32>;

impl Scene {
    async fn new(rows: &str) -> Self {
        let server = own_server();
        let schema = TestSchema::at(server.connection_string());
        schema.provider().await;
        let scene = Self {
            schema,
            controls: server.controls(),
            _server: server,
        };
        scene.write(rows).await;
        scene
    }

    async fn write(&self, text: &str) {
        let mut session = Session::open(&self.schema).await;
        session.run(text).await.expect("the rows are written");
    }

    async fn spawn(&self, call: &str) -> JoinHandle<Answer> {
        let mut session = Session::open(&self.schema).await;
        let text = format!("EXEC [$(schema)].{call};");
        tokio::spawn(async move { session.run(&text).await })
    }

    /// The answer of a call whose search waits for `middle`'s lock while `moves` are committed.
    async fn call(&self, call: &str, middle: &str, moves: &str) -> Vec<Vec<tiberius::Row>> {
        let mut holder = Session::open(&self.schema).await;
        let held = format!("BEGIN TRANSACTION; {middle}");
        holder.run(&held).await.expect("the row is locked");
        let call = self.spawn(call).await;
        until("the search to wait", || async {
            self.controls.blocked() == 1
        })
        .await;
        self.write(moves).await;
        holder.run("ROLLBACK TRANSACTION;").await.expect("let go");
        let answer = call.await.expect("the call ends");
        answer.expect("a row that is met twice is no error")
    }
}

fn number(sets: &[Vec<tiberius::Row>], column: &str) -> i64 {
    sets[0][0].get(column).expect("a number")
}

fn instance(id: &str, parent: &str, status: &str, created_at_ms: i64) -> String {
    format!(
        "INSERT INTO [$(schema)].instances (instance_id, orchestration_name, parent_instance_id, current_execution_id, status, custom_status_version, created_at_ms, updated_at_ms)
         VALUES (N'{id}', N'o', {parent}, 1, N'{status}', 0, {created_at_ms}, {created_at_ms});
         INSERT INTO [$(schema)].executions (instance_id, execution_id, status, event_count, started_at_ms)
         VALUES (N'{id}', 1, N'{status}', 0, {created_at_ms});"
    )
}

/// A session passes from one of the workers to another.
#[tokio::test]
async fn renew_session_lock_meets_a_session_twice() {
    let rows = "DECLARE @far BIGINT = 4102444800000;
        INSERT INTO [$(schema)].sessions (session_key, owner_id, locked_until_ms, last_activity_ms)
        VALUES (N's1', N'w0', @far, @far), (N's2', N'w0', @far, @far);";
    let scene = Scene::new(rows).await;
    let sets = scene
        .call(
            r#"renew_session_lock @owner_ids = N'["w0","w1"]', @extend_ms = 60000, @idle_timeout_ms = 60000"#,
            "UPDATE [$(schema)].sessions SET owner_id = N'w0x' WHERE session_key = N's2';",
            "UPDATE [$(schema)].sessions SET owner_id = N'w1' WHERE session_key = N's1';",
        )
        .await;
    assert_eq!(number(&sets, "renewed"), 2);
}

/// An instance ends during the search for old executions.
#[tokio::test]
async fn prune_executions_bulk_meets_an_instance_twice() {
    let rows = ["a", "b"]
        .map(|id| instance(id, "NULL", "Completed", 1))
        .concat();
    let scene = Scene::new(&rows).await;
    let second = "UPDATE [$(schema)].instances SET current_execution_id = 2 WHERE instance_id IN (N'a', N'b');
        INSERT INTO [$(schema)].executions (instance_id, execution_id, status, event_count, started_at_ms)
        VALUES (N'a', 2, N'Completed', 0, 1), (N'b', 2, N'Completed', 0, 1);";
    scene.write(second).await;
    let sets = scene
        .call(
            "prune_executions_bulk @keep_last = 1",
            "UPDATE [$(schema)].instances SET status = N'Completedx' WHERE instance_id = N'b';",
            "UPDATE [$(schema)].instances SET status = N'Running' WHERE instance_id = N'a';",
        )
        .await;
    assert_eq!(number(&sets, "instances_processed"), 2);
}

/// An instance that is deleted, created again and failed during the search.
#[tokio::test]
async fn delete_instance_bulk_meets_an_instance_twice() {
    let rows = ["a", "b"]
        .map(|id| instance(id, "NULL", "Completed", 1))
        .concat();
    let scene = Scene::new(&rows).await;
    let sets = scene
        .call(
            "delete_instance_bulk",
            "UPDATE [$(schema)].instances SET status = N'Completedx' WHERE instance_id = N'b';",
            "UPDATE [$(schema)].instances SET status = N'Failed' WHERE instance_id = N'a';",
        )
        .await;
    assert_eq!(number(&sets, "instances_deleted"), 2);
}

/// A child is deleted and comes back under another parent of the same tree.
#[tokio::test]
async fn get_instance_tree_meets_an_instance_twice() {
    let rows = [
        instance("root", "NULL", "Running", 1),
        instance("p1", "N'root'", "Running", 1),
        instance("p2", "N'root'", "Running", 1),
        instance("c1", "N'p1'", "Running", 1),
        instance("c2", "N'p1'", "Running", 1),
    ];
    let scene = Scene::new(&rows.concat()).await;
    let sets = scene
        .call(
            "get_instance_tree @instance_id = N'root'",
            "UPDATE [$(schema)].instances SET parent_instance_id = N'p1x' WHERE instance_id = N'c2';",
            "UPDATE [$(schema)].instances SET parent_instance_id = N'p2' WHERE instance_id = N'c1';",
        )
        .await;
    let ids: Vec<&str> = sets[0].iter().filter_map(|row| row.get(0)).collect();
    assert_eq!(ids, ["root", "p1", "p2", "c1", "c2"]);
}

/// The same while the tree is deleted.
#[tokio::test]
async fn delete_instance_meets_an_instance_twice() {
    let rows = [
        instance("root", "NULL", "Completed", 1),
        instance("p1", "N'root'", "Completed", 1),
        instance("p2", "N'root'", "Completed", 1),
        instance("c1", "N'p1'", "Completed", 1),
        instance("c2", "N'p1'", "Completed", 1),
    ];
    let scene = Scene::new(&rows.concat()).await;
    let sets = scene
        .call(
            "delete_instance @instance_id = N'root', @force = 0",
            "UPDATE [$(schema)].instances SET parent_instance_id = N'p1x' WHERE instance_id = N'c2';",
            "UPDATE [$(schema)].instances SET parent_instance_id = N'p2' WHERE instance_id = N'c1';",
        )
        .await;
    assert_eq!(number(&sets, "instances_deleted"), 5);
}

const KEYS: &str =
    "INSERT INTO [$(schema)].kv_delta (instance_id, kv_key, value_bytes, updated_at_ms, kv_value)
    VALUES (N'i', N'a', 1, 1, N'1');
    INSERT INTO [$(schema)].kv_delta (instance_id, kv_key, value_bytes, updated_at_ms, kv_value)
    VALUES (N'i', N'b', 1, 1, N'1');";
const HELD_KEY: &str = "UPDATE [$(schema)].kv_delta SET kv_value = N'9' WHERE kv_key = N'b';";
const KEY_AGAIN: &str = "DELETE FROM [$(schema)].kv_delta WHERE instance_id = N'i' AND kv_id = 1;
    INSERT INTO [$(schema)].kv_delta (instance_id, kv_key, value_bytes, updated_at_ms, kv_value)
    VALUES (N'i', N'a', 5, 2, N'after');";

/// A key is merged into the store and set again during the search.
#[tokio::test]
async fn get_kv_all_values_meets_a_key_twice() {
    let scene = Scene::new(KEYS).await;
    let call = "get_kv_all_values @instance_id = N'i'";
    let sets = scene.call(call, HELD_KEY, KEY_AGAIN).await;
    let mut pairs: Vec<(&str, &str)> = sets[0]
        .iter()
        .map(|row| (row.get(0).expect("a key"), row.get(1).expect("a value")))
        .collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [("a", "after"), ("b", "1")]);
}

/// The same while the keys are counted.
#[tokio::test]
async fn get_instance_stats_meets_a_key_twice() {
    let rows = format!("{}{KEYS}", instance("i", "NULL", "Running", 1));
    let scene = Scene::new(&rows).await;
    let call = "get_instance_stats @instance_id = N'i'";
    let sets = scene.call(call, HELD_KEY, KEY_AGAIN).await;
    assert_eq!(number(&sets, "kv_user_key_count"), 2);
    assert_eq!(number(&sets, "kv_total_value_bytes"), 6);
}
