//! A recorder of metrics that a test can read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata,
    SharedString, Unit,
};

/// Type, unit and labels of a metric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kind {
    pub kind: &'static str,
    pub unit: String,
    pub labels: BTreeSet<String>,
}

/// A metric's name and the values of its labels.
type Series = (String, BTreeMap<String, String>);

#[derive(Default)]
struct State {
    described: BTreeMap<String, Kind>,
    /// What was recorded, by name and labels: sums of counters, last values of gauges, all values of
    /// histograms.
    values: BTreeMap<Series, (&'static str, Vec<f64>)>,
}

/// All that was described and recorded on this thread.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<State>>);

impl Recorder {
    /// Metrics that were described, with type and unit.
    pub fn described(&self) -> BTreeMap<String, Kind> {
        self.0.lock().unwrap().described.clone()
    }

    /// Metrics that were recorded, with type and labels.
    pub fn recorded(&self) -> BTreeMap<String, Kind> {
        let mut recorded = BTreeMap::<String, Kind>::new();
        for ((name, labels), (kind, _)) in &self.0.lock().unwrap().values {
            let entry = recorded.entry(name.clone()).or_default();
            entry.kind = kind;
            entry.labels.extend(labels.keys().cloned());
        }
        recorded
    }

    /// The values of the metric whose labels contain these.
    pub fn values(&self, name: &str, labels: &[(&str, &str)]) -> Vec<f64> {
        let state = self.0.lock().unwrap();
        let fits = |of: &BTreeMap<String, String>| {
            let mut labels = labels.iter();
            labels.all(|(key, value)| of.get(*key).map(String::as_str) == Some(*value))
        };
        let found = state
            .values
            .iter()
            .filter(|((of, labels), _)| of == name && fits(labels));
        found.flat_map(|(_, (_, values))| values.clone()).collect()
    }

    fn describe(&self, kind: &'static str, name: &KeyName, unit: Option<Unit>) {
        let unit = unit
            .map(|unit| unit.as_str().to_owned())
            .unwrap_or_default();
        let described = Kind {
            kind,
            unit,
            labels: BTreeSet::new(),
        };
        let mut state = self.0.lock().unwrap();
        state.described.insert(name.as_str().to_owned(), described);
    }

    fn handle(&self, kind: &'static str, key: &Key) -> Arc<Handle> {
        let labels = key.labels();
        let labels = labels.map(|label| (label.key().to_owned(), label.value().to_owned()));
        Arc::new(Handle {
            recorder: self.clone(),
            kind,
            key: (key.name().to_owned(), labels.collect()),
        })
    }
}

struct Handle {
    recorder: Recorder,
    kind: &'static str,
    key: Series,
}

impl Handle {
    fn change(&self, change: impl FnOnce(&mut Vec<f64>)) {
        let mut state = self.recorder.0.lock().unwrap();
        let entry = state.values.entry(self.key.clone());
        change(&mut entry.or_insert((self.kind, Vec::new())).1);
    }
}

impl CounterFn for Handle {
    fn increment(&self, value: u64) {
        self.change(|values| *values = vec![values.iter().sum::<f64>() + value as f64]);
    }

    fn absolute(&self, value: u64) {
        self.change(|values| *values = vec![value as f64]);
    }
}

impl GaugeFn for Handle {
    fn increment(&self, value: f64) {
        self.change(|values| *values = vec![values.iter().sum::<f64>() + value]);
    }

    fn decrement(&self, value: f64) {
        self.change(|values| *values = vec![values.iter().sum::<f64>() - value]);
    }

    fn set(&self, value: f64) {
        self.change(|values| *values = vec![value]);
    }
}

impl HistogramFn for Handle {
    fn record(&self, value: f64) {
        self.change(|values| values.push(value));
    }
}

impl metrics::Recorder for Recorder {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe("counter", &name, unit);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe("gauge", &name, unit);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe("histogram", &name, unit);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.handle("counter", key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.handle("gauge", key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.handle("histogram", key))
    }
}
