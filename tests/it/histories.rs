//! A history travels once: what a provider remembers is not sent again, and is never wrong.

mod slow;
mod truth;

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::Provider;
use duroxide::{Event, EventKind};
use duroxide_sql::MssqlProvider;

use crate::support::database::TestSchema;
use crate::support::items::{LEASE, activity, event, fetch, fetch_work, metadata, start, started};
use crate::support::proxy::{Fault, Proxy};

/// A history this long is not sent whole to a process that did not write it.
const LONG: u64 = 150;

/// A schema, a proxy that counts, and providers that stand for processes.
struct Setup {
    proxy: Proxy,
    /// Remembers nothing: what it reads is the truth.
    truth: MssqlProvider,
    schema: TestSchema,
}

impl Setup {
    async fn new() -> Self {
        Self::at(TestSchema::new()).await
    }

    async fn at(schema: TestSchema) -> Self {
        let truth = schema.builder().history_cache_bytes(0).build().await;
        Self {
            proxy: Proxy::start(schema.url()).await,
            truth: truth.expect("the provider starts"),
            schema,
        }
    }

    /// A process whose requests are counted.
    async fn process(&self) -> MssqlProvider {
        self.process_with(64 * 1024 * 1024).await
    }

    async fn process_with(&self, history_cache_bytes: usize) -> MssqlProvider {
        MssqlProvider::builder(self.proxy.url(self.schema.url()))
            .schema(self.schema.name().as_str())
            .history_cache_bytes(history_cache_bytes)
            .build()
            .await
            .expect("the provider starts")
    }

    /// One turn: fetches it, compares its history with the truth, appends `events` events. Returns
    /// how many requests the fetch took.
    async fn turn(&self, process: &MssqlProvider, instance: &str, events: u64) -> u64 {
        self.truth
            .enqueue_for_orchestrator(start(instance), None)
            .await
            .unwrap();
        self.proxy.take_requests();
        let (item, token, _) = fetch(process).await.expect("the turn");
        let requests = self.proxy.take_requests();
        assert_eq!(item.instance, instance);
        assert_eq!(item.history_error, None);
        let truth = self.truth.read_with_execution(instance, item.execution_id);
        assert_eq!(item.history, truth.await.unwrap());
        let next = item.history.last().map_or(1, |event| event.event_id + 1);
        let delta = delta(instance, next, events, "turn");
        ack(process, &token, item.execution_id, delta)
            .await
            .unwrap();
        requests
    }

    /// Every way to read agrees with the truth.
    async fn assert_true(&self, process: &MssqlProvider, instance: &str) {
        let truth = self.truth.read(instance).await.unwrap();
        assert_eq!(process.read(instance).await.unwrap(), truth);
        let execution_id = truth.first().map_or(1, |event| event.execution_id);
        let read = process.read_with_execution(instance, execution_id).await;
        assert_eq!(read.unwrap(), truth);
    }
}

fn delta(instance: &str, first: u64, events: u64, value: &str) -> Vec<Event> {
    let event = |id| {
        let kind = EventKind::CustomStatusUpdated {
            status: Some(format!("{value} {id}")),
        };
        match id {
            1 => started(instance, value),
            id => event(instance, id, kind),
        }
    };
    (first..first + events).map(event).collect()
}

async fn ack(
    process: &MssqlProvider,
    token: &str,
    execution_id: u64,
    history: Vec<Event>,
) -> Result<(), duroxide::providers::ProviderError> {
    process
        .ack_orchestration_item(
            token,
            execution_id,
            history,
            vec![],
            vec![],
            metadata(),
            vec![],
        )
        .await
}

/// The longer a history gets, the less of it travels: a turn's answer is as large at the end as at
/// the beginning, and so is a client's read.
#[tokio::test]
async fn a_turn_costs_the_same_bytes_whatever_the_length_of_the_history() {
    let setup = Setup::new().await;
    let process = setup.process().await;
    let mut turns = Vec::new();
    let mut reads = Vec::new();
    for turn in 0..100 {
        setup.proxy.take_reply_bytes();
        assert_eq!(setup.turn(&process, "order", 5).await, 1, "turn {turn}");
        turns.push(setup.proxy.take_reply_bytes());
        assert_eq!(process.read("order").await.unwrap().len(), 5 * (turn + 1));
        reads.push(setup.proxy.take_reply_bytes());
    }
    setup.assert_true(&process, "order").await;
    // A few digits more in numbers and texts.
    assert!(turns[99] < turns[2] + 100, "{turns:?}");
    assert!(reads[99] < reads[2] + 100, "{reads:?}");
}

/// Switched off, everything is sent, and nothing else changes.
#[tokio::test]
async fn without_a_cache_everything_is_sent() {
    let setup = Setup::new().await;
    let process = setup.process_with(0).await;
    for _ in 0..3 {
        assert_eq!(setup.turn(&process, "order", LONG).await, 1);
    }
    setup.assert_true(&process, "order").await;
}

/// Turns that alternate between processes: each gets what the other wrote, with the fetch itself.
/// Only a process that has seen nothing of a long history needs one more call.
#[tokio::test]
async fn other_processes_catch_up() {
    let setup = Setup::new().await;
    let (one, two) = (setup.process().await, setup.process().await);
    setup.turn(&one, "short", 3).await;
    assert_eq!(setup.turn(&two, "short", 3).await, 1);
    assert_eq!(setup.turn(&one, "short", 3).await, 1);

    setup.turn(&one, "long", LONG).await;
    assert_eq!(setup.turn(&two, "long", 3).await, 2, "never seen before");
    for _ in 0..3 {
        assert_eq!(setup.turn(&one, "long", 3).await, 1);
        assert_eq!(setup.turn(&two, "long", 3).await, 1);
    }
    setup.turn(&one, "long", LONG).await;
    assert_eq!(setup.turn(&two, "long", 1).await, 2, "too far behind");
    setup.assert_true(&one, "long").await;
    setup.assert_true(&two, "long").await;
}

/// A history that was forgotten between two turns is read again, with one more call.
#[tokio::test]
async fn forgotten_history_is_read_again() {
    let setup = Setup::new().await;
    let process = setup.process_with(20_000).await;
    setup.turn(&process, "order", 10).await;
    assert_eq!(setup.turn(&process, "order", 10).await, 1, "remembered");
    for n in 0..20 {
        setup.turn(&process, &format!("other-{n}"), 10).await;
    }
    assert_eq!(setup.turn(&process, "order", 10).await, 2, "forgotten");
    setup.assert_true(&process, "order").await;
    // More than fits at all.
    setup.turn(&process, "order", LONG).await;
    assert_eq!(setup.turn(&process, "order", LONG).await, 2);
    setup.assert_true(&process, "order").await;
}

/// The one more call fails for good: the turn is given back at once instead of after its lease.
#[tokio::test]
async fn turn_whose_history_cannot_be_had_is_given_back() {
    let setup = Setup::new().await;
    let (one, two) = (setup.process().await, setup.process().await);
    setup.turn(&one, "order", LONG).await;
    setup
        .truth
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    setup
        .proxy
        .spoil("read_with_execution", Fault::Error(229, 14));
    let failed = two
        .fetch_orchestration_item(LEASE, Duration::ZERO, None)
        .await;
    assert!(failed.is_err());
    // It is given back behind the caller's back, so this may have to wait for that, but not for the lease.
    let (item, _, attempts) = two
        .fetch_orchestration_item(LEASE, LEASE / 2, None)
        .await
        .unwrap()
        .expect("nobody has to wait for the lease");
    assert_eq!((item.history.len() as u64, attempts), (LONG, 1));
}

/// The read that a worker makes right after its fetch asks nobody, in the process that wrote the
/// history and in others; a long history that a process has never seen is read once.
#[tokio::test]
async fn read_after_a_fetch_of_the_same_task_costs_nothing() {
    let setup = Arc::new(Setup::new().await);
    let (one, two) = (setup.process().await, setup.process().await);
    let (one, two) = (Arc::new(one), Arc::new(two));
    setup.turn(&one, "short", 3).await;
    setup.turn(&one, "long", LONG).await;
    for (process, instance, requests) in [
        (&one, "short", 0),
        (&two, "short", 0),
        (&one, "long", 0),
        (&two, "long", 1),
        (&two, "long", 0),
    ] {
        setup
            .truth
            .enqueue_for_worker(activity(instance, 2, ""))
            .await
            .unwrap();
        let (process, setup) = (process.clone(), setup.clone());
        let worker = tokio::spawn(async move {
            let (_, token, _) = fetch_work(&*process).await.expect("the activity");
            setup.proxy.take_requests();
            let history = process.read(instance).await.unwrap();
            assert_eq!(setup.proxy.take_requests(), requests, "{instance}");
            assert_eq!(history, setup.truth.read(instance).await.unwrap());
            // The second read is not the worker's, and wants to know what is new.
            process.read(instance).await.unwrap();
            assert_eq!(setup.proxy.take_requests(), 1);
            process.ack_work_item(&token, None).await.unwrap();
        });
        worker.await.unwrap();
    }
}

/// What a fetch of an activity found remembered may be forgotten before the read that follows: then it is read.
#[tokio::test]
async fn read_after_what_the_fetch_relied_on_is_forgotten_asks_once() {
    let setup = Arc::new(Setup::new().await);
    let process = Arc::new(setup.process_with(20_000).await);
    setup.turn(&process, "order", 10).await;
    let item = activity("order", 2, "");
    setup.truth.enqueue_for_worker(item).await.unwrap();
    let worker = tokio::spawn(async move {
        fetch_work(&*process).await.expect("the activity");
        for n in 0..20 {
            // By other tasks, as other workers would.
            let (setup, process) = (setup.clone(), process.clone());
            let other = async move { setup.turn(&process, &format!("other-{n}"), 10).await };
            tokio::spawn(other).await.unwrap();
        }
        setup.proxy.take_requests();
        let read = process.read("order").await.unwrap();
        assert_eq!(setup.proxy.take_requests(), 1);
        assert_eq!(read, setup.truth.read("order").await.unwrap());
    });
    worker.await.unwrap();
}

/// A worker's task that deletes an instance after it has fetched an activity of it reads that nothing is left.
#[tokio::test]
async fn read_after_a_deletion_by_the_same_task_asks_the_database() {
    let setup = Arc::new(Setup::new().await);
    let process = Arc::new(setup.process().await);
    for one_by_one in [true, false] {
        setup.turn(&process, "order", 3).await;
        let item = activity("order", 2, "");
        setup.truth.enqueue_for_worker(item).await.unwrap();
        let process = process.clone();
        let worker = tokio::spawn(async move {
            fetch_work(&*process).await.expect("the activity");
            let admin = process.as_management_capability().unwrap();
            let deleted = if one_by_one {
                admin.delete_instance("order", true).await
            } else {
                let ids = ["order".to_owned()];
                admin.delete_instances_atomic(&ids, true).await
            };
            assert_eq!(deleted.unwrap().instances_deleted, 1);
            process.read("order").await.unwrap()
        });
        assert_eq!(worker.await.unwrap(), [], "{one_by_one}");
    }
}
