use super::*;
use crate::model::{Latency, Repeat};

fn report(throughput: f64, p50_ms: f64) -> Report {
    let run = RunResult {
        scenario: "fan-out".into(),
        pair: "2:2".into(),
        launched: 1,
        completed: 1,
        throughput,
        latency: Some(Latency {
            p50_ms,
            p99_ms: Some(9.0),
            ..Latency::default()
        }),
        ..RunResult::default()
    };
    Report {
        runs: vec![run],
        settings: [("duration_ms".to_owned(), Value::from(10_000))].into(),
        ..Report::default()
    }
}

fn repeated(values: &[f64]) -> Report {
    let mut report = report(values[0], 1.0);
    let repeat = |throughput: &f64| Repeat {
        throughput: *throughput,
        is_success: true,
        ..Repeat::default()
    };
    report.runs[0].repeats = values.iter().map(repeat).collect();
    report
}

fn throughput(comparison: &Comparison) -> &Compared {
    let mut lines = comparison.lines.iter();
    lines.find(|line| line.measure == "per s").unwrap()
}

#[test]
fn ratio_above_one_is_better_for_every_measure() {
    let comparison = compare(&report(10.0, 8.0), &report(20.0, 4.0));
    let ratios: Vec<_> = comparison.lines.iter().map(|line| line.ratio).collect();
    assert_eq!(ratios, [Some(2.0), Some(2.0), Some(1.0), Some(1.0)]);
    assert_eq!(ratio(0.0, 5.0, true), "-");
}

#[test]
fn runs_that_only_one_report_has_are_left_out() {
    let mut other = report(1.0, 1.0);
    other.runs[0].pair = "8:8".into();
    assert!(compare(&other, &report(1.0, 1.0)).lines.is_empty());
}

#[test]
fn unlike_runs_are_warned_of_with_both_values() {
    let (mut old, new) = (report(1.0, 1.0), report(1.0, 1.0));
    assert!(differences(&old, &new).is_empty());
    old.rtt_ms = 10.0;
    old.settings.insert("duration_ms".to_owned(), 300.into());
    old.settings.insert("repeat".to_owned(), 5.into());
    let told = text(&compare(&old, &new));
    for wanted in [
        "not alike",
        "rtt_ms: 10.0 before, 0 now",
        "duration_ms: 300 before, 10000 now",
    ] {
        assert!(told.contains(wanted), "{told}");
    }
    assert!(!told.contains("repeat: 5"), "{told}");
    old.settings.clear();
    assert!(text(&compare(&old, &new)).contains("does not tell"));
}

#[test]
fn verdict_knows_noise() {
    let verdict =
        |old: &[f64], new: &[f64]| throughput(&compare(&repeated(old), &repeated(new))).verdict;
    assert_eq!(verdict(&[10.0], &[20.0]), Verdict::Unknown);
    let old = [10.0, 12.0, 11.0];
    assert_eq!(verdict(&old, &[11.5, 13.0, 14.0]), Verdict::WithinNoise);
    assert_eq!(verdict(&old, &[13.0, 12.5, 14.0]), Verdict::Better);
    assert_eq!(verdict(&old, &[9.0, 9.9, 5.0]), Verdict::Worse);
    let middle = compare(&repeated(&old), &repeated(&[9.0, 9.9, 5.0]));
    assert_eq!(
        (throughput(&middle).before, throughput(&middle).now),
        (11.0, 9.0)
    );
}

#[test]
fn only_what_is_not_noise_falls_below_the_limit() {
    let old = repeated(&[10.0, 12.0, 11.0]);
    let bad = below(&compare(&old, &repeated(&[8.0, 9.0, 7.0])), 0.9);
    assert_eq!(bad, ["fan-out 2:2: per s is 0.73 times as good as before"]);
    assert!(below(&compare(&old, &repeated(&[8.0, 9.0, 10.5])), 0.95).is_empty());
    assert!(below(&compare(&old, &repeated(&[8.0, 9.0, 7.0])), 0.5).is_empty());
}
