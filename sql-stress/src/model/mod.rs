//! The results of a run, as they are kept in JSON and shown.

mod comparison;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use comparison::{Compared, Comparison, Verdict};

/// Everything that one invocation measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Release of the tester.
    pub version: String,
    /// When it began, in seconds since 1970.
    pub started_at: u64,
    /// What was measured, without credentials.
    pub target: String,
    /// Added round-trip time.
    pub rtt_ms: f64,
    /// Processors of the machine.
    pub cores: usize,
    /// Start of the random sequences.
    pub seed: u64,
    /// What the runs were told to do, by name: everything that makes two runs alike or not. Units are
    /// in the names.
    pub settings: BTreeMap<String, Value>,
    /// Ended by Ctrl-C.
    pub is_interrupted: bool,
    /// The runs, in order.
    pub runs: Vec<RunResult>,
    /// How they compare with an earlier report.
    pub comparison: Option<Comparison>,
}

impl Report {
    /// Whether all that was started succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        !self.runs.is_empty() && self.runs.iter().all(RunResult::is_success)
    }
}

/// One scenario with one pair of concurrencies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunResult {
    /// The scenario's name.
    pub scenario: String,
    /// Dispatchers and workers, such as `2:2`.
    pub pair: String,
    /// Seconds from the first start to the last end.
    pub elapsed_s: f64,
    /// Orchestrations, or calls, that were started.
    pub launched: u64,
    /// Those that succeeded.
    pub completed: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that never ended.
    pub lost: u64,
    /// Those in flight when Ctrl-C came.
    pub abandoned: u64,
    /// Completed per second.
    pub throughput: f64,
    /// Activities per second.
    pub activity_throughput: f64,
    /// From start to known end.
    pub latency: Option<Latency>,
    /// What happened in each second.
    pub timeline: Vec<Slice>,
    /// Errors by class, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Calls of the provider, by method.
    pub operations: Vec<Operation>,
    /// What the server did, by procedure, where the server can be asked.
    pub procedures: Vec<Procedure>,
    /// Requests per orchestration.
    pub round_trips: Option<RoundTrips>,
    /// What the server did per orchestration, where it can be asked.
    pub server: Option<ServerCost>,
    /// What one orchestration of each shape cost, where the scenario is about that.
    pub costs: Vec<ShapeCost>,
    /// What each repetition gave; this result is the one in the middle.
    pub repeats: Vec<Repeat>,
    /// How cost grows.
    pub curves: Vec<Curve>,
    /// What else the scenario found.
    pub facts: Vec<Fact>,
}

impl RunResult {
    /// Whether all that was started succeeded. A run that did nothing is no success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        let ended = self.launched - self.abandoned.min(self.launched);
        self.failed == 0
            && self.lost == 0
            && self.completed == ended
            && self.launched > 0
            && self.facts.iter().all(|fact| !fact.is_failure)
            && self.repeats.iter().all(|repeat| repeat.is_success)
    }

    /// Seen from a comparison, the parts of this run that noise moves.
    #[must_use]
    pub fn as_repeat(&self) -> Repeat {
        Repeat {
            throughput: self.throughput,
            p50_ms: self.latency.as_ref().map(|latency| latency.p50_ms),
            p99_ms: self.latency.as_ref().and_then(|latency| latency.p99_ms),
            is_success: self.is_success(),
        }
    }

    /// Success rate in percent of those that could end.
    #[must_use]
    pub fn success_percent(&self) -> f64 {
        let ended = self.launched - self.abandoned.min(self.launched);
        if ended == 0 {
            return 100.0;
        }
        100.0 * self.completed as f64 / ended as f64
    }
}

/// A distribution of times, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// How many were measured.
    pub count: u64,
    /// Mean.
    pub mean_ms: f64,
    /// Shortest.
    pub min_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 90th percentile.
    pub p90_ms: f64,
    /// 99th percentile; absent below 100 times, because it would be the longest.
    pub p99_ms: Option<f64>,
    /// 99.9th percentile; absent below 1,000 times, because it would be the longest.
    pub p999_ms: Option<f64>,
    /// Longest.
    pub max_ms: f64,
    /// Bars of a histogram with exponentially growing widths.
    pub bars: Vec<Bar>,
}

/// A bar of a histogram.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// Lower edge.
    pub from_ms: f64,
    /// Upper edge.
    pub to_ms: f64,
    /// How many lie between.
    pub count: u64,
}

/// What one of several repetitions gave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repeat {
    /// Completed per second.
    pub throughput: f64,
    /// Median latency.
    pub p50_ms: Option<f64>,
    /// 99th percentile of the latency.
    pub p99_ms: Option<f64>,
    /// Whether all that was started succeeded.
    pub is_success: bool,
}

/// One second of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Slice {
    /// Orchestrations completed.
    pub completed: u64,
    /// Orchestrations failed or lost, and failed calls.
    pub errors: u64,
    /// Median latency of those that completed.
    pub p50_ms: Option<f64>,
    /// Longest latency of those that completed.
    pub max_ms: Option<f64>,
}

/// Errors of one class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// What kind.
    pub class: String,
    /// How often.
    pub count: u64,
    /// The first one's words.
    pub example: String,
}

/// Calls of one method of the provider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Operation {
    /// `runtime` or `client`.
    pub caller: String,
    /// The method.
    pub name: String,
    /// How often it was called.
    pub calls: u64,
    /// For a fetch: how often it found work.
    pub found: Option<u64>,
    /// How often it failed.
    pub errors: u64,
    /// How long it took; absent for fetches, which wait for work.
    pub latency: Option<Latency>,
}

/// What one procedure cost the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Procedure {
    /// Its name, without schema.
    pub name: String,
    /// Requests.
    pub calls: u64,
    /// Mean time on the server.
    pub mean_ms: f64,
    /// Rows read per call.
    pub rows_read: f64,
    /// Rows written per call.
    pub rows_written: f64,
    /// Locks taken per call.
    pub locks: f64,
    /// Waits for locks, in all.
    pub lock_waits: u64,
    /// Bytes sent to the client per call.
    pub bytes_sent: f64,
}

/// Requests per orchestration, by purpose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Calls that move an orchestration on: the client's start, fetches that found work, acks, reads by
    /// activities. Reads that the provider answers from memory are left out if the server counts.
    pub work: f64,
    /// Calls by the waiting client.
    pub client_polls: f64,
    /// Fetches without work: questions to the server if it counts, else fetches that ended empty.
    pub empty_fetches: f64,
    /// All requests that the server, or the proxy, has seen; it includes repeated questions of waiting
    /// fetches, renewals and logins.
    pub requests: Option<f64>,
}

/// What one orchestration cost the server. Client polls and fetches that found nothing are part of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerCost {
    /// Requests.
    pub calls: f64,
    /// Flushes of the log that commits waited for.
    pub flushes: f64,
    /// Bytes of log that SQL Server would write, estimated by the engine from row images.
    pub log_bytes: f64,
    /// Bytes from the clients.
    pub bytes_received: f64,
    /// Bytes to the clients.
    pub bytes_sent: f64,
    /// Rows and index entries looked at.
    pub rows_read: f64,
    /// Rows inserted, updated and deleted.
    pub rows_written: f64,
    /// Locks taken.
    pub locks: f64,
    /// Time that the server worked, waits included.
    pub server_ms: f64,
}

/// What one orchestration of a shape cost, without anybody waiting for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShapeCost {
    /// The shape.
    pub shape: String,
    /// Its cost with durable commits only.
    pub cost: ServerCost,
    /// Flushes when claims are delayed-durable.
    pub delayed_flushes: f64,
}

/// How an operation's cost grows with something.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Curve {
    /// The operation.
    pub name: String,
    /// What grows.
    pub grows_with: String,
    /// What a point's time is, where it is not that of a call.
    pub title: String,
    /// Whether the cost must stay the same.
    pub must_be_flat: bool,
    /// From small to large.
    pub points: Vec<Point>,
}

impl Curve {
    /// How many times more the last point costs than the first, in entries visited if they are known,
    /// since they do not depend on what else the machine does; else in time.
    #[must_use]
    pub fn growth(&self) -> Option<f64> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        match (first.entries(), last.entries()) {
            (Some(a), Some(b)) => Some((b + 1.0) / (a + 1.0)),
            _ => Some(last.p50_ms / first.p50_ms.max(1e-6)),
        }
    }

    /// Whether it rises although it must not. Twofold is within what deeper trees and noise explain.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.must_be_flat && self.growth().is_some_and(|growth| growth > 2.0)
    }
}

/// Cost at one size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// The size.
    pub x: f64,
    /// Median time of a call.
    pub p50_ms: f64,
    /// 99th percentile of a call's time.
    pub p99_ms: f64,
    /// Rows the server read per call, where it can be asked.
    pub rows_read: Option<f64>,
    /// Deleted index entries that the server passed over per call, where it can be asked.
    pub ghosts_read: Option<f64>,
    /// Locks the server took per call, where it can be asked.
    pub locks: Option<f64>,
    /// Requests to the server, where a point is not one call.
    pub calls: Option<f64>,
    /// Bytes on the wire, in both directions, where a point is not one call.
    pub bytes: Option<f64>,
    /// Flushes of the log that commits waited for, where a point is not one call.
    pub flushes: Option<f64>,
}

impl Point {
    /// Index entries visited per call, dead or alive.
    #[must_use]
    pub fn entries(&self) -> Option<f64> {
        Some(self.rows_read? + self.ghosts_read.unwrap_or_default())
    }
}

/// A finding of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// What was measured.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Whether it makes the run a failure.
    pub is_failure: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_means_that_nothing_is_missing() {
        let run = |launched, completed, abandoned| RunResult {
            launched,
            completed,
            abandoned,
            ..RunResult::default()
        };
        assert!(run(5, 5, 0).is_success());
        assert!(run(5, 4, 1).is_success());
        assert!(!run(5, 4, 0).is_success());
        assert!(!run(0, 0, 0).is_success());
        assert_eq!(run(4, 3, 0).success_percent(), 75.0);
        assert!(!Report::default().is_success());
    }

    #[test]
    fn curve_is_wrong_when_rows_grow_although_it_must_be_flat() {
        let point = |x, p50_ms, rows| Point {
            x,
            p50_ms,
            rows_read: rows,
            ..Point::default()
        };
        let mut curve = Curve {
            must_be_flat: true,
            points: vec![point(1.0, 1.0, Some(3.0)), point(9.0, 50.0, Some(3.0))],
            ..Curve::default()
        };
        assert!(!curve.is_wrong(), "time alone may be noise");
        curve.points[1].rows_read = Some(30.0);
        assert!(curve.is_wrong());
        curve.must_be_flat = false;
        assert!(!curve.is_wrong());
    }
}
