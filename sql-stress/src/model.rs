//! The results of a run, as they are kept in JSON and shown.

use serde::{Deserialize, Serialize};

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
    /// Ended by Ctrl-C.
    pub is_interrupted: bool,
    /// The runs, in order.
    pub runs: Vec<RunResult>,
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
    /// 99th percentile.
    pub p99_ms: f64,
    /// 99.9th percentile.
    pub p999_ms: f64,
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

/// One second of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// Orchestrations completed.
    pub completed: u64,
    /// Orchestrations failed or lost, and failed calls.
    pub errors: u64,
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
    /// activities.
    pub work: f64,
    /// Calls by the waiting client.
    pub client_polls: f64,
    /// Fetches that ended without work.
    pub empty_fetches: f64,
    /// All requests that the server, or the proxy, has seen; it includes repeated questions of waiting
    /// fetches, renewals and logins.
    pub requests: Option<f64>,
}

/// How an operation's cost grows with something.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The operation.
    pub name: String,
    /// What grows.
    pub grows_with: String,
    /// Whether the cost must stay the same.
    pub must_be_flat: bool,
    /// From small to large.
    pub points: Vec<Point>,
}

impl Curve {
    /// How many times more the last point costs than the first, in rows read if they are known, since
    /// they do not depend on what else the machine does; else in time.
    #[must_use]
    pub fn growth(&self) -> Option<f64> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        match (first.rows_read, last.rows_read) {
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
pub struct Point {
    /// The size.
    pub x: f64,
    /// Median time of a call.
    pub p50_ms: f64,
    /// 99th percentile of a call's time.
    pub p99_ms: f64,
    /// Rows the server read per call, where it can be asked.
    pub rows_read: Option<f64>,
    /// Locks the server took per call, where it can be asked.
    pub locks: Option<f64>,
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
