//! A history travels once: what a provider remembers is not sent again, and is never wrong.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, Provider, ProviderAdmin, PruneOptions};
use duroxide::{Event, EventKind};
use duroxide_sql::MssqlProvider;

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{
    LEASE, activity, create, event, fetch, fetch_work, metadata, start, started,
};
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

/// A new instance under an old id has its own history, even when it looks the same from outside.
#[tokio::test]
async fn deleted_and_made_again_it_is_another_history() {
    let setup = Setup::new().await;
    let process = setup.process().await;
    let other = setup.process().await;
    setup.turn(&process, "order", 3).await;
    for value in ["second", "third"] {
        setup.truth.delete_instance("order", true).await.unwrap();
        assert!(process.read("order").await.unwrap().is_empty());
        // As many events with the same ids, by another process and by the same.
        setup
            .truth
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        let writer = if value == "second" { &other } else { &process };
        let (item, token, _) = fetch(writer).await.unwrap();
        assert!(item.history.is_empty());
        ack(writer, &token, 1, delta("order", 1, 3, value))
            .await
            .unwrap();
        setup.assert_true(&process, "order").await;
        setup.turn(&process, "order", 1).await;
        setup.assert_true(&process, "order").await;
    }
}

/// Continuing as new begins another history; pruning removes the old one. Neither is mixed up.
#[tokio::test]
async fn executions_are_not_mixed_up() {
    let setup = Setup::new().await;
    let process = setup.process().await;
    setup.turn(&process, "order", 3).await;
    setup
        .truth
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, token, _) = fetch(&process).await.unwrap();
    let mut first = started("order", "again");
    first.execution_id = 2;
    ack(&process, &token, 2, vec![first]).await.unwrap();
    setup.assert_true(&process, "order").await;
    assert_eq!(
        process.read_with_execution("order", 1).await.unwrap().len(),
        3
    );
    setup.assert_true(&process, "order").await;
    setup.turn(&process, "order", 2).await;
    let ended = ExecutionMetadata {
        status: Some("ContinuedAsNew".into()),
        ..ExecutionMetadata::default()
    };
    setup
        .truth
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, token, _) = fetch(&process).await.unwrap();
    let end = process.ack_orchestration_item(&token, 1, vec![], vec![], vec![], ended, vec![]);
    end.await.unwrap();
    let keep = PruneOptions {
        keep_last: Some(1),
        ..PruneOptions::default()
    };
    let pruned = setup.truth.prune_executions("order", keep).await.unwrap();
    assert_eq!(pruned.executions_deleted, 1);
    assert!(
        process
            .read_with_execution("order", 1)
            .await
            .unwrap()
            .is_empty()
    );
    setup.assert_true(&process, "order").await;
    assert_eq!(setup.turn(&process, "order", 1).await, 1);
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

/// A process that lost its lease in the middle of a turn has not written it, and does not believe so.
#[tokio::test]
async fn lost_lease_leaves_no_trace() {
    let server = own_server();
    let setup = Setup::at(TestSchema::at(server.connection_string())).await;
    let (one, two) = (setup.process().await, setup.process().await);
    setup.turn(&one, "order", 3).await;
    setup
        .truth
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, lost, _) = fetch(&one).await.unwrap();
    server.controls().advance(LEASE + Duration::from_millis(1));
    let (_, token, _) = fetch(&two).await.expect("the lease has ended");
    assert!(
        ack(&one, &lost, 1, delta("order", 4, 2, "lost"))
            .await
            .is_err()
    );
    setup.assert_true(&one, "order").await;
    ack(&two, &token, 1, delta("order", 4, 2, "won"))
        .await
        .unwrap();
    assert!(
        ack(&one, &lost, 1, delta("order", 4, 2, "lost"))
            .await
            .is_err()
    );
    setup.assert_true(&one, "order").await;
    setup.turn(&one, "order", 1).await;
}

/// The answer to an ack is lost: committed or not, the next turn has the truth.
#[tokio::test]
async fn ack_of_unknown_outcome_is_not_believed() {
    for fault in [Fault::CutAfter, Fault::CutBefore] {
        let setup = Setup::new().await;
        let process = setup.process().await;
        setup.turn(&process, "order", 3).await;
        setup
            .truth
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        let (_, token, _) = fetch(&process).await.unwrap();
        setup.proxy.spoil("ack_orchestration_item", fault);
        let acked = ack(&process, &token, 1, delta("order", 4, 2, "unknown")).await;
        assert_eq!(acked.is_ok(), fault == Fault::CutBefore, "{acked:?}");
        assert_eq!(setup.truth.read("order").await.unwrap().len(), 5);
        setup.turn(&process, "order", 2).await;
        setup.assert_true(&process, "order").await;
    }
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

/// Events that do not come at the end, or come outside a turn, are missing from no memory.
#[tokio::test]
async fn events_in_between_are_noticed() {
    let setup = Setup::new().await;
    let process = setup.process().await;
    create(&process, "order").await;
    let append = |id| {
        let events = delta("order", id, 1, "between");
        setup.truth.append_with_execution("order", 1, events)
    };
    setup.turn(&process, "order", 2).await;
    append(9).await.unwrap();
    setup.assert_true(&process, "order").await;
    append(5).await.unwrap();
    setup.assert_true(&process, "order").await;
    // Between a turn's fetch and its ack.
    setup
        .truth
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, token, _) = fetch(&process).await.unwrap();
    append(11).await.unwrap();
    ack(&process, &token, 1, delta("order", 12, 2, "turn"))
        .await
        .unwrap();
    setup.assert_true(&process, "order").await;
    // A turn that fills a gap, and whose events are not in order.
    setup
        .truth
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, token, _) = fetch(&process).await.unwrap();
    let mut events = delta("order", 7, 2, "gap");
    events.reverse();
    ack(&process, &token, 1, events).await.unwrap();
    setup.assert_true(&process, "order").await;
    setup.turn(&process, "order", 1).await;
    setup.assert_true(&process, "order").await;
}

/// A database that lost its last commits, as a forced failover may, and went on differently.
#[tokio::test]
async fn commits_that_the_database_lost_are_not_remembered() {
    let setup = Setup::new().await;
    let (one, two) = (setup.process().await, setup.process().await);
    for events in [3, LONG] {
        let instance = format!("order-{events}");
        setup.turn(&two, &instance, events).await;
        setup.turn(&one, &instance, 3).await;
        let lose = format!(
            "DELETE FROM [$(schema)].history WHERE instance_id = N'{instance}' AND event_id > {events};"
        );
        setup.schema.sql(&lose).await;
        setup.assert_true(&one, &instance).await;
        setup.turn(&two, &instance, 3).await;
        setup.assert_true(&one, &instance).await;
        setup.turn(&one, &instance, 1).await;
        setup.assert_true(&one, &instance).await;
    }
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

/// What a process has once returned it does not take back: reads never go backwards.
#[tokio::test]
async fn reads_never_go_backwards() {
    let setup = Arc::new(Setup::new().await);
    let process = Arc::new(setup.process().await);
    let writer = setup.process().await;
    setup.turn(&writer, "order", 3).await;
    setup
        .truth
        .enqueue_for_worker(activity("order", 2, ""))
        .await
        .unwrap();
    let (go, gone) = (
        tokio::sync::oneshot::channel(),
        tokio::sync::oneshot::channel(),
    );
    let reader = process.clone();
    let worker = tokio::spawn(async move {
        fetch_work(&*reader).await.expect("the activity");
        go.0.send(()).unwrap();
        gone.1.await.unwrap();
        reader.read("order").await.unwrap().len()
    });
    go.1.await.unwrap();
    setup.turn(&writer, "order", 3).await;
    assert_eq!(process.read("order").await.unwrap().len(), 6);
    gone.0.send(()).unwrap();
    assert_eq!(worker.await.unwrap(), 6, "not the three of the fetch");
}

/// Whatever three processes do to a few instances, each sees the truth at every step.
#[tokio::test]
async fn any_mixture_of_turns_and_deletions_is_seen_as_it_is() {
    let setup = Setup::new().await;
    let processes = [
        setup.process().await,
        setup.process().await,
        setup.process_with(15_000).await,
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for step in 0..250_u64 {
        let instance = format!("order-{}", random(3));
        let process = &processes[random(3) as usize];
        match random(8) {
            0 => drop(setup.truth.delete_instance(&instance, true).await),
            1 => setup.assert_true(process, &instance).await,
            2 => {
                let last = setup.truth.read(&instance).await.unwrap();
                if let Some(last) = last.last() {
                    let id = last.event_id + 1 + random(2);
                    let events = delta(&instance, id, 1, &format!("outside {step}"));
                    let appended = setup.truth.append_with_execution(&instance, 1, events);
                    appended.await.unwrap();
                }
            }
            _ => drop(setup.turn(process, &instance, random(40)).await),
        }
    }
    for process in &processes {
        for n in 0..3 {
            setup.assert_true(process, &format!("order-{n}")).await;
        }
    }
}
