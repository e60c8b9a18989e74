//! Two or more sessions at once: exactly one wins, and nobody waits for what is not theirs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::Provider;

use crate::support::database::{BOTH, TestSchema, connect, own_server};
use crate::support::items::{
    LEASE, activity, completed, create, fetch, fetch_work, metadata, start, started,
};

/// Forty fetchers at ten instances: each instance goes to one of them, and none is overlooked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_instance_is_claimed_exactly_once() {
    for reads in BOTH {
        let schema = TestSchema::on(reads);
        let provider = Arc::new(schema.provider().await);
        for n in 0..10 {
            provider
                .enqueue_for_orchestrator(start(&format!("order-{n}")), None)
                .await
                .unwrap();
        }
        let fetchers: Vec<_> = (0..40)
            .map(|_| {
                let provider = provider.clone();
                tokio::spawn(async move { fetch(&*provider).await.map(|(item, ..)| item.instance) })
            })
            .collect();
        let mut claimed = Vec::new();
        for fetcher in fetchers {
            claimed.extend(fetcher.await.unwrap());
        }
        let distinct: HashSet<_> = claimed.iter().collect();
        assert_eq!((claimed.len(), distinct.len()), (10, 10), "{reads:?}");
    }
}

/// Work items likewise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_work_item_is_claimed_exactly_once() {
    for reads in BOTH {
        let schema = TestSchema::on(reads);
        let provider = Arc::new(schema.provider().await);
        for id in 1..=10 {
            provider
                .enqueue_for_worker(activity("order", id, &id.to_string()))
                .await
                .unwrap();
        }
        let fetchers: Vec<_> = (0..40)
            .map(|_| {
                let provider = provider.clone();
                tokio::spawn(async move { fetch_work(&*provider).await.map(|(_, token, _)| token) })
            })
            .collect();
        let mut claimed = Vec::new();
        for fetcher in fetchers {
            claimed.extend(fetcher.await.unwrap());
        }
        let distinct: HashSet<_> = claimed.iter().collect();
        assert_eq!((claimed.len(), distinct.len()), (10, 10), "{reads:?}");
    }
}

/// A message that is being touched by somebody else does not hold up the others.
#[tokio::test]
async fn fetch_steps_over_an_instance_that_another_session_has_locked() {
    for reads in BOTH {
        let schema = TestSchema::on(reads);
        let provider = schema.provider().await;
        for instance in ["first", "second"] {
            provider
                .enqueue_for_orchestrator(start(instance), None)
                .await
                .unwrap();
        }
        let mut other = connect(schema.url()).await;
        let lock = format!(
            "BEGIN TRANSACTION; UPDATE {}.instance_locks SET lock_token = lock_token \
             WHERE instance_id = N'first';",
            schema.name().quoted()
        );
        other
            .simple_query(lock)
            .await
            .unwrap()
            .into_results()
            .await
            .unwrap();
        let fetched = tokio::time::timeout(Duration::from_secs(20), fetch(&provider)).await;
        let (item, _, _) = fetched
            .expect("fetch does not wait")
            .expect("there is other work");
        assert_eq!(item.instance, "second", "{reads:?}");
        other
            .simple_query("ROLLBACK;")
            .await
            .unwrap()
            .into_results()
            .await
            .unwrap();
        let (item, _, _) = fetch(&provider).await.expect("the first is free again");
        assert_eq!(item.instance, "first");
    }
}

/// A message that arrives during a turn is neither lost with the ack nor delivered twice.
#[tokio::test]
async fn message_that_arrives_during_a_turn_starts_the_next_one() {
    for reads in BOTH {
        let schema = TestSchema::on(reads);
        let provider = schema.provider().await;
        provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        let (_, token, _) = fetch(&provider).await.unwrap();
        provider
            .enqueue_for_orchestrator(completed("order", 2, "x"), None)
            .await
            .unwrap();
        assert!(fetch(&provider).await.is_none());
        let history = vec![started("order", "")];
        let ack =
            provider.ack_orchestration_item(&token, 1, history, vec![], vec![], metadata(), vec![]);
        ack.await.unwrap();
        let (turn, _, _) = fetch(&provider).await.expect("the message is still there");
        assert_eq!(turn.messages, [completed("order", 2, "x")]);
        assert!(fetch(&provider).await.is_none());
    }
}

/// Acks, renewals and messages for the same instances, all at once, without a deadlock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_acks_renewals_and_messages_do_not_deadlock() {
    for reads in BOTH {
        let schema = TestSchema::on(reads);
        let provider = Arc::new(schema.provider().await);
        let tasks: Vec<_> = (0..TASKS)
            .map(|n| {
                let provider = provider.clone();
                tokio::spawn(async move {
                    let mut turns = 0;
                    for round in 0..ROUNDS {
                        turns += u64::from(one_turn(&*provider, n, round).await);
                    }
                    turns
                })
            })
            .collect();
        let mut turns = 0;
        for task in tasks {
            turns += task.await.unwrap();
        }
        // Each fetches once what it has enqueued is there, so a fetch that finds nothing is the exception: all that was
        // free was locked by others at that moment.
        assert!(turns > TASKS * ROUNDS / 2, "{reads:?}: {turns} turns");
        let left = "SELECT COUNT(*) FROM [$(schema)].instance_locks WHERE lock_token IS NOT NULL;";
        assert_eq!(schema.number(left).await, 0, "{reads:?}");
    }
}

/// How many are at it, and how often each.
const TASKS: u64 = 8;
const ROUNDS: u64 = 5;

/// Whatever turn comes up is renewed, gets another message for a neighbour, and is committed. Whether one came up.
async fn one_turn(provider: &dyn Provider, n: u64, round: u64) -> bool {
    let instance = format!("order-{n}-{round}");
    provider
        .enqueue_for_orchestrator(start(&instance), None)
        .await
        .unwrap();
    let Some((item, token, _)) = fetch(provider).await else {
        return false;
    };
    let (renewed, sent) = tokio::join!(
        provider.renew_orchestration_item_lock(&token, LEASE),
        provider.enqueue_for_orchestrator(completed(&item.instance, 9, ""), None),
    );
    renewed.unwrap();
    sent.unwrap();
    let history = if item.history.is_empty() {
        vec![started(&item.instance, "")]
    } else {
        vec![]
    };
    let messages = vec![completed(
        &format!("order-{}-{round}", (n + 1) % TASKS),
        7,
        "",
    )];
    let ack =
        provider.ack_orchestration_item(&token, 1, history, vec![], messages, metadata(), vec![]);
    ack.await.unwrap();
    true
}

/// An instance deleted in the middle of a turn: the ack finds its lease gone.
#[tokio::test]
async fn ack_after_deletion_is_refused() {
    for reads in BOTH {
        let schema = TestSchema::on(reads);
        let provider = schema.provider().await;
        create(&provider, "order").await;
        provider
            .enqueue_for_orchestrator(completed("order", 2, ""), None)
            .await
            .unwrap();
        let (_, token, _) = fetch(&provider).await.unwrap();
        let admin = provider.as_management_capability().unwrap();
        admin.delete_instance("order", true).await.unwrap();
        let ack =
            provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
        assert!(!ack.await.unwrap_err().is_retryable());
        assert!(provider.read("order").await.unwrap().is_empty());
    }
}

/// A slow reader of a large answer holds no locks: the answer is sent after the commit.
#[tokio::test]
async fn answer_that_is_not_read_blocks_nobody() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let (provider, controls) = (schema.provider().await, server.controls());
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let pause = controls.pause(mssql_embedded::Trigger::response().of("fetch_orchestration_item"));
    let waiting = fetch(&provider);
    let others = async {
        while controls.counters().of("enqueue_for_orchestrator").calls < 2 {
            let other = schema.provider().await;
            let message = other.enqueue_for_orchestrator(start("order"), None);
            let done = tokio::time::timeout(Duration::from_secs(10), message).await;
            done.expect("nobody waits for the reader").unwrap();
        }
        pause.release();
    };
    let (item, ()) = tokio::join!(waiting, others);
    assert!(item.is_some());
}
