//! Ratios of two reports, and what they mean.

use serde_json::Value;

use crate::model::{Compared, Comparison, Report, RunResult, Verdict};
use crate::table::{Table, number};

/// Fewer repetitions than this cannot tell a change from noise: with three of each, it is one chance in
/// ten that all of one kind lie on the same side without any reason.
const TELLING_REPEATS: usize = 3;
/// Counts that differ by less are the same: polls fall into a run or out of it.
const SAME_COUNT: f64 = 0.02;
/// Settings that may differ without making two runs unlike.
const HARMLESS: [&str; 3] = ["repeat", "patience_ms", "seed"];

struct Measure {
    name: &'static str,
    is_more_better: bool,
    /// Whether `--fail-below` looks at it. A 99th percentile is too rough for that.
    is_judged: bool,
    values: fn(&RunResult) -> Values,
}

enum Values {
    /// One for each repetition.
    Timed(Vec<f64>),
    /// Does not depend on what else the machine does.
    Counted(Option<f64>),
}

const MEASURES: [Measure; 6] = [
    Measure {
        name: "per s",
        is_more_better: true,
        is_judged: true,
        values: |run| {
            Values::Timed(match run.repeats.as_slice() {
                [] => vec![run.throughput],
                repeats => repeats.iter().map(|repeat| repeat.throughput).collect(),
            })
        },
    },
    Measure {
        name: "p50 ms",
        is_more_better: false,
        is_judged: true,
        values: |run| {
            Values::Timed(match run.repeats.as_slice() {
                [] => run.latency.iter().map(|latency| latency.p50_ms).collect(),
                repeats => repeats.iter().filter_map(|repeat| repeat.p50_ms).collect(),
            })
        },
    },
    Measure {
        name: "p99 ms",
        is_more_better: false,
        is_judged: false,
        values: |run| {
            Values::Timed(match run.repeats.as_slice() {
                [] => run.latency.iter().filter_map(|l| l.p99_ms).collect(),
                repeats => repeats.iter().filter_map(|repeat| repeat.p99_ms).collect(),
            })
        },
    },
    Measure {
        name: "round trips",
        is_more_better: false,
        is_judged: true,
        values: |run| Values::Counted(run.round_trips.as_ref().map(|trips| trips.work)),
    },
    Measure {
        name: "flushes",
        is_more_better: false,
        is_judged: true,
        values: |run| Values::Counted(run.server.as_ref().map(|server| server.flushes)),
    },
    Measure {
        name: "ok %",
        is_more_better: true,
        is_judged: true,
        values: |run| Values::Counted(Some(run.success_percent())),
    },
];

/// Compares every run that both reports have.
#[must_use]
pub fn compare(old: &Report, new: &Report) -> Comparison {
    let mut lines = Vec::new();
    for run in &new.runs {
        let same = |other: &&RunResult| other.scenario == run.scenario && other.pair == run.pair;
        let Some(before) = old.runs.iter().find(same) else {
            continue;
        };
        for measure in &MEASURES {
            lines.extend(line(measure, before, run));
        }
    }
    Comparison {
        differences: differences(old, new),
        lines,
    }
}

fn line(measure: &Measure, before: &RunResult, now: &RunResult) -> Option<Compared> {
    let (a, b, verdict) = match ((measure.values)(before), (measure.values)(now)) {
        (Values::Timed(mut old), Values::Timed(mut new)) => {
            let (a, b) = (median(&mut old)?, median(&mut new)?);
            (a, b, of_times(&old, &new, measure.is_more_better))
        }
        (Values::Counted(old), Values::Counted(new)) => {
            let (a, b) = (old?, new?);
            (a, b, of_counts(a, b, measure.is_more_better))
        }
        _ => return None,
    };
    Some(Compared {
        scenario: now.scenario.clone(),
        pair: now.pair.clone(),
        measure: measure.name.to_owned(),
        before: a,
        now: b,
        ratio: times_better(a, b, measure.is_more_better),
        verdict,
    })
}

/// Sorts, and returns the value in the middle.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Both are sorted.
fn of_times(old: &[f64], new: &[f64], is_more_better: bool) -> Verdict {
    if old.len().min(new.len()) < TELLING_REPEATS {
        return Verdict::Unknown;
    }
    let is_above = new.first() > old.last();
    let is_below = new.last() < old.first();
    match (is_above, is_below) {
        (false, false) => Verdict::WithinNoise,
        (is_above, _) if is_above == is_more_better => Verdict::Better,
        _ => Verdict::Worse,
    }
}

fn of_counts(old: f64, new: f64, is_more_better: bool) -> Verdict {
    if (new - old).abs() <= SAME_COUNT * old.abs().max(new.abs()) {
        return Verdict::Same;
    }
    match (new > old) == is_more_better {
        true => Verdict::Better,
        false => Verdict::Worse,
    }
}

/// What makes the two reports hard to compare, each with both values.
#[must_use]
pub fn differences(old: &Report, new: &Report) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |name: &str, a: String, b: String| {
        if a != b {
            found.push(format!("{name}: {a} before, {b} now"));
        }
    };
    differ("target", old.target.clone(), new.target.clone());
    differ("rtt_ms", number(old.rtt_ms), number(new.rtt_ms));
    differ("cores", old.cores.to_string(), new.cores.to_string());
    if old.settings.is_empty() {
        found.push("settings: the earlier run does not tell them".to_owned());
        return found;
    }
    let names = old.settings.keys().chain(new.settings.keys());
    let names: std::collections::BTreeSet<_> = names.collect();
    for name in names {
        let shown = |report: &Report| {
            let value = report.settings.get(name.as_str());
            value.map_or_else(|| "unknown".to_owned(), Value::to_string)
        };
        if !HARMLESS.contains(&name.as_str()) {
            let (a, b) = (shown(old), shown(new));
            if a != b {
                found.push(format!("{name}: {a} before, {b} now"));
            }
        }
    }
    found
}

/// The measures that are below `limit` times as good as before and not within noise, in words.
#[must_use]
pub fn below(comparison: &Comparison, limit: f64) -> Vec<String> {
    let is_judged = |name: &str| MEASURES.iter().any(|m| m.is_judged && m.name == name);
    let lines = comparison.lines.iter();
    let bad = lines.filter(|line| {
        is_judged(&line.measure)
            && line.verdict != Verdict::WithinNoise
            && line.ratio.is_some_and(|ratio| ratio < limit)
    });
    bad.map(|line| {
        format!(
            "{} {}: {} is {} times as good as before",
            line.scenario,
            line.pair,
            line.measure,
            number(line.ratio.unwrap_or_default())
        )
    })
    .collect()
}

/// The comparison as text.
#[must_use]
pub fn text(comparison: &Comparison) -> String {
    let mut text = String::from("\ncompared with the earlier run; a ratio above 1 is better\n");
    if !comparison.differences.is_empty() {
        text.push_str("  WARNING: the two runs are not alike, so the ratios say little:\n");
        for difference in &comparison.differences {
            text.push_str(&format!("    {difference}\n"));
        }
    }
    let mut table = Table::new(&[
        "scenario", "conc.", "measure", "before", "now", "ratio", "verdict",
    ]);
    for line in &comparison.lines {
        table.line([
            line.scenario.clone(),
            line.pair.clone(),
            line.measure.clone(),
            number(line.before),
            number(line.now),
            shown(line.ratio),
            line.verdict.to_string(),
        ]);
    }
    text.push_str(&table.to_string());
    if comparison
        .lines
        .iter()
        .any(|line| line.verdict == Verdict::Unknown)
    {
        text.push_str("  may be noise: --repeat 3 or more in both runs tells\n");
    }
    text
}

/// How many times better the second is.
#[must_use]
pub fn times_better(old: f64, new: f64, is_more_better: bool) -> Option<f64> {
    let (above, below) = match is_more_better {
        true => (new, old),
        false => (old, new),
    };
    match (above, below) {
        (a, b) if a == b => Some(1.0),
        (_, 0.0) => None,
        (a, b) => Some(a / b),
    }
}

/// How many times better the second is, as text.
#[must_use]
pub fn ratio(old: f64, new: f64, is_more_better: bool) -> String {
    shown(times_better(old, new, is_more_better))
}

/// A ratio, as text.
#[must_use]
pub fn shown(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{}x", number(ratio)))
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
