//! What a process remembers of a history is never wrong, whoever else writes to it.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, Provider, ProviderAdmin, PruneOptions};

use super::{LONG, Setup, ack, delta};
use crate::support::database::{TestSchema, own_server};
use crate::support::items::{LEASE, activity, create, fetch, fetch_work, start, started};
use crate::support::proxy::Fault;

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

/// A worker's read is answered from memory; not from one that goes on where the database no longer does, whether a turn came
/// in between or not.
#[tokio::test]
async fn workers_do_not_read_what_the_database_lost() {
    let setup = Arc::new(Setup::new().await);
    let process = Arc::new(setup.process().await);
    for turn_in_between in [false, true] {
        let instance = format!("order-{turn_in_between}");
        setup.turn(&process, &instance, 3).await;
        setup.turn(&process, &instance, 5).await;
        let lose = format!(
            "DELETE FROM [$(schema)].history WHERE instance_id = N'{instance}' AND event_id > 3;"
        );
        setup.schema.sql(&lose).await;
        if turn_in_between {
            setup.turn(&process, &instance, 1).await;
        }
        let item = activity(&instance, 2, "");
        setup.truth.enqueue_for_worker(item).await.unwrap();
        let reader = process.clone();
        let read = tokio::spawn(async move {
            let (_, token, _) = fetch_work(&*reader).await.expect("the activity");
            let read = reader.read(&instance).await.unwrap();
            reader.ack_work_item(&token, None).await.unwrap();
            (instance, read)
        });
        let (instance, read) = read.await.unwrap();
        assert_eq!(read, setup.truth.read(&instance).await.unwrap());
        setup.assert_true(&process, &instance).await;
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
