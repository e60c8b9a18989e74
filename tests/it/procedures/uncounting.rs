//! The attempts of claims that nobody had are taken off. What the claim that holds an item accounts for stays.

use std::time::Duration;

use crate::support::database::{TestSchema, own_server};
use crate::support::session::Session;

fn token(letter: char) -> String {
    let letters = |n| letter.to_string().repeat(n);
    format!("{}-{}-4000-8000-{}", letters(8), letters(4), letters(12))
}

struct Bench {
    session: Session,
    // Before the server, which it needs for going away.
    _schema: TestSchema,
    server: mssql_embedded::Server,
}

impl Bench {
    async fn new() -> Self {
        let server = own_server();
        let schema = TestSchema::at(server.connection_string());
        drop(schema.provider().await);
        let session = Session::open(&schema).await;
        Self {
            session,
            _schema: schema,
            server,
        }
    }

    async fn call(&mut self, call: &str) {
        let done = self.session.run(&format!("EXEC [$(schema)].{call};")).await;
        done.unwrap_or_else(|number| panic!("{number} from {call}"));
    }

    async fn post(&mut self, payload: &str) {
        let kind = "@kind = N'StartOrchestration'";
        self.call(&format!(
            "enqueue_for_orchestrator @instance_id = N'i', {kind}, @payload = N'{payload}'"
        ))
        .await;
    }

    async fn claim(&mut self, call: &str, letter: char) {
        // Every claim comes after the end of the one before it.
        self.server.controls().advance(Duration::from_secs(61));
        self.call(&format!(
            "{call} @lock_token = N'{}', @lock_timeout_ms = 60000",
            token(letter)
        ))
        .await;
    }

    /// The attempts of all items of a table, in the order of their arrival.
    async fn attempts(&mut self, table: &str) -> String {
        let id = if table == "worker_queue" {
            "work_id"
        } else {
            "queue_id"
        };
        let text = format!("SELECT q.attempt_count FROM [$(schema)].{table} AS q ORDER BY q.{id};");
        let sets = self.session.run(&text).await.expect("the counts");
        let counts = sets[0]
            .iter()
            .map(|row| row.get::<i32, _>(0).expect("a count").to_string());
        counts.collect::<Vec<_>>().join(" ")
    }
}

#[tokio::test]
async fn turn_counts_as_tried_by_those_who_had_it() {
    let mut bench = Bench::new().await;
    let uncount = format!(
        "uncount_orchestration_item @lock_token = N'{}:i'",
        token('a')
    );
    bench.post("m1").await;
    bench.claim("fetch_orchestration_item", 'a').await;
    bench.post("m2").await;
    bench.claim("fetch_orchestration_item", 'b').await;
    assert_eq!(bench.attempts("orchestrator_queue").await, "2 1");
    bench.call(&uncount).await;
    assert_eq!(bench.attempts("orchestrator_queue").await, "1 1");
    bench.call(&uncount).await;
    assert_eq!(
        bench.attempts("orchestrator_queue").await,
        "1 1",
        "that is held"
    );
    bench.claim("fetch_orchestration_item", 'c').await;
    let abandon = format!(
        "abandon_orchestration_item @lock_token = N'{}:i'",
        token('c')
    );
    bench.call(&abandon).await;
    assert_eq!(bench.attempts("orchestrator_queue").await, "2 2");
    bench.post("m3").await;
    for left in ["1 1 0", "0 0 0", "0 0 0"] {
        bench.call(&uncount).await;
        assert_eq!(bench.attempts("orchestrator_queue").await, left);
    }
    bench.claim("fetch_orchestration_item", 'd').await;
    bench.claim("fetch_orchestration_item", 'e').await;
    let abandon = format!(
        "abandon_orchestration_item @lock_token = N'{}:i', @delay_ms = 60000",
        token('e')
    );
    bench.call(&abandon).await;
    assert_eq!(bench.attempts("orchestrator_queue").await, "2 2 2");
    bench.call(&uncount).await;
    for unknown in ["N'x'", "NULL", "N'aaaaaaaa-aaaa-4000-8000-aaaaaaaaaaaa:j'"] {
        let call = format!("uncount_orchestration_item @lock_token = {unknown}");
        bench.call(&call).await;
    }
    let counts = bench.attempts("orchestrator_queue").await;
    assert_eq!(counts, "1 1 1", "also what is put off");
}

#[tokio::test]
async fn activity_counts_as_tried_by_those_who_had_it() {
    let mut bench = Bench::new().await;
    let item = |id: u64| {
        format!(
            r#"{{"instance_id":"i","execution_id":1,"activity_id":{id},"session_id":null,"tag":null,"payload":"p"}}"#
        )
    };
    bench
        .call(&format!(
            "enqueue_for_worker @worker_items = N'[{}]'",
            item(1)
        ))
        .await;
    let work_id = "SELECT MAX(q.work_id) AS n FROM [$(schema)].worker_queue AS q;";
    let work_id = bench.session.number(work_id).await;
    let of = |letter| format!("@lock_token = N'{}:{work_id}'", token(letter));
    let uncount = format!("uncount_work_item {}", of('a'));
    let fetch = "fetch_work_item @include_untagged = 1,";
    bench.claim(fetch, 'a').await;
    bench.claim(fetch, 'b').await;
    bench
        .call(&format!(
            "enqueue_for_worker @worker_items = N'[{}]'",
            item(2)
        ))
        .await;
    assert_eq!(bench.attempts("worker_queue").await, "2 0");
    for _ in 0..2 {
        bench.call(&uncount).await;
        assert_eq!(bench.attempts("worker_queue").await, "1 0", "that is held");
    }
    bench.call(&format!("abandon_work_item {}", of('b'))).await;
    for _ in 0..2 {
        bench.call(&uncount).await;
        assert_eq!(bench.attempts("worker_queue").await, "0 0");
    }
    for unknown in ["N'x'", "NULL"] {
        let call = format!("uncount_work_item @lock_token = {unknown}");
        bench.call(&call).await;
    }
    assert_eq!(bench.attempts("worker_queue").await, "0 0");
}
