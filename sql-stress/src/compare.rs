//! Ratios of two runs.

use crate::model::{Report, RunResult};
use crate::table::{Table, number};

/// What is compared: its name, its value, and whether more is better.
const MEASURES: [Measure; 6] = [
    Measure {
        name: "per s",
        is_more_better: true,
        value: |run| Some(run.throughput),
    },
    Measure {
        name: "p50 ms",
        is_more_better: false,
        value: |run| run.latency.as_ref().map(|latency| latency.p50_ms),
    },
    Measure {
        name: "p99 ms",
        is_more_better: false,
        value: |run| run.latency.as_ref().map(|latency| latency.p99_ms),
    },
    Measure {
        name: "round trips",
        is_more_better: false,
        value: |run| run.round_trips.as_ref().map(|trips| trips.work),
    },
    Measure {
        name: "requests",
        is_more_better: false,
        value: |run| run.round_trips.as_ref().and_then(|trips| trips.requests),
    },
    Measure {
        name: "ok %",
        is_more_better: true,
        value: |run| Some(run.success_percent()),
    },
];

struct Measure {
    name: &'static str,
    is_more_better: bool,
    value: fn(&RunResult) -> Option<f64>,
}

/// A table of old, new and their ratio, for every run that both have. A ratio above one is better,
/// whatever is measured.
#[must_use]
pub fn compare(old: &Report, new: &Report) -> Table {
    let mut table = Table::new(&["scenario", "conc.", "measure", "before", "now", "ratio"]);
    for run in &new.runs {
        let same = |other: &&RunResult| other.scenario == run.scenario && other.pair == run.pair;
        let Some(before) = old.runs.iter().find(same) else {
            continue;
        };
        for measure in &MEASURES {
            let (Some(a), Some(b)) = ((measure.value)(before), (measure.value)(run)) else {
                continue;
            };
            table.line([
                run.scenario.clone(),
                run.pair.clone(),
                measure.name.to_owned(),
                number(a),
                number(b),
                ratio(a, b, measure.is_more_better),
            ]);
        }
    }
    table
}

/// What makes the two reports hard to compare, if anything.
#[must_use]
pub fn differences(old: &Report, new: &Report) -> Option<String> {
    let differs = [
        (old.target != new.target, "target"),
        ((old.rtt_ms - new.rtt_ms).abs() > 0.001, "round-trip time"),
        (old.cores != new.cores, "number of cores"),
    ];
    let names: Vec<_> = differs
        .iter()
        .filter_map(|(differs, name)| differs.then_some(*name))
        .collect();
    (!names.is_empty()).then(|| format!("the two runs differ in {}", names.join(", ")))
}

/// How many times better the second is, as text.
#[must_use]
pub fn ratio(old: f64, new: f64, is_more_better: bool) -> String {
    let (above, below) = match is_more_better {
        true => (new, old),
        false => (old, new),
    };
    match (above, below) {
        (a, b) if a == b => "1.00x".to_owned(),
        (_, 0.0) => "-".to_owned(),
        (a, b) => format!("{}x", number(a / b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Latency;

    fn report(throughput: f64, p50_ms: f64) -> Report {
        let run = RunResult {
            scenario: "fan-out".into(),
            pair: "2:2".into(),
            throughput,
            latency: Some(Latency {
                p50_ms,
                p99_ms: 9.0,
                ..Latency::default()
            }),
            ..RunResult::default()
        };
        Report {
            runs: vec![run],
            ..Report::default()
        }
    }

    #[test]
    fn ratio_above_one_is_better_for_every_measure() {
        let text = compare(&report(10.0, 8.0), &report(20.0, 4.0)).to_string();
        let ratios: Vec<_> = text
            .lines()
            .filter_map(|l| l.split_whitespace().last())
            .collect();
        assert_eq!(ratios, ["ratio", "2.00x", "2.00x", "1.00x", "1.00x"]);
        assert_eq!(ratio(0.0, 5.0, true), "-");
    }

    #[test]
    fn runs_that_only_one_report_has_are_left_out() {
        let mut other = report(1.0, 1.0);
        other.runs[0].pair = "8:8".into();
        assert!(compare(&other, &report(1.0, 1.0)).is_empty());
    }

    #[test]
    fn unlike_conditions_are_named() {
        let (mut old, new) = (report(1.0, 1.0), report(1.0, 1.0));
        assert_eq!(differences(&old, &new), None);
        old.rtt_ms = 10.0;
        assert!(differences(&old, &new).unwrap().contains("round-trip time"));
    }
}
