//! Purges: what is not deleted is not read, a call ends by itself, and says whether more is left.

use std::time::Duration;

use duroxide::providers::{InstanceFilter, Provider, PruneOptions};
use mssql_embedded::Server;
use tiberius::Row;
use tokio::task::JoinHandle;

use super::Session;
use crate::support::database::{TestSchema, own_server};

/// The numbers from 0 to 9,999.
pub(super) const NUMBERS: &str = "(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n
      FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS a(d)
      CROSS JOIN (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS b(d)
      CROSS JOIN (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS c(d)
      CROSS JOIN (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS e(d)) AS x";

/// Instances `from` to `to`, created and completed in the order of their numbers, each with one
/// execution of one event. `columns` are parent and status.
pub(super) fn instances(prefix: &str, from: u32, to: u32, columns: &str) -> String {
    let range = format!("FROM {NUMBERS} WHERE x.n >= {from} AND x.n < {to}");
    let id = format!("CONCAT(N'{prefix}', x.n)");
    format!(
        "INSERT INTO [$(schema)].instances (instance_id, orchestration_name, orchestration_version, parent_instance_id, status, current_execution_id, custom_status, custom_status_version, created_at_ms, updated_at_ms)
         SELECT {id}, N'o', N'1', {columns}, 1, NULL, 0, 1000 + x.n, 0 {range};
         INSERT INTO [$(schema)].executions (instance_id, execution_id, status, output, pinned_version, event_count, started_at_ms, completed_at_ms)
         SELECT {id}, 1, N'Completed', NULL, NULL, 1, 0, 2000 + x.n {range};
         INSERT INTO [$(schema)].history (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)
         SELECT {id}, 1, 1, NEWID(), 1, N'x' {range};"
    )
}

pub(super) struct Setup {
    pub(super) session: Session,
    pub(super) schema: TestSchema,
    pub(super) server: Server,
}

pub(super) async fn setup() -> Setup {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    drop(schema.provider().await);
    Setup {
        session: Session::open(&schema).await,
        schema,
        server,
    }
}

impl Setup {
    /// Calls a procedure: the row it returns, and the rows it read.
    pub(super) async fn call(&mut self, procedure: &str, arguments: &str) -> (Row, u64) {
        let before = self.server.controls().counters();
        let call = format!("EXEC [$(schema)].{procedure} {arguments};");
        let mut sets = self.session.run(&call).await.expect("the call runs");
        let row = sets.pop().and_then(|mut rows| rows.pop()).expect("a row");
        let cost = self.server.controls().counters().since(&before);
        (row, cost.of(procedure).stats.rows_read)
    }

    /// Writes rows. The server itself does, so that no client gives up on a slow machine.
    pub(super) fn write(&self, batch: &str) {
        let batch = batch.replace("[$(schema)]", &self.schema.name().quoted());
        let result = self.server.controls().execute("master", &batch);
        result.expect("the rows are written");
    }

    /// The time of every call is over soon after it began.
    pub(super) fn hours_that_fly(&self) -> JoinHandle<()> {
        let clock = self.server.controls();
        tokio::spawn(async move {
            loop {
                clock.advance(Duration::from_secs(3_600));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    }

    pub(super) async fn exists(&mut self, instance: &str) -> bool {
        let sql = "SELECT COUNT(*) FROM [$(schema)].instances WHERE instance_id = ";
        self.session.number(&format!("{sql}N'{instance}';")).await == 1
    }
}

fn deleted(row: &Row) -> (i64, bool) {
    let count = row.get::<i64, _>("instances_deleted").expect("a count");
    (count, row.get("has_more").expect("a flag"))
}

/// A hundred instances cost the same among a thousand and among ten thousand, also when children of
/// running parents have ended and when younger ones may not be deleted yet.
#[tokio::test]
async fn deletion_reads_what_it_deletes() {
    let mut setup = setup().await;
    let mut costs = Vec::new();
    for (from, to) in [(0, 1_000), (1_000, 10_000)] {
        let roots = instances("root", from, to, "NULL, N'Completed'");
        setup.write(&roots);
        let children = instances("child", from / 10, to / 10, "N'parent', N'Completed'");
        setup.write(&children);
        for arguments in ["@limit = 100", "@limit = 100, @completed_before_ms = 2500"] {
            let (row, rows_read) = setup.call("delete_instance_bulk", arguments).await;
            assert_eq!(deleted(&row), (100, true), "{arguments}");
            costs.push(rows_read);
        }
    }
    println!("rows read for 100 instances of 1,000 and of 10,000: {costs:?}");
    assert_eq!(costs[0..2], costs[2..4]);
    assert!(!setup.exists("root399").await && setup.exists("root400").await);
    assert!(setup.exists("child0").await, "oldest first");
}

#[tokio::test]
async fn deletion_says_whether_more_is_left() {
    let mut setup = setup().await;
    let roots = instances("root", 0, 10, "NULL, N'Failed'");
    setup.write(&roots);
    let steps = [
        ("@limit = 3", (3, true)),
        // The time is over after the first.
        ("@budget_ms = 0", (1, true)),
        (
            "@instance_ids = N'[\"root9\",\"root8\",\"root99\"]', @limit = 1",
            (1, true),
        ),
        ("@completed_before_ms = 2006", (2, false)),
        ("@limit = 3", (3, false)),
        ("@budget_ms = 0", (0, false)),
    ];
    for (arguments, expected) in steps {
        let (row, _) = setup.call("delete_instance_bulk", arguments).await;
        assert_eq!(deleted(&row), expected, "{arguments}");
    }
    assert!(!setup.exists("root9").await);
}

/// The search is bounded like the rest: a call whose time is over before it has found anything says where to go on, and the
/// provider does.
#[tokio::test]
async fn pruning_goes_on_behind_instances_that_have_nothing_to_prune() {
    let mut setup = setup().await;
    setup.write(&instances("plain", 0, 3_500, "NULL, N'Completed'"));
    setup.write(&instances("eternal", 4_000, 4_001, "NULL, N'Running'"));
    setup.write("INSERT INTO [$(schema)].executions (instance_id, execution_id, status, output, pinned_version, event_count, started_at_ms, completed_at_ms)
                 VALUES (N'eternal4000', 2, N'Running', NULL, NULL, 0, 0, NULL);
                 UPDATE [$(schema)].instances SET current_execution_id = 2 WHERE instance_id = N'eternal4000';");
    // Of a list as well, what is older than the place where a call goes on is not its business.
    let listed = "@instance_ids = N'[\"eternal4000\"]', @keep_last = 1";
    let (row, _) = setup
        .call(
            "prune_executions_bulk",
            &format!("{listed}, @from_ms = 5001"),
        )
        .await;
    assert_eq!(row.get::<i64, _>("instances_processed"), Some(0));
    let (mut from_ms, mut calls) = (0, 0);
    loop {
        let arguments = format!("@keep_last = 1, @budget_ms = 0, @from_ms = {from_ms}");
        let (row, rows_read) = setup.call("prune_executions_bulk", &arguments).await;
        assert!(rows_read < 3_100, "{rows_read} rows for a page");
        calls += 1;
        if row.get::<i64, _>("instances_processed") == Some(1) {
            break;
        }
        assert_eq!(row.get::<bool, _>("has_more"), Some(true));
        from_ms = row.get::<i64, _>("next_ms").expect("a place");
    }
    assert_eq!(calls, 4);
    setup.write("UPDATE [$(schema)].instances SET current_execution_id = 3 WHERE instance_id = N'eternal4000';
                 INSERT INTO [$(schema)].executions (instance_id, execution_id, status, output, pinned_version, event_count, started_at_ms, completed_at_ms)
                 VALUES (N'eternal4000', 3, N'Running', NULL, NULL, 0, 0, NULL);
                 UPDATE [$(schema)].executions SET status = N'ContinuedAsNew', completed_at_ms = 1 WHERE instance_id = N'eternal4000' AND execution_id = 2;");
    let provider = setup.schema.provider().await;
    let hours = setup.hours_that_fly();
    let admin = provider.as_management_capability().unwrap();
    let options = PruneOptions {
        keep_last: Some(1),
        completed_before: None,
    };
    let pruned = admin.prune_executions_bulk(InstanceFilter::default(), options);
    let pruned = pruned.await.unwrap();
    hours.abort();
    assert_eq!(
        (pruned.instances_processed, pruned.executions_deleted),
        (1, 1)
    );
}

/// Instances without old executions do not stand in the way of those that have some, and each call goes on
/// where the last one ended.
#[tokio::test]
async fn pruning_passes_over_instances_that_have_nothing_to_prune() {
    let mut setup = setup().await;
    let plain = instances("plain", 0, 50, "NULL, N'Completed'");
    setup.write(&plain);
    let eternal = instances("eternal", 100, 103, "NULL, N'Running'");
    setup.write(&eternal);
    setup
        .session
        .run("INSERT INTO [$(schema)].executions (instance_id, execution_id, status, output, pinned_version, event_count, started_at_ms, completed_at_ms)
              SELECT e.instance_id, v.n, CASE v.n WHEN 3 THEN N'Running' ELSE N'ContinuedAsNew' END, NULL, NULL, 0, 0, 5000
              FROM [$(schema)].executions AS e CROSS JOIN (VALUES (2), (3)) AS v(n)
              WHERE e.instance_id LIKE N'eternal%';
              UPDATE [$(schema)].instances SET current_execution_id = 3 WHERE instance_id LIKE N'eternal%';")
        .await
        .unwrap();
    for expected in [(2, 2, true), (1, 1, false), (0, 0, false)] {
        let (row, _) = setup
            .call("prune_executions_bulk", "@limit = 2, @keep_last = 2")
            .await;
        let count = |column| row.get::<i64, _>(column).expect("a count");
        let pruned = (
            count("instances_processed"),
            count("executions_deleted"),
            row.get::<bool, _>("has_more").expect("a flag"),
        );
        assert_eq!(pruned, expected);
    }
    let provider = setup.schema.provider().await;
    let admin = provider.as_management_capability().unwrap();
    let options = PruneOptions {
        keep_last: Some(1),
        completed_before: None,
    };
    let pruned = admin
        .prune_executions_bulk(InstanceFilter::default(), options)
        .await
        .unwrap();
    assert_eq!(
        (pruned.instances_processed, pruned.executions_deleted),
        (3, 3)
    );
    assert_eq!(admin.list_executions("eternal101").await.unwrap(), [3]);
}
