//! The metrics, through the facade that duroxide itself uses. Without a recorder they cost next to
//! nothing.
//!
//! The names that begin with `provider.` are those that duroxide's guide for providers asks for.
//! What its runtime measures around every provider (`duroxide_provider_operation_duration_seconds`,
//! `duroxide_provider_errors_total`) is not counted here again.

use std::time::Duration;

use metrics::{Key, Label, Level, Metadata, Unit, counter, histogram};

use crate::error::CallError;
use crate::server_errors::is_ours;

/// A metric: its name, its unit, and what it tells.
type Described = (&'static str, Unit, &'static str);

const COUNTERS: &[Described] = &[
    (INFRASTRUCTURE_ERRORS, Unit::Count, "operations that failed"),
    (ACK_RETRIES, Unit::Count, "repeated acks of turns"),
    (RETRIES, Unit::Count, "repeated calls"),
    (ROWS, Unit::Count, "rows received"),
    (SLOW, Unit::Count, "calls above the limit"),
    (OPENED, Unit::Count, "connections opened"),
    (FAILED, Unit::Count, "attempts to connect that failed"),
    (CLOSED, Unit::Count, "connections closed"),
    (LEASES_LOST, Unit::Count, "leases lost"),
    (CACHE_HITS, Unit::Count, "histories that were remembered"),
    (CACHE_MISSES, Unit::Count, "histories that were sent"),
    (TOKENS, Unit::Count, "access tokens fetched"),
    (TOKENS_FAILED, Unit::Count, "access tokens not given"),
];

const HISTOGRAMS: &[Described] = &[
    (FETCH_TURN_MS, Unit::Milliseconds, "fetching a turn"),
    (ACK_TURN_MS, Unit::Milliseconds, "committing a turn"),
    (ACK_WORK_MS, Unit::Milliseconds, "completing an activity"),
    (ENQUEUE_MS, Unit::Milliseconds, "enqueueing a message"),
    (FETCH_WORK_MS, Unit::Milliseconds, "fetching an activity"),
    (CALL_S, Unit::Seconds, "a call with its repetitions"),
    (WAIT_S, Unit::Seconds, "the wait for a connection"),
    (CONNECT_S, Unit::Seconds, "opening a connection"),
];

const GAUGES: &[Described] = &[
    (OPEN, Unit::Count, "connections that are open"),
    (IDLE, Unit::Count, "connections that nobody uses"),
    (WAITING, Unit::Count, "callers that wait for a connection"),
    (MAX, Unit::Count, "connections that may be open"),
];

const FETCH_TURN_MS: &str = "provider.fetch_orchestration_item_duration_ms";
const ACK_TURN_MS: &str = "provider.ack_orchestration_item_duration_ms";
const ACK_WORK_MS: &str = "provider.ack_worker_duration_ms";
const ENQUEUE_MS: &str = "provider.enqueue_orchestrator_duration_ms";
const FETCH_WORK_MS: &str = "provider.dequeue_worker_duration_ms";
const INFRASTRUCTURE_ERRORS: &str = "provider.infrastructure_errors";
const ACK_RETRIES: &str = "provider.ack_orchestration_retries";

const CALL_S: &str = "duroxide_sql_call_duration_seconds";
const RETRIES: &str = "duroxide_sql_call_retries_total";
const ROWS: &str = "duroxide_sql_call_rows_total";
const SLOW: &str = "duroxide_sql_slow_calls_total";
const WAIT_S: &str = "duroxide_sql_pool_wait_seconds";
const CONNECT_S: &str = "duroxide_sql_connect_duration_seconds";
const OPENED: &str = "duroxide_sql_connections_opened_total";
const FAILED: &str = "duroxide_sql_connections_failed_total";
const CLOSED: &str = "duroxide_sql_connections_closed_total";
const OPEN: &str = "duroxide_sql_pool_connections_open";
const IDLE: &str = "duroxide_sql_pool_connections_idle";
const WAITING: &str = "duroxide_sql_pool_callers_waiting";
const MAX: &str = "duroxide_sql_pool_connections_max";
const LEASES_LOST: &str = "duroxide_sql_leases_lost_total";
const CACHE_HITS: &str = "duroxide_sql_history_cache_hits_total";
const CACHE_MISSES: &str = "duroxide_sql_history_cache_misses_total";
const TOKENS: &str = "duroxide_sql_tokens_refreshed_total";
const TOKENS_FAILED: &str = "duroxide_sql_token_failures_total";

/// Where the metrics come from whose keys are kept.
static METADATA: Metadata<'_> = Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

/// Tells the recorder names, units and meanings.
pub(crate) fn describe() {
    for (name, unit, text) in COUNTERS {
        metrics::describe_counter!(*name, *unit, *text);
    }
    for (name, unit, text) in HISTOGRAMS {
        metrics::describe_histogram!(*name, *unit, *text);
    }
    for (name, unit, text) in GAUGES {
        metrics::describe_gauge!(*name, *unit, *text);
    }
}

/// The metrics of the calls of one procedure. Labels that are not literals are allocated with every use of the macros,
/// and these are used with every call.
pub(crate) struct CallKeys {
    succeeded: Key,
    failed: Key,
    rows: Key,
    /// By the name that duroxide's guide gives to it, if it does.
    guided: Option<Key>,
}

impl CallKeys {
    pub(crate) fn new(procedure: &'static str) -> Self {
        let procedure_label = || Label::new("procedure", procedure);
        let ended = |status| {
            let labels = vec![procedure_label(), Label::new("status", status)];
            Key::from_parts(CALL_S, labels)
        };
        let guided = match procedure {
            "fetch_orchestration_item" => Some(FETCH_TURN_MS),
            "ack_orchestration_item" => Some(ACK_TURN_MS),
            "ack_work_item" => Some(ACK_WORK_MS),
            "enqueue_for_orchestrator" => Some(ENQUEUE_MS),
            "fetch_work_item" => Some(FETCH_WORK_MS),
            _ => None,
        };
        Self {
            succeeded: ended("success"),
            failed: ended("error"),
            rows: Key::from_parts(ROWS, vec![procedure_label()]),
            guided: guided.map(Key::from_static_name),
        }
    }

    /// A call ended, after all its repetitions.
    pub(crate) fn called(&self, took: Duration, is_ok: bool, rows: u64) {
        let ended = if is_ok { &self.succeeded } else { &self.failed };
        let seconds = took.as_secs_f64();
        metrics::with_recorder(|recorder| {
            recorder
                .register_histogram(ended, &METADATA)
                .record(seconds);
            recorder
                .register_counter(&self.rows, &METADATA)
                .increment(rows);
            if let Some(guided) = &self.guided {
                recorder
                    .register_histogram(guided, &METADATA)
                    .record(seconds * 1000.0);
            }
        });
    }
}

/// A call is made again.
pub(crate) fn retried(procedure: &'static str, error: &CallError) {
    counter!(RETRIES, "procedure" => procedure, "error_type" => kind(error)).increment(1);
    if procedure == "ack_orchestration_item" {
        counter!(ACK_RETRIES).increment(1);
    }
}

/// A method of the provider failed. What our own procedures refuse is an answer, and no failure of
/// the infrastructure.
pub(crate) fn operation_failed(operation: &'static str, error: &CallError) {
    if error.number().is_some_and(is_ours) {
        return;
    }
    let operation = match operation {
        "fetch_orchestration_item" | "fetch_work_item" => "fetch",
        "ack_orchestration_item" => "ack_orch",
        "ack_work_item" => "ack_worker",
        "enqueue_for_orchestrator" | "enqueue_for_worker" => "enqueue",
        other => other,
    };
    let error_type = match error {
        CallError::Server { number: 1222, .. } => "lock_timeout",
        CallError::Server { .. } => "transaction_failed",
        CallError::Data(_) => "serialization_error",
        CallError::Connection { .. }
        | CallError::Timeout { .. }
        | CallError::PoolTimeout { .. } => "unknown",
    };
    counter!(INFRASTRUCTURE_ERRORS, "operation" => operation, "error_type" => error_type)
        .increment(1);
}

/// The words by which duroxide's own metrics tell errors apart.
fn kind(error: &CallError) -> &'static str {
    match error {
        CallError::Server { number: 1205, .. } => "deadlock",
        CallError::Server { number: 1222, .. }
        | CallError::Timeout { .. }
        | CallError::PoolTimeout { .. } => "timeout",
        CallError::Connection { .. } => "connection",
        CallError::Server { .. } | CallError::Data(_) => "other",
    }
}

pub(super) fn slow_call(procedure: &'static str) {
    counter!(SLOW, "procedure" => procedure).increment(1);
}

pub(super) fn lease_lost(procedure: &'static str) {
    counter!(LEASES_LOST, "procedure" => procedure).increment(1);
}

pub(super) fn connection_opened(took: Duration) {
    counter!(OPENED).increment(1);
    histogram!(CONNECT_S).record(took.as_secs_f64());
}

pub(super) fn connection_failed(error: &CallError) {
    counter!(FAILED, "error_type" => kind(error)).increment(1);
}

pub(super) fn connection_closed(reason: &'static str) {
    counter!(CLOSED, "reason" => reason).increment(1);
}

pub(super) fn token_refreshed() {
    counter!(TOKENS).increment(1);
}

pub(super) fn token_failed() {
    counter!(TOKENS_FAILED).increment(1);
}

/// Somebody got a connection, or gave up, after this time.
pub(crate) fn pool_wait(lane: &'static str, waited: Duration) {
    // Every call comes here, and the macro allocates for labels that are not literals.
    let wait = match lane {
        "renew" => histogram!(WAIT_S, "lane" => "renew"),
        "settle" => histogram!(WAIT_S, "lane" => "settle"),
        "dispatch" => histogram!(WAIT_S, "lane" => "dispatch"),
        "client" => histogram!(WAIT_S, "lane" => "client"),
        other => histogram!(WAIT_S, "lane" => other),
    };
    wait.record(waited.as_secs_f64());
}

/// A history was needed: it was remembered, or had to be sent.
pub(crate) fn history(is_known: bool) {
    let name = if is_known { CACHE_HITS } else { CACHE_MISSES };
    counter!(name).increment(1);
}

/// The gauges of one pool. Two pools of a process are told apart by their labels, and every change
/// sets the whole number, so that a recorder which comes later is right from the next change on.
pub(crate) struct PoolGauges {
    open: Key,
    idle: Key,
    waiting: Key,
    max: Key,
}

impl PoolGauges {
    pub(crate) fn new(server: &str, database: &str, schema: &str) -> Self {
        let key = |name: &'static str| {
            let labels = [
                ("server", server),
                ("database", database),
                ("schema", schema),
            ];
            let labels = labels.map(|(name, value)| Label::new(name, value.to_owned()));
            Key::from_parts(name, labels.to_vec())
        };
        Self {
            open: key(OPEN),
            idle: key(IDLE),
            waiting: key(WAITING),
            max: key(MAX),
        }
    }

    pub(crate) fn open(&self, connections: u32) {
        set(&self.open, connections);
    }

    pub(crate) fn idle(&self, connections: u32) {
        set(&self.idle, connections);
    }

    pub(crate) fn waiting(&self, callers: u32) {
        set(&self.waiting, callers);
    }

    pub(crate) fn max(&self, connections: u32) {
        set(&self.max, connections);
    }
}

/// The key is kept, so nothing is allocated here.
fn set(key: &Key, value: u32) {
    metrics::with_recorder(|recorder| recorder.register_gauge(key, &METADATA).set(value));
}
