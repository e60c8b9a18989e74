use super::*;
use crate::model::{Bar, ErrorCount, Point, Slice};

fn sample() -> Report {
    let bars = vec![
        Bar {
            from_ms: 1.0,
            to_ms: 1.25,
            count: 3,
        },
        Bar {
            from_ms: 1.25,
            to_ms: 1.56,
            count: 7,
        },
    ];
    let run = RunResult {
        scenario: "fan-out".into(),
        pair: "2:2".into(),
        launched: 10,
        completed: 10,
        throughput: 33.3,
        latency: Some(Latency {
            count: 10,
            p50_ms: 1.3,
            p99_ms: Some(1.5),
            bars,
            ..Latency::default()
        }),
        timeline: [1.3, 1.4]
            .map(|ms| Slice {
                completed: 10,
                errors: 1,
                p50_ms: Some(ms),
                max_ms: Some(2.0 * ms),
            })
            .to_vec(),
        errors: vec![ErrorCount {
            class: "<script>alert(1)</script>".into(),
            count: 1,
            example: "a & b".into(),
        }],
        ..RunResult::default()
    };
    let curve = Curve {
        name: "ack_work_item".into(),
        grows_with: "waiting rows".into(),
        must_be_flat: true,
        points: [1e3, 1e6]
            .map(|x| Point {
                x,
                p50_ms: 0.4,
                rows_read: Some(3.0),
                ..Point::default()
            })
            .to_vec(),
        ..Curve::default()
    };
    let growth = RunResult {
        scenario: "backlog".into(),
        launched: 1,
        completed: 1,
        curves: vec![curve],
        ..RunResult::default()
    };
    Report {
        target: "duroxide-sql on <host>".into(),
        started_at: 1_900_000_000,
        runs: vec![run, growth],
        ..Report::default()
    }
}

#[test]
fn page_loads_nothing_and_runs_nothing() {
    let page = page(&sample());
    for forbidden in ["http:", "https:", "<script", "@import", "url(", "src="] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn page_shows_the_numbers_and_escapes_the_words() {
    let page = page(&sample());
    for wanted in [
        "33.3",
        "p50 1.30 ms",
        "second 0: 10 completed, 1 errors",
        "ack_work_item at 1000000: 3.00",
        "&lt;script&gt;alert(1)",
        "a &amp; b",
        "duroxide-sql on &lt;host&gt;",
        "2030-03-17 17:46",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert_eq!(page.matches("<svg").count(), 5);
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

/// Both labels stand above the drawing, however near the percentiles are to each other.
#[test]
fn labels_of_percentiles_do_not_collide() {
    let page = page(&sample());
    let label = |text: &str| {
        let end = page.find(text).unwrap();
        let tag = page[..end].rfind("<text x=\"").unwrap();
        let place = &page[tag + "<text x=\"".len()..end];
        place.split('"').next().unwrap().parse::<f64>().unwrap()
    };
    assert!(label("p99 1.50 ms") - label("p50 1.30 ms") > 100.0);
}

#[test]
fn page_tells_settings_and_comparison() {
    let mut report = sample();
    report.settings.insert("pool_max".to_owned(), 7.into());
    report.comparison = Some(Comparison {
        differences: vec!["pool_max: 5 before, 7 now".to_owned()],
        lines: vec![crate::model::Compared {
            measure: "per s".to_owned(),
            verdict: Verdict::Worse,
            ..crate::model::Compared::default()
        }],
    });
    let page = page(&report);
    for wanted in [
        "<dt>pool_max</dt><dd>7</dd>",
        "not alike",
        "pool_max: 5 before",
        "WORSE",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[test]
fn page_of_an_empty_report_is_still_a_page() {
    assert!(page(&Report::default()).contains("something failed"));
}

#[test]
fn dates_follow_the_calendar() {
    assert_eq!(utc(0), "1970-01-01 00:00");
    assert_eq!(utc(951_782_400), "2000-02-29 00:00");
    assert_eq!(utc(1_709_251_199), "2024-02-29 23:59");
    assert_eq!(utc(1_735_689_600), "2025-01-01 00:00");
}
