//! Connections that break and servers that are busy: the caller learns the truth, and the state
//! is exactly as before the call or exactly as after it.

use std::future::Future;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use duroxide::Client;
use duroxide::OrchestrationContext;
use duroxide::providers::{Provider, TagFilter, WorkItem};
use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide_sql::MssqlProvider;
use mssql_embedded::SqlError;

use crate::support::database::{
    SnapshotReads, TestSchema, in_both_settings, own_server, own_server_with,
};
use crate::support::items::{
    LEASE, activity, completed, create, fetch, fetch_work, metadata, start, started,
};
use crate::support::proxied::{Setup, setup};
use crate::support::proxy::Fault;
use crate::support::random::Random;
use crate::support::runtime::{PATIENCE, echo_activities};
use crate::support::wait;

const DEADLOCK: Fault = Fault::Error(1205, 13);
const UNAVAILABLE: Fault = Fault::Error(40613, 17);
/// What a server says that has lost the database to another, and what nobody has heard of.
const MOVED: [Fault; 4] = [
    Fault::Error(3906, 16),
    Fault::Error(976, 14),
    Fault::Error(983, 14),
    Fault::Error(777_777, 16),
];

impl Setup {
    async fn turn(&self) -> String {
        self.provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        fetch(&self.provider).await.expect("the message is ready").1
    }

    async fn ack(&self, token: &str) -> Result<(), duroxide::providers::ProviderError> {
        let (history, work) = (vec![started("order", "")], vec![activity("order", 2, "")]);
        self.provider
            .ack_orchestration_item(token, 1, history, work, vec![], metadata(), vec![])
            .await
    }

    /// Rows that the first turn leaves: one event, one work item, no message, no lease.
    async fn is_acked(&self) -> bool {
        let count = |table: &str| format!("SELECT COUNT(*) FROM [$(schema)].{table};");
        let mut counts = Vec::new();
        for table in ["history", "worker_queue", "orchestrator_queue"] {
            counts.push(self.schema.number(&count(table)).await);
        }
        match counts[..] {
            [1, 1, 0] => true,
            [0, 0, 1] => false,
            _ => panic!("neither before nor after: {counts:?}"),
        }
    }
}

/// Nothing was done, so the ack is repeated and succeeds.
#[tokio::test]
async fn orchestration_ack_survives_failures_that_changed_nothing() {
    for fault in [Fault::CutBefore, DEADLOCK, UNAVAILABLE]
        .into_iter()
        .chain(MOVED)
    {
        let setup = setup().await;
        let token = setup.turn().await;
        setup.proxy.spoil("ack_orchestration_item", fault);
        setup
            .ack(&token)
            .await
            .unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert!(setup.is_acked().await);
    }
}

/// The answer got lost: the repeated ack finds the lease gone, and the turn was committed once.
#[tokio::test]
async fn orchestration_ack_with_a_lost_answer_is_committed_once() {
    let setup = setup().await;
    let token = setup.turn().await;
    setup.proxy.spoil("ack_orchestration_item", Fault::CutAfter);
    let error = setup.ack(&token).await.unwrap_err();
    assert!(!error.is_retryable(), "{error}");
    assert!(error.message.contains("Invalid lock token"), "{error}");
    assert!(setup.is_acked().await);
}

#[tokio::test]
async fn worker_ack_survives_failures_that_changed_nothing() {
    for fault in [Fault::CutBefore, DEADLOCK, UNAVAILABLE]
        .into_iter()
        .chain(MOVED)
    {
        let setup = setup().await;
        create(&setup.provider, "order").await;
        setup
            .provider
            .enqueue_for_worker(activity("order", 2, ""))
            .await
            .unwrap();
        let (_, token, _) = fetch_work(&setup.provider).await.unwrap();
        setup.proxy.spoil("ack_work_item", fault);
        let done = setup
            .provider
            .ack_work_item(&token, Some(completed("order", 2, "x")))
            .await;
        done.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        let (turn, _, _) = fetch(&setup.provider)
            .await
            .expect("the completion is ready");
        assert_eq!(turn.messages.len(), 1);
    }
}

#[tokio::test]
async fn worker_ack_with_a_lost_answer_completes_once() {
    let setup = setup().await;
    create(&setup.provider, "order").await;
    setup
        .provider
        .enqueue_for_worker(activity("order", 2, ""))
        .await
        .unwrap();
    let (_, token, _) = fetch_work(&setup.provider).await.unwrap();
    setup.proxy.spoil("ack_work_item", Fault::CutAfter);
    let done = setup
        .provider
        .ack_work_item(&token, Some(completed("order", 2, "x")))
        .await;
    assert!(!done.unwrap_err().is_retryable());
    let (turn, _, _) = fetch(&setup.provider)
        .await
        .expect("the completion is ready");
    assert_eq!(turn.messages.len(), 1);
    assert!(fetch_work(&setup.provider).await.is_none());
}

/// A renewal that fails for a moment must not look like a lost lease.
#[tokio::test]
async fn renewals_survive_every_passing_failure() {
    for fault in [Fault::CutBefore, Fault::CutAfter, DEADLOCK, UNAVAILABLE]
        .into_iter()
        .chain(MOVED)
    {
        let setup = setup().await;
        let provider = &setup.provider;
        let token = setup.turn().await;
        setup.proxy.spoil("renew_orchestration_item_lock", fault);
        provider
            .renew_orchestration_item_lock(&token, LEASE)
            .await
            .unwrap();
        provider
            .enqueue_for_worker(activity("order", 2, ""))
            .await
            .unwrap();
        let (_, token, _) = fetch_work(provider).await.unwrap();
        setup.proxy.spoil("renew_work_item_lock", fault);
        provider.renew_work_item_lock(&token, LEASE).await.unwrap();
    }
}

/// A fetch that certainly did nothing is repeated; otherwise the caller hears of it, and the
/// item comes back at the latest when its lease ends.
#[tokio::test]
async fn fetches_never_lose_an_item() {
    for fault in [Fault::CutBefore, Fault::CutAfter, DEADLOCK, UNAVAILABLE] {
        let is_repeated = fault == DEADLOCK;
        // What nobody got comes back soon. What somebody gets is no use to him when its lease is over.
        let lease = if is_repeated {
            LEASE
        } else {
            Duration::from_millis(300)
        };
        let setup = setup().await;
        let provider = &setup.provider;
        provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        provider
            .enqueue_for_worker(activity("order", 2, ""))
            .await
            .unwrap();
        setup.proxy.spoil("fetch_orchestration_item", fault);
        setup.proxy.spoil("fetch_work_item", fault);
        let turn = provider
            .fetch_orchestration_item(lease, Duration::ZERO, None)
            .await;
        let filter = TagFilter::default();
        let work = provider
            .fetch_work_item(lease, Duration::ZERO, None, &filter)
            .await;
        if is_repeated {
            assert!(turn.unwrap().is_some() && work.unwrap().is_some());
            continue;
        }
        assert!(turn.unwrap_err().is_retryable(), "{fault:?}");
        assert!(work.unwrap_err().is_retryable(), "{fault:?}");
        wait::until("the message came back", || async {
            fetch(provider).await.is_some()
        })
        .await;
        wait::until("the work came back", || async {
            fetch_work(provider).await.is_some()
        })
        .await;
    }
}

/// While a database of Azure moves, every login gets a service error. No request was sent, so an event, which
/// must not be sent twice, is sent again.
#[tokio::test]
async fn event_survives_logins_that_are_refused_for_a_moment() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let controls = server.controls();
    let moving = SqlError::with(40613, 17, 1, "the database is not currently available");
    controls.refuse_logins(Some(moving));
    for spid in controls.sessions() {
        controls.kill(spid);
    }
    let paid = WorkItem::ExternalRaised {
        instance: "order".to_owned(),
        name: "paid".to_owned(),
        data: "7".to_owned(),
    };
    let (sent, ()) = tokio::join!(provider.enqueue_for_orchestrator(paid, None), async {
        // Shorter than such a call is repeated, and longer than a login takes.
        tokio::time::sleep(Duration::from_millis(300)).await;
        controls.refuse_logins(None);
    });
    sent.unwrap();
    let (turn, _, _) = fetch(&provider).await.expect("the event is there");
    assert_eq!(turn.messages.len(), 1);
}

/// How many calls are dropped in each setting: a thousand in all.
const DROPPED: usize = 500;
/// Far less than the leases: a claim that is not given back is missed.
const PROMPT: Duration = Duration::from_secs(20);

in_both_settings! {
    dropped_calls_do_not_disturb_the_next_ones,
}

/// Drops calls before their end.
struct Dropper {
    random: Random,
    dropped: usize,
}

impl Dropper {
    /// Begins a call, and drops it at a random moment, or when it has been waited for so many times. Its
    /// answer, if that came first.
    async fn drop<F: Future>(&mut self, call: F) -> Option<F::Output> {
        let mut call = std::pin::pin!(call);
        let answer = if self.random.below(2) == 0 {
            let moment = Duration::from_micros(self.random.below(3_000));
            tokio::time::timeout(moment, call).await.ok()
        } else {
            let mut waits = self.random.below(4);
            let limited = std::future::poll_fn(|context| match call.as_mut().poll(context) {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                Poll::Pending if waits == 0 => Poll::Ready(None),
                Poll::Pending => {
                    waits -= 1;
                    Poll::Pending
                }
            });
            limited.await
        };
        self.dropped += usize::from(answer.is_none());
        answer
    }
}

/// Fetches, renewals, reads and acks of both queues, dropped at as many moments: the next call is right
/// and prompt, although the leases are long and nobody closes anything.
async fn dropped_calls_do_not_disturb_the_next_ones(reads: SnapshotReads) {
    let server = own_server_with(reads);
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    let seed = 0x2545_F491_4F6C_DD1D + u64::from(reads == SnapshotReads::On);
    let (random, dropped) = (Random::new(seed), 0);
    let mut dropper = Dropper { random, dropped };
    let mut rounds = 0;
    while dropper.dropped < DROPPED {
        rounds += 1;
        let instance = format!("order-{rounds}");
        drop_turn(&provider, &mut dropper, &instance).await;
        drop_work(&provider, &mut dropper, &instance).await;
    }
    println!("{reads:?}: {DROPPED} calls were dropped in {rounds} rounds");
    wait::until("no transaction is open", || async {
        let open = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type <> N'DATABASE';";
        schema.number(open).await == 0
    })
    .await;
}

/// Something so large that sending it takes several steps, so that it can be dropped between them.
fn large(dropper: &mut Dropper) -> String {
    "x".repeat(dropper.random.below(400_000) as usize)
}

/// The first turn of an instance, which schedules an activity.
async fn drop_turn(provider: &MssqlProvider, dropper: &mut Dropper, instance: &str) {
    let sent = provider.enqueue_for_orchestrator(start(instance), None);
    sent.await.unwrap();
    // Whether it was dropped before, during or after the claim, the item must come back.
    let fetched = provider.fetch_orchestration_item(LEASE, Duration::ZERO, None);
    if let Some(fetched) = dropper.drop(fetched).await {
        let (_, token, _) = fetched.unwrap().expect("the message is ready");
        let returned = provider.abandon_orchestration_item(&token, None, true);
        returned.await.unwrap();
    }
    dropper.drop(provider.read(instance)).await;
    assert!(provider.read(instance).await.unwrap().is_empty());
    let fetched = provider.fetch_orchestration_item(LEASE, PROMPT, None).await;
    let (item, token, attempts) = fetched.unwrap().expect("given back");
    assert_eq!((item.instance.as_str(), attempts), (instance, 1));
    let renewal = provider.renew_orchestration_item_lock(&token, LEASE);
    dropper.drop(renewal).await;
    let input = large(dropper);
    let ack = || {
        let (history, work) = (vec![started(instance, &input)], activity(instance, 2, ""));
        provider.ack_orchestration_item(&token, 1, history, vec![work], vec![], metadata(), vec![])
    };
    dropper.drop(ack()).await;
    // The dropped ack may still be on its way in the server; the lease decides between both.
    let again = ack().await;
    let history = provider.read(instance).await.unwrap();
    assert_eq!(history.len(), 1, "{again:?}");
    assert!(fetch(provider).await.is_none());
}

/// The activity of an instance, and the turn that its completion starts.
async fn drop_work(provider: &MssqlProvider, dropper: &mut Dropper, instance: &str) {
    let tags = TagFilter::default();
    let fetched = provider.fetch_work_item(LEASE, Duration::ZERO, None, &tags);
    if let Some(fetched) = dropper.drop(fetched).await {
        let (_, token, _) = fetched.unwrap().expect("the activity is ready");
        let returned = provider.abandon_work_item(&token, None, true);
        returned.await.unwrap();
    }
    let reading = provider.read_with_execution(instance, 1);
    dropper.drop(reading).await;
    let fetched = provider.fetch_work_item(LEASE, PROMPT, None, &tags).await;
    let (item, token, attempts) = fetched.unwrap().expect("given back");
    assert_eq!((item, attempts), (activity(instance, 2, ""), 1));
    let renewal = provider.renew_work_item_lock(&token, LEASE);
    dropper.drop(renewal).await;
    let done = completed(instance, 2, &large(dropper));
    let ack = || provider.ack_work_item(&token, Some(done.clone()));
    dropper.drop(ack()).await;
    let again = ack().await;
    assert!(fetch_work(provider).await.is_none());
    let (item, token, _) = fetch(provider).await.expect("the completion");
    assert_eq!(item.messages, [done], "{again:?}");
    let ack =
        provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
    ack.await.unwrap();
}

/// A workflow finishes although every tenth request loses its connection.
#[tokio::test]
async fn runtime_finishes_its_workflows_over_a_bad_line() {
    let setup = setup().await;
    let store = Arc::new(setup.provider);
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Sequence",
            |ctx: OrchestrationContext, _: String| async move {
                let mut log = String::new();
                for step in 0..5 {
                    log += &ctx.schedule_activity("Echo", step.to_string()).await?;
                }
                Ok(log)
            },
        )
        .build();
    let options = RuntimeOptions {
        orchestrator_lock_timeout: Duration::from_secs(2),
        worker_lock_timeout: Duration::from_secs(2),
        ..RuntimeOptions::default()
    };
    let runtime =
        Runtime::start_with_options(store.clone(), echo_activities(), orchestrations, options)
            .await;
    let client = Client::new(store);
    for n in 0..5 {
        client
            .start_orchestration(&format!("order-{n}"), "Sequence", "")
            .await
            .unwrap();
    }
    setup.proxy.cut_every(Some(10));
    for n in 0..5 {
        let instance = format!("order-{n}");
        let deadline = Instant::now() + PATIENCE;
        let output = loop {
            assert!(Instant::now() < deadline, "{instance} did not finish");
            // The client's own requests are cut as well.
            match client.wait_for_orchestration(&instance, PATIENCE).await {
                Ok(OrchestrationStatus::Completed { output, .. }) => break output,
                Ok(other) => panic!("{other:?}"),
                Err(_) => continue,
            }
        };
        assert_eq!(output, "01234");
    }
    setup.proxy.cut_every(None);
    runtime.shutdown(None).await;
}
