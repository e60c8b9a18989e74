//! The methods of the provider, each with what must be there before it is called.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use duroxide::providers::{
    ExecutionMetadata, InstanceFilter, Provider, ProviderAdmin, ProviderError, PruneOptions,
    ScheduledActivityIdentifier, SessionFetchConfig, TagFilter, WorkItem,
};
use duroxide::{Event, EventKind};
use duroxide_sql::MssqlProvider;

use crate::support::items::{LEASE, activity, completed, event, metadata, start, started};

/// What there is before the call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Setup {
    Nothing,
    Message,
    /// A turn that is held, of an instance with an activity.
    Turn,
    /// An instance that has had its first turn.
    Idle,
    /// An activity in a session.
    Activity,
    /// The same, held.
    Leased,
    /// A session that has ended, and has no work.
    Expired,
    Ended,
    /// Two executions, the second ended.
    Twice,
}

/// A call that is about to be made.
pub(super) struct Caller {
    pub(super) store: Arc<MssqlProvider>,
    pub(super) token: String,
}

pub(super) type Made = Pin<Box<dyn Future<Output = Result<(), ProviderError>> + Send>>;

pub(super) struct Method {
    pub(super) procedure: &'static str,
    pub(super) setup: Setup,
    pub(super) call: Box<dyn Fn(Caller) -> Made>,
}

impl Method {
    /// Settles a lease: whoever repeats it when it was done already hears that the lease is gone.
    pub(super) fn settles(&self) -> bool {
        self.procedure.starts_with("ack_") || self.procedure.starts_with("abandon_")
    }

    /// Whether doing it twice does no harm, though it shows: the runtime heeds the first start.
    pub(super) fn may_come_twice(&self) -> bool {
        self.procedure == "enqueue_for_orchestrator" && matches!(self.setup, Setup::Nothing)
    }
}

pub(super) fn method<F, Fut>(procedure: &'static str, setup: Setup, call: F) -> Method
where
    F: Fn(Caller) -> Fut + 'static,
    Fut: Future<Output = Result<(), ProviderError>> + Send + 'static,
{
    Method {
        procedure,
        setup,
        call: Box::new(move |caller| Box::pin(call(caller))),
    }
}

/// The first turn's events, made once, because they say when they were made.
pub(super) static EVENTS: LazyLock<Vec<Event>> = LazyLock::new(|| {
    let (key, value) = ("k".to_owned(), "v".to_owned());
    let set = EventKind::KeyValueSet {
        key,
        value,
        last_updated_at_ms: 1,
    };
    let status = Some("c".to_owned());
    let says = EventKind::CustomStatusUpdated { status };
    vec![started("i", ""), event("i", 2, set), event("i", 3, says)]
});

pub(super) fn with_session(id: u64) -> WorkItem {
    match activity("i", id, "") {
        WorkItem::ActivityExecute {
            instance,
            execution_id,
            id,
            name,
            input,
            tag,
            ..
        } => WorkItem::ActivityExecute {
            instance,
            execution_id,
            id,
            name,
            input,
            session_id: Some("s".to_owned()),
            tag,
        },
        other => other,
    }
}

pub(super) fn ended(status: &str) -> ExecutionMetadata {
    ExecutionMetadata {
        status: Some(status.to_owned()),
        output: Some("o".to_owned()),
        ..metadata()
    }
}

pub(super) fn paid() -> WorkItem {
    WorkItem::ExternalRaised {
        instance: "i".to_owned(),
        name: "paid".to_owned(),
        data: "7".to_owned(),
    }
}

pub(super) async fn fetch_work(store: &MssqlProvider) -> Result<Option<String>, ProviderError> {
    let session = SessionFetchConfig {
        owner_id: "w".to_owned(),
        lock_timeout: LEASE,
    };
    let tags = TagFilter::default();
    let fetched = store.fetch_work_item(LEASE, Duration::ZERO, Some(&session), &tags);
    Ok(fetched.await?.map(|(_, token, _)| token))
}

/// The calls that change something.
pub(super) fn writers() -> Vec<Method> {
    let keep_one = || PruneOptions {
        keep_last: Some(1),
        ..PruneOptions::default()
    };
    vec![
        method("enqueue_for_orchestrator", Setup::Nothing, |c| async move {
            c.store.enqueue_for_orchestrator(start("i"), None).await
        }),
        method("enqueue_for_orchestrator", Setup::Idle, |c| async move {
            c.store.enqueue_for_orchestrator(paid(), None).await
        }),
        method("fetch_orchestration_item", Setup::Message, |c| async move {
            let fetched = c
                .store
                .fetch_orchestration_item(LEASE, Duration::ZERO, None);
            fetched.await.map(drop)
        }),
        method("ack_orchestration_item", Setup::Turn, |c| async move {
            let work = vec![activity("i", 5, ""), with_session(6)];
            let cancelled = ScheduledActivityIdentifier {
                instance: "i".to_owned(),
                execution_id: 1,
                activity_id: 2,
            };
            let (events, sent) = (EVENTS.clone(), vec![start("child")]);
            let (token, end) = (&c.token, ended("Completed"));
            let cancelled = vec![cancelled];
            let acked = c
                .store
                .ack_orchestration_item(token, 1, events, work, sent, end, cancelled);
            acked.await
        }),
        method("abandon_orchestration_item", Setup::Turn, |c| async move {
            let abandoned = c
                .store
                .abandon_orchestration_item(&c.token, Some(LEASE), true);
            abandoned.await
        }),
        method(
            "renew_orchestration_item_lock",
            Setup::Turn,
            |c| async move { c.store.renew_orchestration_item_lock(&c.token, LEASE).await },
        ),
        method("enqueue_for_worker", Setup::Idle, |c| async move {
            c.store.enqueue_for_worker(with_session(2)).await
        }),
        method("fetch_work_item", Setup::Activity, |c| async move {
            fetch_work(&c.store).await.map(drop)
        }),
        method("ack_work_item", Setup::Leased, |c| async move {
            let done = Some(completed("i", 2, "x"));
            c.store.ack_work_item(&c.token, done).await
        }),
        method("abandon_work_item", Setup::Leased, |c| async move {
            c.store.abandon_work_item(&c.token, Some(LEASE), true).await
        }),
        method("renew_work_item_lock", Setup::Leased, |c| async move {
            c.store.renew_work_item_lock(&c.token, LEASE).await
        }),
        method("renew_session_lock", Setup::Leased, |c| async move {
            let renewed = c.store.renew_session_lock(&["w"], LEASE, LEASE);
            renewed.await.map(drop)
        }),
        method(
            "cleanup_orphaned_sessions",
            Setup::Expired,
            |c| async move { c.store.cleanup_orphaned_sessions(LEASE).await.map(drop) },
        ),
        method("append_with_execution", Setup::Idle, |c| async move {
            let mut more = EVENTS[2].clone();
            more.event_id = 4;
            c.store.append_with_execution("i", 1, vec![more]).await
        }),
        method("delete_instance", Setup::Ended, |c| async move {
            c.store.delete_instance("i", true).await.map(drop)
        }),
        method("delete_instances_atomic", Setup::Ended, |c| async move {
            let ids = ["i".to_owned()];
            c.store.delete_instances_atomic(&ids, true).await.map(drop)
        }),
        method("delete_instance_bulk", Setup::Ended, |c| async move {
            let all = InstanceFilter::default();
            c.store.delete_instance_bulk(all).await.map(drop)
        }),
        method("prune_executions", Setup::Twice, move |c| async move {
            c.store.prune_executions("i", keep_one()).await.map(drop)
        }),
        method("prune_executions_bulk", Setup::Twice, move |c| async move {
            let all = InstanceFilter::default();
            let pruned = c.store.prune_executions_bulk(all, keep_one());
            pruned.await.map(drop)
        }),
    ]
}

macro_rules! readers {
    ($($procedure:literal: |$store:ident| $call:expr,)*) => {
        vec![$(method($procedure, Setup::Idle, |c| async move {
            let $store = c.store;
            $call.await.map(drop)
        }),)*]
    };
}

pub(super) fn methods() -> Vec<Method> {
    let readers = readers![
        "read": |p| p.read("i"),
        "read": |p| p.read_history("i"),
        "read_with_execution": |p| p.read_with_execution("i", 1),
        "read_with_execution": |p| p.read_history_with_execution_id("i", 1),
        "get_custom_status": |p| p.get_custom_status("i", 0),
        "get_kv_value": |p| p.get_kv_value("i", "k"),
        "get_kv_all_values": |p| p.get_kv_all_values("i"),
        "get_instance_stats": |p| p.get_instance_stats("i"),
        "list_instances": |p| p.list_instances(),
        "list_instances_by_status": |p| p.list_instances_by_status("Running"),
        "list_executions": |p| p.list_executions("i"),
        "latest_execution_id": |p| p.latest_execution_id("i"),
        "get_instance_info": |p| p.get_instance_info("i"),
        "get_execution_info": |p| p.get_execution_info("i", 1),
        "get_system_metrics": |p| p.get_system_metrics(),
        "get_queue_depths": |p| p.get_queue_depths(),
        "list_children": |p| p.list_children("i"),
        "get_parent_id": |p| p.get_parent_id("i"),
        "get_instance_tree": |p| p.get_instance_tree("i"),
    ];
    writers().into_iter().chain(readers).collect()
}
