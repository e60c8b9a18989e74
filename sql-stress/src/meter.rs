//! A provider that counts and times the calls of another.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, OrchestrationItem, Provider, ProviderAdmin,
    ProviderError, ScheduledActivityIdentifier, SessionFetchConfig, TagFilter, WorkItem,
};
use duroxide::{Event, SystemStats};
use parking_lot::Mutex;

use crate::model::Operation;
use crate::recorder::{Recorder, Times};

type Answer<T> = Result<T, ProviderError>;

/// The calls of one method.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// How often.
    pub calls: u64,
    /// For a fetch: how often with work.
    pub found: Option<u64>,
    /// How often it failed.
    pub errors: u64,
    times: Times,
}

/// Passes every call on and counts it. The runtime and the client get one each, so that their calls
/// can be told apart.
pub struct Meter {
    inner: Arc<dyn Provider>,
    caller: &'static str,
    recorder: Arc<Recorder>,
    tallies: Mutex<BTreeMap<&'static str, Tally>>,
}

impl Meter {
    /// Counts the calls of `caller`; failed calls go to the recorder, too.
    pub fn new(inner: Arc<dyn Provider>, caller: &'static str, recorder: Arc<Recorder>) -> Self {
        Self {
            inner,
            caller,
            recorder,
            tallies: Mutex::default(),
        }
    }

    /// The calls of a method so far.
    #[must_use]
    pub fn tally(&self, method: &str) -> Tally {
        self.tallies.lock().get(method).cloned().unwrap_or_default()
    }

    /// All calls so far that moved something on: not those of fetches that found nothing.
    #[must_use]
    pub fn productive_calls(&self) -> u64 {
        let tallies = self.tallies.lock();
        tallies.values().map(|t| t.found.unwrap_or(t.calls)).sum()
    }

    /// Fetches that found nothing.
    #[must_use]
    pub fn empty_fetches(&self) -> u64 {
        let tallies = self.tallies.lock();
        let empty = |t: &Tally| t.found.map_or(0, |found| t.calls - found);
        tallies.values().map(empty).sum()
    }

    /// The calls, for the results.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        let tallies = self.tallies.lock();
        let operation = |(name, tally): (&&'static str, &Tally)| Operation {
            caller: self.caller.to_owned(),
            name: (*name).to_owned(),
            calls: tally.calls,
            found: tally.found,
            errors: tally.errors,
            latency: tally.times.summary().map(|mut latency| {
                latency.bars.clear();
                latency
            }),
        };
        tallies.iter().map(operation).collect()
    }

    fn count<T>(&self, method: &'static str, begun: Instant, answer: &Answer<T>) {
        let mut tallies = self.tallies.lock();
        let tally = tallies.entry(method).or_default();
        tally.calls += 1;
        tally.times.add(begun.elapsed());
        self.count_error(method, tally, answer);
    }

    /// A fetch's time says how long there was no work, so it is not kept.
    fn count_fetch<T>(&self, method: &'static str, answer: &Answer<Option<T>>) {
        let mut tallies = self.tallies.lock();
        let tally = tallies.entry(method).or_default();
        tally.calls += 1;
        let found = tally.found.get_or_insert(0);
        *found += u64::from(matches!(answer, Ok(Some(_))));
        self.count_error(method, tally, answer);
    }

    fn count_error<T>(&self, method: &str, tally: &mut Tally, answer: &Answer<T>) {
        if let Err(error) = answer {
            tally.errors += 1;
            let class = error_class(error);
            self.recorder
                .error(format!("{method}: {class}"), error.message.clone());
        }
    }
}

/// What kind of failure it was, from what every provider must tell the runtime.
#[must_use]
pub fn error_class(error: &ProviderError) -> &'static str {
    let message = error.message.to_ascii_lowercase();
    let has = |word: &str| message.contains(word);
    match (
        error.retryable,
        has("deadlock"),
        has("timeout"),
        has("connection"),
    ) {
        (_, true, _, _) => "deadlock",
        (_, _, true, _) => "timeout",
        (_, _, _, true) => "connection",
        (true, ..) => "other, retryable",
        (false, ..) => "permanent",
    }
}

/// Calls, counts, returns.
macro_rules! metered {
    ($self:ident . $method:ident ( $($argument:expr),* )) => {{
        let begun = Instant::now();
        let answer = $self.inner.$method($($argument),*).await;
        $self.count(stringify!($method), begun, &answer);
        answer
    }};
}

#[async_trait::async_trait]
impl Provider for Meter {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn version(&self) -> &str {
        self.inner.version()
    }

    fn as_management_capability(&self) -> Option<&dyn ProviderAdmin> {
        self.inner.as_management_capability()
    }

    async fn fetch_orchestration_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        filter: Option<&DispatcherCapabilityFilter>,
    ) -> Answer<Option<(OrchestrationItem, String, u32)>> {
        let fetch = self
            .inner
            .fetch_orchestration_item(lock_timeout, poll_timeout, filter);
        let answer = fetch.await;
        self.count_fetch("fetch_orchestration_item", &answer);
        answer
    }

    async fn ack_orchestration_item(
        &self,
        lock_token: &str,
        execution_id: u64,
        history_delta: Vec<Event>,
        worker_items: Vec<WorkItem>,
        orchestrator_items: Vec<WorkItem>,
        metadata: ExecutionMetadata,
        cancelled_activities: Vec<ScheduledActivityIdentifier>,
    ) -> Answer<()> {
        metered!(self.ack_orchestration_item(
            lock_token,
            execution_id,
            history_delta,
            worker_items,
            orchestrator_items,
            metadata,
            cancelled_activities
        ))
    }

    async fn abandon_orchestration_item(
        &self,
        lock_token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        metered!(self.abandon_orchestration_item(lock_token, delay, ignore_attempt))
    }

    async fn renew_orchestration_item_lock(&self, token: &str, extend_for: Duration) -> Answer<()> {
        metered!(self.renew_orchestration_item_lock(token, extend_for))
    }

    async fn enqueue_for_orchestrator(
        &self,
        item: WorkItem,
        delay: Option<Duration>,
    ) -> Answer<()> {
        metered!(self.enqueue_for_orchestrator(item, delay))
    }

    async fn read(&self, instance: &str) -> Answer<Vec<Event>> {
        metered!(self.read(instance))
    }

    async fn read_with_execution(&self, instance: &str, execution_id: u64) -> Answer<Vec<Event>> {
        metered!(self.read_with_execution(instance, execution_id))
    }

    async fn append_with_execution(
        &self,
        instance: &str,
        execution_id: u64,
        new_events: Vec<Event>,
    ) -> Answer<()> {
        metered!(self.append_with_execution(instance, execution_id, new_events))
    }

    async fn enqueue_for_worker(&self, item: WorkItem) -> Answer<()> {
        metered!(self.enqueue_for_worker(item))
    }

    async fn fetch_work_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        session: Option<&SessionFetchConfig>,
        tag_filter: &TagFilter,
    ) -> Answer<Option<(WorkItem, String, u32)>> {
        let fetch = self
            .inner
            .fetch_work_item(lock_timeout, poll_timeout, session, tag_filter);
        let answer = fetch.await;
        self.count_fetch("fetch_work_item", &answer);
        answer
    }

    async fn ack_work_item(&self, token: &str, completion: Option<WorkItem>) -> Answer<()> {
        metered!(self.ack_work_item(token, completion))
    }

    async fn renew_work_item_lock(&self, token: &str, extend_for: Duration) -> Answer<()> {
        metered!(self.renew_work_item_lock(token, extend_for))
    }

    async fn abandon_work_item(
        &self,
        token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        metered!(self.abandon_work_item(token, delay, ignore_attempt))
    }

    async fn renew_session_lock(
        &self,
        owner_ids: &[&str],
        extend_for: Duration,
        idle_timeout: Duration,
    ) -> Answer<usize> {
        metered!(self.renew_session_lock(owner_ids, extend_for, idle_timeout))
    }

    async fn cleanup_orphaned_sessions(&self, idle_timeout: Duration) -> Answer<usize> {
        metered!(self.cleanup_orphaned_sessions(idle_timeout))
    }

    async fn get_custom_status(
        &self,
        instance: &str,
        last_seen_version: u64,
    ) -> Answer<Option<(Option<String>, u64)>> {
        metered!(self.get_custom_status(instance, last_seen_version))
    }

    async fn get_kv_value(&self, instance: &str, key: &str) -> Answer<Option<String>> {
        metered!(self.get_kv_value(instance, key))
    }

    async fn get_kv_all_values(&self, instance: &str) -> Answer<HashMap<String, String>> {
        metered!(self.get_kv_all_values(instance))
    }

    async fn get_instance_stats(&self, instance: &str) -> Answer<Option<SystemStats>> {
        metered!(self.get_instance_stats(instance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_classed_by_the_words_that_providers_use() {
        let error = |retryable, message: &str| ProviderError {
            operation: "x".into(),
            message: message.into(),
            retryable,
        };
        let cases = [
            (error(true, "deadlock victim: x"), "deadlock"),
            (error(true, "connection pool timeout"), "timeout"),
            (error(true, "Connection lost"), "connection"),
            (error(true, "busy"), "other, retryable"),
            (error(false, "work item lease is gone"), "permanent"),
        ];
        for (error, class) in cases {
            assert_eq!(error_class(&error), class);
        }
    }

    #[tokio::test]
    async fn calls_are_counted_by_method_and_fetches_by_success() {
        let store = duroxide::providers::sqlite::SqliteProvider::new_in_memory()
            .await
            .unwrap();
        let recorder = Arc::new(Recorder::default());
        let meter = Meter::new(Arc::new(store), "runtime", recorder.clone());
        let lease = Duration::from_secs(5);
        for _ in 0..3 {
            let none = meter.fetch_orchestration_item(lease, Duration::ZERO, None);
            assert!(none.await.unwrap().is_none());
        }
        assert!(meter.read("nobody").await.unwrap().is_empty());
        assert!(meter.ack_work_item("no such token", None).await.is_err());
        assert_eq!(meter.empty_fetches(), 3);
        assert_eq!(meter.productive_calls(), 2);
        assert_eq!(meter.tally("ack_work_item").errors, 1);
        assert_eq!(recorder.live().errors, 1);
        assert_eq!(meter.operations().len(), 3);
    }
}
