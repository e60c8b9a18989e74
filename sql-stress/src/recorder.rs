//! Counts what happens during a run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use parking_lot::Mutex;

use crate::model::{Bar, Curve, ErrorCount, Fact, Latency, RunResult, ShapeCost, Slice};

/// Bars of a histogram grow by this factor, from this first edge in microseconds.
const BAR_GROWTH: f64 = 1.1;
const BAR_FIRST_US: f64 = 100.0;
/// Times above an hour are recorded as an hour.
const LONGEST_US: u64 = 3_600_000_000;

/// Times with three significant digits.
#[derive(Debug, Clone)]
pub struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        // The bounds are constants that the histogram accepts; its own default grows as needed.
        Self(
            Histogram::new_with_bounds(1, LONGEST_US, 3).unwrap_or_else(|_| {
                let mut histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!());
                histogram.auto(true);
                histogram
            }),
        )
    }
}

impl Times {
    /// Adds a time.
    pub fn add(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(LONGEST_US);
        self.0.saturating_record(micros.clamp(1, LONGEST_US));
    }

    /// How many were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// A quantile in milliseconds, if there are enough times for one of them to lie beyond it.
    #[must_use]
    pub fn telling_quantile_ms(&self, quantile: f64) -> Option<f64> {
        // Rounding must not cost the thousandth time its percentile.
        let beyond = self.count() as f64 * (1.0 - quantile) + 1e-6;
        (beyond >= 1.0).then(|| self.quantile_ms(quantile))
    }

    /// A quantile in milliseconds.
    #[must_use]
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1e3
    }

    /// The distribution, unless nothing was added.
    #[must_use]
    pub fn summary(&self) -> Option<Latency> {
        if self.0.is_empty() {
            return None;
        }
        Some(Latency {
            count: self.0.len(),
            mean_ms: self.0.mean() / 1e3,
            min_ms: self.0.min() as f64 / 1e3,
            p50_ms: self.quantile_ms(0.5),
            p90_ms: self.quantile_ms(0.9),
            p99_ms: self.telling_quantile_ms(0.99),
            p999_ms: self.telling_quantile_ms(0.999),
            max_ms: self.0.max() as f64 / 1e3,
            bars: self.bars(),
        })
    }

    fn bars(&self) -> Vec<Bar> {
        let mut bars: Vec<Bar> = Vec::new();
        for step in self.0.iter_recorded() {
            let micros = step.value_iterated_to() as f64;
            let index = (micros / BAR_FIRST_US).log(BAR_GROWTH).max(0.0).floor();
            let from_ms = BAR_FIRST_US * BAR_GROWTH.powf(index) / 1e3;
            match bars.last_mut() {
                Some(bar) if (bar.from_ms - from_ms).abs() < 1e-9 => {
                    bar.count += step.count_since_last_iteration();
                }
                _ => bars.push(Bar {
                    from_ms,
                    to_ms: from_ms * BAR_GROWTH,
                    count: step.count_since_last_iteration(),
                }),
            }
        }
        bars
    }
}

/// How one orchestration ended.
#[derive(Debug, Clone)]
pub enum End {
    /// As it should.
    Completed,
    /// With an error of this class, in these words.
    Failed(String, String),
    /// Not in time.
    Lost(String),
    /// It was still running when the run was broken off.
    Abandoned,
}

#[derive(Debug, Default)]
struct Counted {
    result: RunResult,
    latency: Times,
    errors: BTreeMap<String, (u64, String)>,
    last_end: Option<Instant>,
    /// Latencies of the second that goes on; a histogram for each second would be too much to keep.
    second: Vec<f64>,
}

impl Counted {
    /// The second that went on is over.
    fn close_second(&mut self) {
        self.second.sort_unstable_by(f64::total_cmp);
        if let (Some(slice), Some(max)) = (self.result.timeline.last_mut(), self.second.last()) {
            slice.p50_ms = self.second.get(self.second.len() / 2).copied();
            slice.max_ms = Some(*max);
        }
        self.second.clear();
    }
}

/// What is shown while a run goes on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Live {
    /// Ended well.
    pub completed: u64,
    /// Everything that went wrong.
    pub errors: u64,
    /// Per second, over the last full seconds.
    pub rate: f64,
    /// Median.
    pub p50_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}

/// The counters of a run. All methods may be called from anywhere.
#[derive(Debug)]
pub struct Recorder {
    begun: Instant,
    counted: Mutex<Counted>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            counted: Mutex::default(),
        }
    }
}

impl Recorder {
    /// When counting began.
    #[must_use]
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// One more was started.
    pub fn launched(&self) {
        self.counted.lock().result.launched += 1;
    }

    /// One ended.
    pub fn ended(&self, end: End, latency: Duration, activities: u64) {
        let mut counted = self.counted.lock();
        counted.last_end = Some(Instant::now());
        match end {
            End::Completed => {
                counted.result.completed += 1;
                counted.result.activity_throughput += activities as f64;
                counted.latency.add(latency);
                self.slice(&mut counted).completed += 1;
                counted.second.push(latency.as_secs_f64() * 1e3);
            }
            End::Failed(class, example) => {
                counted.result.failed += 1;
                self.count_error(&mut counted, class, example);
            }
            End::Lost(example) => {
                counted.result.lost += 1;
                self.count_error(&mut counted, "lost".to_owned(), example);
            }
            End::Abandoned => counted.result.abandoned += 1,
        }
    }

    /// A call failed, which need not mean that its orchestration does.
    pub fn error(&self, class: impl Into<String>, example: impl Into<String>) {
        let mut counted = self.counted.lock();
        self.count_error(&mut counted, class.into(), example.into());
    }

    /// A finding.
    pub fn fact(&self, name: &str, value: f64, unit: &str) {
        self.counted.lock().result.facts.push(Fact {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
            is_failure: false,
        });
    }

    /// A finding that makes the run a failure.
    pub fn broken_promise(&self, name: &str, value: f64, unit: &str) {
        self.counted.lock().result.facts.push(Fact {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
            is_failure: true,
        });
    }

    /// A growth curve.
    pub fn curve(&self, curve: Curve) {
        self.counted.lock().result.curves.push(curve);
    }

    /// What a shape costs.
    pub fn cost(&self, cost: ShapeCost) {
        self.counted.lock().result.costs.push(cost);
    }

    /// The state of things.
    #[must_use]
    pub fn live(&self) -> Live {
        let counted = self.counted.lock();
        let slices = &counted.result.timeline;
        let full = slices.len().saturating_sub(1);
        let recent = &slices[full.saturating_sub(3)..full];
        let sum: u64 = recent.iter().map(|slice| slice.completed).sum();
        Live {
            completed: counted.result.completed,
            errors: counted.errors.values().map(|(count, _)| count).sum(),
            rate: sum as f64 / recent.len().max(1) as f64,
            p50_ms: counted.latency.quantile_ms(0.5),
            p99_ms: counted.latency.quantile_ms(0.99),
        }
    }

    /// The final figures.
    #[must_use]
    pub fn finish(&self) -> RunResult {
        let mut counted = self.counted.lock();
        counted.close_second();
        let end = counted.last_end.unwrap_or_else(Instant::now);
        let mut result = counted.result.clone();
        result.elapsed_s = end.saturating_duration_since(self.begun).as_secs_f64();
        let seconds = result.elapsed_s.max(1e-9);
        result.throughput = result.completed as f64 / seconds;
        result.activity_throughput /= seconds;
        result.latency = counted.latency.summary();
        let mut errors: Vec<_> = counted
            .errors
            .iter()
            .map(|(class, (count, example))| ErrorCount {
                class: class.clone(),
                count: *count,
                example: example.clone(),
            })
            .collect();
        errors.sort_by_key(|error| std::cmp::Reverse(error.count));
        result.errors = errors;
        result
    }

    fn count_error(&self, counted: &mut Counted, class: String, example: String) {
        counted.errors.entry(class).or_insert((0, example)).0 += 1;
        self.slice(counted).errors += 1;
    }

    fn slice<'a>(&self, counted: &'a mut Counted) -> &'a mut Slice {
        let second = self.begun.elapsed().as_secs() as usize;
        if counted.result.timeline.len() <= second {
            counted.close_second();
            let slices = &mut counted.result.timeline;
            slices.resize(second + 1, Slice::default());
        }
        &mut counted.result.timeline[second]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_data() {
        let mut times = Times::default();
        for ms in 1..=1000 {
            times.add(Duration::from_millis(ms));
        }
        let summary = times.summary().unwrap();
        for (found, wanted) in [
            (summary.p50_ms, 500.0),
            (summary.p99_ms.unwrap(), 990.0),
            (summary.p999_ms.unwrap(), 999.0),
            (summary.max_ms, 1000.0),
            (summary.mean_ms, 500.5),
        ] {
            assert!((found / wanted - 1.0).abs() < 0.002, "{found} {wanted}");
        }
        assert_eq!(summary.bars.iter().map(|bar| bar.count).sum::<u64>(), 1000);
        assert!(summary.bars.is_sorted_by(|a, b| a.from_ms < b.from_ms));
        assert!(Times::default().summary().is_none());
    }

    /// A percentile that no time lies beyond is the maximum by another name.
    #[test]
    fn percentiles_are_absent_when_there_are_too_few_times() {
        let mut times = Times::default();
        for _ in 0..99 {
            times.add(Duration::from_millis(1));
        }
        assert_eq!(times.summary().unwrap().p99_ms, None);
        times.add(Duration::from_millis(1));
        let summary = times.summary().unwrap();
        assert!(summary.p99_ms.is_some() && summary.p999_ms.is_none());
    }

    #[test]
    fn each_second_knows_its_latencies() {
        let recorder = Recorder::default();
        for ms in [30, 10, 20] {
            recorder.launched();
            recorder.ended(End::Completed, Duration::from_millis(ms), 0);
        }
        let result = recorder.finish();
        let slice = result.timeline.last().unwrap();
        // The test may be interrupted so long that the second is over.
        assert!(slice.max_ms >= Some(10.0) && slice.p50_ms <= slice.max_ms);
        assert_eq!(result.timeline.iter().map(|s| s.completed).sum::<u64>(), 3);
    }

    #[test]
    fn every_end_is_counted_once_and_errors_by_class() {
        let recorder = Recorder::default();
        let ends = [
            End::Completed,
            End::Completed,
            End::Failed("application".into(), "first".into()),
            End::Failed("application".into(), "second".into()),
            End::Lost("x".into()),
            End::Abandoned,
        ];
        for end in ends {
            recorder.launched();
            recorder.ended(end, Duration::from_millis(3), 5);
        }
        recorder.error("deadlock", "a call");
        let result = recorder.finish();
        assert_eq!((result.launched, result.completed), (6, 2));
        assert_eq!((result.failed, result.lost, result.abandoned), (2, 1, 1));
        assert_eq!(result.errors[0].class, "application");
        assert_eq!(result.errors[0].example, "first");
        assert_eq!(result.errors.len(), 3);
        let sum: u64 = result.timeline.iter().map(|slice| slice.errors).sum();
        assert_eq!((sum, recorder.live().errors), (4, 4));
        assert!((result.activity_throughput / result.throughput - 5.0).abs() < 1e-6);
    }
}
