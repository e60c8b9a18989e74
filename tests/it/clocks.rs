//! The database's clock is the only one: leases end by it, and clients may be an hour off.

use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, Provider, SessionFetchConfig, TagFilter, WorkItem};
use mssql_embedded::Trigger;

use crate::support::checker;
use crate::support::database::{TestSchema, own_server};
use crate::support::items::{
    LEASE, activity, completed, create, fetch, fetch_work, metadata, start, started,
};
use crate::support::session::Session;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// A worker that stalls past its lease loses the item, even when nobody else has asked for it.
#[tokio::test]
async fn leases_that_ended_are_lost() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    provider
        .enqueue_for_worker(activity("order", 2, ""))
        .await
        .unwrap();
    let (_, turn, _) = fetch(&provider).await.unwrap();
    let (_, work, _) = fetch_work(&provider).await.unwrap();
    server.controls().advance(LEASE + Duration::from_millis(1));

    let refused = [
        provider.renew_orchestration_item_lock(&turn, LEASE).await,
        provider.renew_work_item_lock(&work, LEASE).await,
        provider
            .ack_work_item(&work, Some(completed("order", 2, "")))
            .await,
        provider
            .ack_orchestration_item(
                &turn,
                1,
                vec![started("order", "")],
                vec![],
                vec![],
                metadata(),
                vec![],
            )
            .await,
    ];
    for result in refused {
        assert!(!result.unwrap_err().is_retryable());
    }
    assert!(provider.read("order").await.unwrap().is_empty());
    let (_, _, attempts) = fetch(&provider).await.expect("the turn is free again");
    assert_eq!(attempts, 2);
    let (_, _, attempts) = fetch_work(&provider).await.expect("the item is free again");
    assert_eq!(attempts, 2);
}

/// A renewal extends a lease from the moment it is made, and never shortens it.
#[tokio::test]
async fn renewals_extend_and_never_shorten() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    provider
        .enqueue_for_worker(activity("order", 2, ""))
        .await
        .unwrap();
    let (_, turn, _) = fetch(&provider).await.unwrap();
    let (_, work, _) = fetch_work(&provider).await.unwrap();
    for _ in 0..3 {
        server.controls().advance(LEASE - Duration::from_secs(1));
        provider
            .renew_orchestration_item_lock(&turn, LEASE)
            .await
            .unwrap();
        provider.renew_work_item_lock(&work, LEASE).await.unwrap();
    }
    provider
        .renew_orchestration_item_lock(&turn, Duration::from_millis(1))
        .await
        .unwrap();
    provider
        .renew_work_item_lock(&work, Duration::from_millis(1))
        .await
        .unwrap();
    server.controls().advance(LEASE - Duration::from_secs(1));
    assert!(fetch(&provider).await.is_none());
    assert!(fetch_work(&provider).await.is_none());
    provider
        .renew_orchestration_item_lock(&turn, LEASE)
        .await
        .unwrap();
    provider.renew_work_item_lock(&work, LEASE).await.unwrap();
}

/// A timer and a delayed message become visible when the database's clock says so.
#[tokio::test]
async fn timers_become_visible_by_the_clock_of_the_database() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let fire_at_ms = server.controls().now_ms().cast_unsigned() + 5 * HOUR_MS.cast_unsigned();
    let timer = WorkItem::TimerFired {
        instance: "order".into(),
        execution_id: 1,
        id: 2,
        fire_at_ms,
    };
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, token, _) = fetch(&provider).await.expect("a turn that sets the timer");
    let timers = vec![timer.clone()];
    let ack =
        provider.ack_orchestration_item(&token, 1, vec![], vec![], timers, metadata(), vec![]);
    ack.await.unwrap();
    assert!(fetch(&provider).await.is_none());
    server
        .controls()
        .advance(Duration::from_secs(5 * 60 * 60 - 1));
    assert!(fetch(&provider).await.is_none());
    server.controls().advance(Duration::from_secs(1));
    let (item, _, _) = fetch(&provider).await.expect("the timer is due");
    assert_eq!(item.messages, [timer]);
}

/// A timer that is enqueued by itself is visible at once, or after the delay that is given with it, whatever
/// time it carries.
#[tokio::test]
async fn enqueued_timer_obeys_the_delay_alone() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let timer = |id| WorkItem::TimerFired {
        instance: "order".into(),
        execution_id: 1,
        id,
        fire_at_ms: server.controls().now_ms().cast_unsigned() + HOUR_MS.cast_unsigned(),
    };
    let (first, second) = (timer(2), timer(3));
    let enqueued = provider.enqueue_for_orchestrator(first.clone(), None);
    enqueued.await.unwrap();
    let (item, token, _) = fetch(&provider).await.expect("visible at once");
    assert_eq!(item.messages, [first]);
    let ack =
        provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
    ack.await.unwrap();
    let delay = Some(Duration::from_secs(10));
    let enqueued = provider.enqueue_for_orchestrator(second.clone(), delay);
    enqueued.await.unwrap();
    assert!(fetch(&provider).await.is_none());
    server.controls().advance(Duration::from_secs(10));
    let (item, ..) = fetch(&provider).await.expect("after the delay");
    assert_eq!(item.messages, [second]);
}

/// Clients whose clock is an hour off hold and lose their leases like everybody else.
#[tokio::test]
async fn clock_of_the_client_does_not_matter() {
    for shift in [-HOUR_MS, HOUR_MS] {
        let server = own_server();
        server.controls().shift_utc(shift);
        let schema = TestSchema::at(server.connection_string());
        let provider = schema.provider().await;
        create(&provider, "order").await;
        provider
            .enqueue_for_worker(activity("order", 2, ""))
            .await
            .unwrap();
        let session = SessionFetchConfig {
            owner_id: "w".into(),
            lock_timeout: LEASE,
        };
        let fetched = provider
            .fetch_work_item(LEASE, Duration::ZERO, Some(&session), &TagFilter::Any)
            .await
            .unwrap();
        let (_, work, _) = fetched.expect("visible at once");
        assert!(
            fetch_work(&provider).await.is_none(),
            "{shift}: the lease holds"
        );
        provider
            .ack_work_item(&work, Some(completed("order", 2, "")))
            .await
            .unwrap();
        let (_, turn, _) = fetch(&provider)
            .await
            .expect("the completion is visible at once");
        assert!(fetch(&provider).await.is_none(), "{shift}: the lease holds");
        let ack =
            provider.ack_orchestration_item(&turn, 1, vec![], vec![], vec![], metadata(), vec![]);
        ack.await.unwrap();
    }
}

/// The server's clock is set back during a turn, as after a failover to a machine that is behind:
/// the turn's messages are still those that it was given.
#[tokio::test]
async fn clock_that_is_set_back_during_a_turn_does_not_repeat_its_messages() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    create(&provider, "order").await;
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, turn, _) = fetch(&provider).await.expect("the message");
    server.controls().shift_utc(-HOUR_MS);
    provider
        .abandon_orchestration_item(&turn, None, true)
        .await
        .unwrap();
    server.controls().shift_utc(HOUR_MS);
    let (_, turn, attempts) = fetch(&provider).await.expect("the message, given back");
    assert_eq!(attempts, 1, "the attempt did not count");

    server.controls().shift_utc(-HOUR_MS);
    let ack = provider.ack_orchestration_item(&turn, 1, vec![], vec![], vec![], metadata(), vec![]);
    ack.await.unwrap();
    server.controls().shift_utc(HOUR_MS);
    assert!(fetch(&provider).await.is_none(), "the message is gone");
}

/// Turns look for messages from where the last one left off. A message that the clock, set back, puts before that is
/// found all the same: of an instance that is free or held, from a client or from another turn.
#[tokio::test]
async fn messages_of_a_clock_that_is_set_back_are_found() {
    for (is_held, by_turn) in [(false, false), (false, true), (true, false), (true, true)] {
        let what = format!("held: {is_held}, by a turn: {by_turn}");
        let server = own_server();
        let schema = TestSchema::at(server.connection_string());
        let provider = schema.provider().await;
        for instance in ["order", "sender"] {
            create(&provider, instance).await;
        }
        let mut turns = Vec::new();
        for instance in ["order", "sender"] {
            provider
                .enqueue_for_orchestrator(completed(instance, 2, ""), None)
                .await
                .unwrap();
            turns.push(fetch(&provider).await.expect("the turn").1);
        }
        let ack = |turn: String, messages: Vec<WorkItem>| {
            let provider = &provider;
            async move {
                let none = ExecutionMetadata::default();
                let ack = provider.ack_orchestration_item(
                    &turn,
                    1,
                    vec![],
                    vec![],
                    messages,
                    none,
                    vec![],
                );
                ack.await.unwrap();
            }
        };
        if !is_held {
            ack(turns[0].clone(), vec![]).await;
        }
        server.controls().shift_utc(-HOUR_MS);
        let message = completed("order", 3, "late");
        if by_turn {
            ack(turns[1].clone(), vec![message]).await;
        } else {
            provider
                .enqueue_for_orchestrator(message, None)
                .await
                .unwrap();
        }
        if is_held {
            ack(turns[0].clone(), vec![]).await;
        }
        let mut session = Session::open(&schema).await;
        assert_eq!(
            checker::promises(&mut session).await,
            Vec::<String>::new(),
            "{what}"
        );
        let (item, ..) = fetch(&provider).await.expect(&what);
        assert_eq!(item.instance, "order", "{what}");
        assert_eq!(item.messages.len(), 1, "{what}");
    }
}

/// The same of a turn's messages when the clock is set back between the turn's locks and its messages.
#[tokio::test]
async fn clock_that_is_set_back_during_an_ack_loses_no_message() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    for instance in ["order", "sender"] {
        create(&provider, instance).await;
    }
    for instance in ["order", "sender"] {
        provider
            .enqueue_for_orchestrator(completed(instance, 2, ""), None)
            .await
            .unwrap();
    }
    let (_, order, _) = fetch(&provider).await.expect("the receiver's turn");
    let (_, sender, _) = fetch(&provider).await.expect("the sender's turn");
    let locked = Trigger::statement()
        .of("ack_orchestration_item")
        .containing("@lease_end_ms = l.");
    let pause = server.controls().pause(locked);
    let none = ExecutionMetadata::default;
    let messages = vec![completed("order", 3, "late")];
    let ack = provider.ack_orchestration_item(&sender, 1, vec![], vec![], messages, none(), vec![]);
    let (done, ()) = tokio::join!(ack, async {
        pause.paused().await;
        server.controls().shift_utc(-HOUR_MS);
        pause.release();
    });
    done.unwrap();
    let ack = provider.ack_orchestration_item(&order, 1, vec![], vec![], vec![], none(), vec![]);
    ack.await.unwrap();
    let mut session = Session::open(&schema).await;
    assert_eq!(checker::promises(&mut session).await, Vec::<String>::new());
    server.controls().shift_utc(HOUR_MS);
    let (item, ..) = fetch(&provider).await.expect("the message");
    assert_eq!(item.messages.len(), 1);
}

/// What is given back with a delay by a clock that was set back lies before all that the turn left, and is found.
#[tokio::test]
async fn delay_of_a_clock_that_is_set_back_is_kept_and_ends() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    create(&provider, "order").await;
    provider
        .enqueue_for_orchestrator(completed("order", 2, ""), None)
        .await
        .unwrap();
    let (_, turn, _) = fetch(&provider).await.expect("the turn");
    server.controls().shift_utc(-HOUR_MS);
    let delay = Duration::from_secs(60);
    provider
        .abandon_orchestration_item(&turn, Some(delay), false)
        .await
        .unwrap();
    assert!(fetch(&provider).await.is_none(), "the delay lasts");
    let mut session = Session::open(&schema).await;
    assert_eq!(checker::promises(&mut session).await, Vec::<String>::new());
    server.controls().advance(delay);
    assert!(fetch(&provider).await.is_some(), "the delay is over");
}
