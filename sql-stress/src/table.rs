//! The results as text.

use std::fmt::Write as _;

use crate::model::{Curve, Latency, Report, RunResult, ShapeCost};

/// Lines of cells, aligned: the first column to the left, the others to the right.
#[derive(Debug, Default)]
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// A table with this heading.
    #[must_use]
    pub fn new(heading: &[&str]) -> Self {
        Self(vec![
            heading.iter().map(|cell| (*cell).to_owned()).collect(),
        ])
    }

    /// Adds a line.
    pub fn line<const N: usize>(&mut self, cells: [String; N]) {
        self.0.push(cells.into());
    }

    /// Whether there is nothing below the heading.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len() < 2
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.0.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for line in &self.0 {
            let mut text = String::new();
            for (column, cell) in line.iter().enumerate() {
                let width = widths[column];
                if column == 0 {
                    write!(text, "  {cell:<width$}")?;
                } else {
                    write!(text, "  {cell:>width$}")?;
                }
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// A number with as many digits as a reader needs.
#[must_use]
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A number, if there is one.
#[must_use]
pub fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

/// The whole report.
#[must_use]
pub fn report(report: &Report) -> String {
    let mut text = format!(
        "\n{}, added round-trip time {} ms, {} cores, seed {}\n{}\n\n",
        report.target,
        number(report.rtt_ms),
        report.cores,
        report.seed,
        settings(report)
    );
    let _ = write!(text, "{}", summary(report));
    text.push_str(&footnotes(report));
    for run in &report.runs {
        text.push_str(&details(run));
    }
    if report.is_interrupted {
        text.push_str("\ninterrupted: these are the results so far\n");
    }
    text
}

/// The settings on one line.
#[must_use]
pub fn settings(report: &Report) -> String {
    let settings = report.settings.iter();
    let shown: Vec<_> = settings
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| match value.as_str() {
            Some(text) => format!("{name} {text}"),
            None => format!("{name} {value}"),
        })
        .collect();
    shown.join(", ")
}

/// Why some cells of the summary are empty, and what the others stand for.
fn footnotes(report: &Report) -> String {
    let mut text = String::new();
    let latencies = || report.runs.iter().filter_map(|run| run.latency.as_ref());
    if latencies().any(|latency| latency.p999_ms.is_none()) {
        text.push_str(
            "  p99 needs 100 samples and p99.9 needs 1,000; with fewer it would be the maximum\n",
        );
    }
    for run in report.runs.iter().filter(|run| !run.repeats.is_empty()) {
        let _ = writeln!(
            text,
            "  {} {}: {} repetitions, per s {}, p50 ms {}; the one in the middle is shown",
            run.scenario,
            run.pair,
            run.repeats.len(),
            spread(run.repeats.iter().map(|repeat| repeat.throughput)),
            spread(run.repeats.iter().filter_map(|repeat| repeat.p50_ms)),
        );
    }
    text
}

/// The least and the most of some values.
pub(crate) fn spread(values: impl Iterator<Item = f64> + Clone) -> String {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    match least <= most {
        true => format!("{} to {}", number(least), number(most)),
        false => "-".to_owned(),
    }
}

fn summary(report: &Report) -> Table {
    let mut table = Table::new(&[
        "scenario",
        "conc.",
        "done",
        "ok %",
        "per s",
        "activities/s",
        "p50 ms",
        "p90",
        "p99",
        "p99.9",
        "max",
    ]);
    for run in &report.runs {
        let time = |pick: fn(&Latency) -> Option<f64>| known(run.latency.as_ref().and_then(pick));
        table.line([
            run.scenario.clone(),
            run.pair.clone(),
            format!("{}/{}", run.completed, run.launched),
            format!("{:.2}", run.success_percent()),
            number(run.throughput),
            number(run.activity_throughput),
            time(|l| Some(l.p50_ms)),
            time(|l| Some(l.p90_ms)),
            time(|l| l.p99_ms),
            time(|l| l.p999_ms),
            time(|l| Some(l.max_ms)),
        ]);
    }
    table
}

fn details(run: &RunResult) -> String {
    let mut text = format!("\n{} {}\n", run.scenario, run.pair);
    if let Some(trips) = &run.round_trips {
        let _ = write!(
            text,
            "  round trips per orchestration: {} of work + {} client polls + {} empty fetches",
            number(trips.work),
            number(trips.client_polls),
            number(trips.empty_fetches)
        );
        if let Some(requests) = trips.requests {
            let _ = write!(text, "; {} requests in all", number(requests));
        }
        text.push('\n');
    }
    if let Some(server) = &run.server {
        let _ = writeln!(
            text,
            "  on the server per orchestration: {} flushes, {} bytes of log (estimated), {} bytes \
             in, {} out, {} rows read, {} written, {} locks, {} ms",
            number(server.flushes),
            number(server.log_bytes),
            number(server.bytes_received),
            number(server.bytes_sent),
            number(server.rows_read),
            number(server.rows_written),
            number(server.locks),
            number(server.server_ms)
        );
    }
    for fact in &run.facts {
        let mark = if fact.is_failure { "FAILED " } else { "" };
        let (name, value) = (&fact.name, number(fact.value));
        let _ = writeln!(text, "  {mark}{name}: {value} {}", fact.unit);
    }
    for error in &run.errors {
        let _ = writeln!(
            text,
            "  {} x {}: {}",
            error.count, error.class, error.example
        );
    }
    for table in [costs(run), procedures(run), operations(run)] {
        if !table.is_empty() {
            let _ = write!(text, "\n{table}");
        }
    }
    if !run.costs.is_empty() {
        text.push_str(
            "  * estimated from row images; server ms are the embedded engine's, not SQL Server's\n",
        );
    }
    if !run.curves.is_empty() {
        let _ = write!(text, "\n{}", curves(&run.curves));
    }
    text
}

/// What a line of costs tells, in the order of [`cost_cells`].
pub(crate) const COST_HEADING: [&str; 10] = [
    "one orchestration",
    "calls",
    "flushes",
    "claims delayed",
    "log bytes *",
    "rows read",
    "written",
    "locks",
    "wire bytes",
    "server ms",
];

/// The cells of a line of costs.
pub(crate) fn cost_cells(line: &ShapeCost) -> [String; 10] {
    let cost = &line.cost;
    [
        line.shape.clone(),
        number(cost.calls),
        number(cost.flushes),
        number(line.delayed_flushes),
        number(cost.log_bytes),
        number(cost.rows_read),
        number(cost.rows_written),
        number(cost.locks),
        number(cost.bytes_received + cost.bytes_sent),
        number(cost.server_ms),
    ]
}

fn costs(run: &RunResult) -> Table {
    let mut table = Table::new(&COST_HEADING);
    for line in &run.costs {
        table.line(cost_cells(line));
    }
    table
}

fn procedures(run: &RunResult) -> Table {
    let mut table = Table::new(&[
        "on the server",
        "calls",
        "mean ms",
        "rows read",
        "written",
        "locks",
        "lock waits",
        "bytes sent",
    ]);
    for line in &run.procedures {
        table.line([
            line.name.clone(),
            line.calls.to_string(),
            format!("{:.3}", line.mean_ms),
            number(line.rows_read),
            number(line.rows_written),
            number(line.locks),
            line.lock_waits.to_string(),
            number(line.bytes_sent),
        ]);
    }
    table
}

fn operations(run: &RunResult) -> Table {
    let mut table = Table::new(&[
        "as callers see it",
        "calls",
        "found",
        "errors",
        "p50 ms",
        "p99",
    ]);
    for line in &run.operations {
        let time = |pick: fn(&Latency) -> Option<f64>| known(line.latency.as_ref().and_then(pick));
        table.line([
            format!("{} {}", line.caller, line.name),
            line.calls.to_string(),
            line.found.map_or_else(|| "-".to_owned(), |n| n.to_string()),
            line.errors.to_string(),
            time(|l| Some(l.p50_ms)),
            time(|l| l.p99_ms),
        ]);
    }
    table
}

fn curves(curves: &[Curve]) -> Table {
    let mut table = Table::new(&[
        "growth",
        "with",
        "size",
        "p50 ms",
        "p99",
        "rows read",
        "ghosts",
        "locks",
        "must be flat",
    ]);
    for curve in curves {
        for point in &curve.points {
            table.line([
                curve.name.clone(),
                curve.grows_with.clone(),
                format!("{}", point.x),
                format!("{:.3}", point.p50_ms),
                format!("{:.3}", point.p99_ms),
                known(point.rows_read),
                known(point.ghosts_read),
                known(point.locks),
                match (curve.must_be_flat, curve.is_wrong()) {
                    (false, _) => "",
                    (true, false) => "yes, is",
                    (true, true) => "yes, RISES",
                }
                .to_owned(),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fact;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["a", "b"]);
        table.line(["long name".to_owned(), "1".to_owned()]);
        table.line(["é".to_owned(), "200".to_owned()]);
        assert_eq!(
            table.to_string(),
            "  a            b\n  long name    1\n  é          200\n"
        );
    }

    #[test]
    fn numbers_have_three_digits_or_more() {
        let shown = [0.0, 0.001, 1.234, 12.34, 123.4, 12345.6].map(number);
        assert_eq!(shown, ["0", "0.00", "1.23", "12.3", "123", "12346"]);
    }

    #[test]
    fn broken_promises_stand_out() {
        let mut run = RunResult::default();
        run.facts.push(Fact {
            name: "left in the queues".into(),
            value: 3.0,
            unit: "messages".into(),
            is_failure: true,
        });
        assert!(details(&run).contains("FAILED left in the queues: 3.00 messages"));
    }
}
