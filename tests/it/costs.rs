//! A fetch costs the same with a thousand rows waiting and with a million.

use duroxide::providers::Provider;
use mssql_embedded::{Controls, Server};

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{activity, fetch, fetch_work, metadata, start};

/// Waiting rows at which the costs are compared.
const SIZES: [u32; 3] = [1_000, 100_000, 1_000_000];

struct Setup {
    schema: TestSchema,
    controls: Controls,
    // Stops when everything that uses it is gone.
    _server: Server,
}

fn setup() -> Setup {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    Setup {
        schema,
        controls: server.controls(),
        _server: server,
    }
}

impl Setup {
    /// Rows read by the calls of a procedure during `work`.
    async fn rows_read<T>(&self, procedure: &str, work: impl Future<Output = T>) -> (u64, T) {
        let before = self.controls.counters();
        let result = work.await;
        let cost = self.controls.counters().since(&before).of(procedure);
        assert_eq!(cost.calls, 1, "{procedure}");
        (cost.stats.rows_read, result)
    }

    /// Brings the number of rows from `from` to `to`, a power of ten, with an INSERT that selects
    /// from `$(numbers)`.
    fn fill(&self, from: u32, to: u32, insert: &str) {
        let values = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
        let digits = to.ilog10();
        let tables: Vec<_> = (0..digits)
            .map(|k| format!("{values} AS d{k}(d)"))
            .collect();
        let terms: Vec<_> = (0..digits)
            .map(|k| format!("{} * d{k}.d", 10_u32.pow(k)))
            .collect();
        let number = terms.join(" + ");
        let numbers = format!(
            "(SELECT {number} AS n FROM {} WHERE {number} >= {from} AND {number} < {to}) AS x",
            tables.join(" CROSS JOIN ")
        );
        let batch = insert
            .replace("[$(schema)]", &self.schema.name().quoted())
            .replace("$(numbers)", &numbers);
        self.controls.execute("master", &batch).unwrap();
    }
}

/// Half of the instances wait for a timer, half are held by others.
const WAITING_INSTANCES: &str = "
    INSERT INTO [$(schema)].instance_locks
        (instance_id, lane, not_before_ms, lock_token, pinned_version)
    SELECT CONCAT(N'waiting-', x.n), -1, 8000000000000000 + x.n,
           CASE WHEN x.n % 2 = 0 THEN NULL ELSE NEWID() END, -1
    FROM   $(numbers);
    INSERT INTO [$(schema)].orchestrator_queue
        (instance_id, visible_at_ms, kind, lock_token, attempt_count, payload)
    SELECT CONCAT(N'waiting-', x.n), 8000000000000000 + x.n, N'TimerFired', NULL, 0, N'{}'
    FROM   $(numbers);";

/// Half of the items are delayed, half are held by others.
const WAITING_ITEMS: &str = "
    INSERT INTO [$(schema)].worker_queue
        (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms,
         enqueued_at_ms, lock_token, attempt_count, payload)
    SELECT N'waiting', 1, x.n, N'', N'', 8000000000000000 + x.n, 0,
           CASE WHEN x.n % 2 = 0 THEN NULL ELSE NEWID() END, 0, N'{}'
    FROM   $(numbers);";

fn assert_flat(what: &str, costs: &[u64]) {
    println!("{what}: {costs:?} rows read with {SIZES:?} rows waiting");
    assert!(
        costs.iter().all(|cost| *cost == costs[0]),
        "{what} grows: {costs:?}"
    );
}

/// A fetch reads the same few rows whatever waits or is held.
#[tokio::test]
async fn orchestration_fetch_costs_the_same_at_any_backlog() {
    let setup = setup();
    let provider = setup.schema.provider().await;
    let (mut empty, mut found, mut have) = (Vec::new(), Vec::new(), 0);
    // The very first has no floor yet.
    assert!(fetch(&provider).await.is_none());
    for size in SIZES {
        setup.fill(have, size, WAITING_INSTANCES);
        have = size;
        let name = "fetch_orchestration_item";
        let (rows, item) = setup.rows_read(name, fetch(&provider)).await;
        assert!(item.is_none());
        empty.push(rows);
        let instance = format!("ready-{size}");
        provider
            .enqueue_for_orchestrator(start(&instance), None)
            .await
            .unwrap();
        let (rows, item) = setup.rows_read(name, fetch(&provider)).await;
        let (item, token, _) = item.expect("one is ready");
        assert_eq!(item.instance, instance);
        found.push(rows);
        let ack =
            provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
        ack.await.unwrap();
    }
    assert_flat("empty orchestration fetch", &empty);
    assert_flat("orchestration fetch", &found);
}

/// The same for work items.
#[tokio::test]
async fn worker_fetch_costs_the_same_at_any_backlog() {
    let setup = setup();
    let provider = setup.schema.provider().await;
    let (mut empty, mut found, mut have) = (Vec::new(), Vec::new(), 0);
    assert!(fetch_work(&provider).await.is_none());
    for size in SIZES {
        setup.fill(have, size, WAITING_ITEMS);
        have = size;
        let (rows, item) = setup
            .rows_read("fetch_work_item", fetch_work(&provider))
            .await;
        assert!(item.is_none());
        empty.push(rows);
        provider
            .enqueue_for_worker(activity("ready", 1, ""))
            .await
            .unwrap();
        let (rows, item) = setup
            .rows_read("fetch_work_item", fetch_work(&provider))
            .await;
        let (_, token, _) = item.expect("one is ready");
        found.push(rows);
        provider.ack_work_item(&token, None).await.unwrap();
    }
    assert_flat("empty worker fetch", &empty);
    assert_flat("worker fetch", &found);
}
