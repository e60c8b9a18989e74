//! The results as one self-contained page: tables and plots, no scripts, nothing to load.

mod plot;
mod scale;

use std::fmt::Write as _;

use serde_json::Value;

use crate::compare::shown;
use crate::model::{Comparison, Curve, Latency, Point, Report, RunResult, Verdict};
use crate::table::{COST_HEADING, cost_cells, number, spread};

const STYLE: &str = include_str!("style.css");

/// The page.
#[must_use]
pub fn page(report: &Report) -> String {
    let mut body = heading(report);
    body.push_str(&settings(report));
    body.push_str(&overview(report));
    if let Some(comparison) = &report.comparison {
        body.push_str(&compared(comparison));
    }
    for run in &report.runs {
        body.push_str(&section(run));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>sql-stress: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\
         </main>\n</body>\n</html>\n",
        escape(&report.target)
    )
}

/// Text that cannot become markup.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn heading(report: &Report) -> String {
    let (word, class) = match (report.is_success(), report.is_interrupted) {
        (true, false) => ("everything succeeded", "good"),
        (true, true) => ("interrupted; everything that ended succeeded", "good"),
        (false, _) => ("something failed", "bad"),
    };
    format!(
        "<header>\n<h1>sql-stress <span class=\"{class}\">{word}</span></h1>\n<p>{} · added \
         round-trip time {} ms · {} cores · seed {} · release {} · began {} UTC</p>\n</header>\n",
        escape(&report.target),
        number(report.rtt_ms),
        report.cores,
        report.seed,
        escape(&report.version),
        utc(report.started_at),
    )
}

/// `2026-01-31 12:00`, by the rules of the Gregorian calendar.
fn utc(unix: u64) -> String {
    let (days, rest) = (unix / 86_400, unix % 86_400);
    // Years are counted from March, so that the leap day comes last.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (rest / 3600, rest % 3600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

fn settings(report: &Report) -> String {
    let mut html = String::from("<dl class=\"settings\">\n");
    for (name, value) in &report.settings {
        let shown = match value {
            Value::Null => "default".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let _ = writeln!(
            html,
            "<div><dt>{}</dt><dd>{}</dd></div>",
            escape(name),
            escape(&shown)
        );
    }
    html + "</dl>\n"
}

fn compared(comparison: &Comparison) -> String {
    let mut html = String::from(
        "<section>\n<h2>Compared with the earlier run <small>a ratio above 1 is \
         better</small></h2>\n",
    );
    if !comparison.differences.is_empty() {
        html.push_str(
            "<p class=\"bad\">The two runs are not alike, so the ratios say little:</p>\n<ul>\n",
        );
        for difference in &comparison.differences {
            let _ = writeln!(html, "<li>{}</li>", escape(difference));
        }
        html.push_str("</ul>\n");
    }
    html.push_str(
        "<table>\n<tr><th>scenario</th><th>dispatchers:workers</th><th>measure</th><th>before</th>\
         <th>now</th><th>ratio</th><th>verdict</th></tr>\n",
    );
    for line in &comparison.lines {
        let class = match line.verdict {
            Verdict::Better => "good",
            Verdict::Worse => "bad",
            _ => "",
        };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td class=\"{class}\">{}</td></tr>",
            escape(&line.scenario),
            escape(&line.pair),
            escape(&line.measure),
            number(line.before),
            number(line.now),
            shown(line.ratio),
            line.verdict
        );
    }
    html + "</table>\n</section>\n"
}

fn overview(report: &Report) -> String {
    let mut rows = String::new();
    for run in &report.runs {
        let class = if run.is_success() {
            ""
        } else {
            " class=\"bad\""
        };
        let _ = writeln!(
            rows,
            "<tr{class}><td>{}</td><td>{}</td><td>{}/{}</td><td>{:.2}</td><td>{}</td>{}</tr>",
            escape(&run.scenario),
            escape(&run.pair),
            run.completed,
            run.launched,
            run.success_percent(),
            number(run.throughput),
            latency_cells(run.latency.as_ref()),
        );
    }
    format!(
        "<table>\n<tr><th>scenario</th><th>dispatchers:workers</th><th>done</th><th>ok %</th>\
         <th>per s</th><th>p50 ms</th><th>p90</th><th>p99</th><th>p99.9</th><th>max</th></tr>\n\
         {rows}</table>\n"
    )
}

fn latency_cells(latency: Option<&Latency>) -> String {
    match latency {
        None => "<td>–</td>".repeat(5),
        Some(l) => [
            Some(l.p50_ms),
            Some(l.p90_ms),
            l.p99_ms,
            l.p999_ms,
            Some(l.max_ms),
        ]
        .map(|ms| match ms {
            Some(ms) => format!("<td>{}</td>", number(ms)),
            None => "<td title=\"too few samples: it would be the maximum\">–</td>".to_owned(),
        })
        .concat(),
    }
}

fn section(run: &RunResult) -> String {
    let mut html = format!(
        "<section>\n<h2>{} <small>{}</small></h2>\n{}",
        escape(&run.scenario),
        escape(&run.pair),
        tiles(run)
    );
    let mut figures = String::new();
    let mut figure = |title: &str, plot: String| {
        if !plot.is_empty() {
            let _ = writeln!(
                figures,
                "<figure><figcaption>{title}</figcaption>{plot}</figure>"
            );
        }
    };
    if run.curves.is_empty() {
        if let Some(latency) = &run.latency {
            figure(
                "Latency, by number of orchestrations",
                plot::histogram(latency),
            );
        }
        figure("Completed per second", plot::timeline(&run.timeline));
        figure(
            "Latency of those that completed in each second, ms",
            plot::latency_over_time(&run.timeline),
        );
    } else {
        let axis = escape(run.curves.first().map_or("", |curve| &curve.grows_with));
        let title = |what: &str| format!("{what}, by {axis}");
        let first = run.curves.first().map_or("", |curve| &curve.title);
        let time = match first {
            "" => "Median time of a call, ms",
            title => title,
        };
        figure(
            &title(&escape(time)),
            plot::growth(&run.curves, 1e-3, |p| Some(p.p50_ms)),
        );
        figure(
            &title("Index entries the server visits per call"),
            plot::growth(&run.curves, 0.5, Point::entries),
        );
        figure(
            &title("Bytes on the wire"),
            plot::growth(&run.curves, 1.0, |p| p.bytes),
        );
    }
    let _ = writeln!(html, "<div class=\"figures\">\n{figures}</div>");
    html.push_str(&costs(run));
    html.push_str(&growth_table(&run.curves));
    html.push_str(&errors(run));
    html.push_str(&procedures(run));
    html.push_str("</section>\n");
    html
}

fn tiles(run: &RunResult) -> String {
    let mut tiles: Vec<(String, String, bool)> = Vec::new();
    let mut tile = |name: &str, value: String| tiles.push((name.to_owned(), value, false));
    if run.curves.is_empty() && run.activity_throughput > 0.0 {
        tile("orchestrations/s", number(run.throughput));
        tile("activities/s", number(run.activity_throughput));
    }
    if let (Some(latency), true) = (&run.latency, run.curves.is_empty()) {
        tile("p50", format!("{} ms", number(latency.p50_ms)));
        if let Some(p99) = latency.p99_ms {
            tile("p99", format!("{} ms", number(p99)));
        }
    }
    if !run.repeats.is_empty() {
        let name = format!("orchestrations/s in {} repetitions", run.repeats.len());
        tile(
            &name,
            spread(run.repeats.iter().map(|repeat| repeat.throughput)),
        );
    }
    tile("succeeded", format!("{:.2} %", run.success_percent()));
    if let Some(trips) = &run.round_trips {
        tile("round trips of work each", number(trips.work));
        tile("client polls each", number(trips.client_polls));
        if let Some(requests) = trips.requests {
            tile("requests each", number(requests));
        }
    }
    if let Some(server) = &run.server {
        tile("flushes each", number(server.flushes));
        tile("bytes of log each, estimated", number(server.log_bytes));
        tile(
            "bytes on the wire each",
            number(server.bytes_received + server.bytes_sent),
        );
    }
    for fact in &run.facts {
        let value = format!("{} {}", number(fact.value), fact.unit);
        tiles.push((fact.name.clone(), value, fact.is_failure));
    }
    let mut html = String::from("<div class=\"tiles\">\n");
    for (name, value, is_failure) in tiles {
        let class = if is_failure { " bad" } else { "" };
        let _ = writeln!(
            html,
            "<div class=\"tile{class}\"><b>{}</b><span>{}</span></div>",
            escape(&value),
            escape(&name)
        );
    }
    html + "</div>\n"
}

fn costs(run: &RunResult) -> String {
    if run.costs.is_empty() {
        return String::new();
    }
    let cells = |cells: [String; 10], tag: &str| {
        let cells = cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(&cell)));
        format!("<tr>{}</tr>\n", cells.concat())
    };
    let mut html = String::from("<table>\n");
    html.push_str(&cells(COST_HEADING.map(str::to_owned), "th"));
    for line in &run.costs {
        html.push_str(&cells(cost_cells(line), "td"));
    }
    html + "</table>\n<p>* estimated from row images; times are the embedded engine's</p>\n"
}

fn growth_table(curves: &[Curve]) -> String {
    let Some(first) = curves.first() else {
        return String::new();
    };
    let mut html = String::from("<table>\n<tr><th>p50 ms · entries visited</th>");
    for point in &first.points {
        let _ = write!(html, "<th>{}</th>", point.x);
    }
    html.push_str("<th>verdict</th></tr>\n");
    for curve in curves {
        let _ = write!(html, "<tr><td>{}</td>", escape(&curve.name));
        for point in &curve.points {
            let rows = point.entries().map_or_else(|| "–".to_owned(), number);
            let _ = write!(html, "<td>{:.3} · {rows}</td>", point.p50_ms);
        }
        let verdict = match (curve.must_be_flat, curve.is_wrong()) {
            (false, _) => "<td>may grow</td>",
            (true, false) => "<td class=\"good\">flat</td>",
            (true, true) => "<td class=\"bad\">rises</td>",
        };
        let _ = writeln!(html, "{verdict}</tr>");
    }
    html + "</table>\n"
}

fn errors(run: &RunResult) -> String {
    if run.errors.is_empty() {
        return String::new();
    }
    let mut html = String::from("<table>\n<tr><th>error</th><th>times</th><th>first</th></tr>\n");
    for error in &run.errors {
        let _ = writeln!(
            html,
            "<tr class=\"bad\"><td>{}</td><td>{}</td><td class=\"words\">{}</td></tr>",
            escape(&error.class),
            error.count,
            escape(&error.example)
        );
    }
    html + "</table>\n"
}

fn procedures(run: &RunResult) -> String {
    if run.procedures.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<details><summary>What the server did</summary>\n<table>\n<tr><th>procedure</th>\
         <th>calls</th><th>mean ms</th><th>rows read</th><th>written</th><th>locks</th>\
         <th>lock waits</th><th>bytes sent</th></tr>\n",
    );
    for line in &run.procedures {
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{:.3}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td></tr>",
            escape(&line.name),
            line.calls,
            line.mean_ms,
            number(line.rows_read),
            number(line.rows_written),
            number(line.locks),
            line.lock_waits,
            number(line.bytes_sent)
        );
    }
    html + "</table></details>\n"
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
