//! Plots as SVG.

use std::fmt::Write as _;

use super::escape;
use super::scale::{Scale, label};
use crate::model::{Curve, Latency, Point, Slice};
use crate::table::number;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 508.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 222.0;
/// Lines of a legend are this far apart.
const LEGEND_STEP: f64 = 16.0;
/// Marks of a histogram have their labels this far apart.
const MARK_STEP: f64 = 150.0;
const COLOURS: usize = 6;

/// How many orchestrations took how long, on a logarithmic axis.
pub(super) fn histogram(latency: &Latency) -> String {
    let (Some(first), Some(last)) = (latency.bars.first(), latency.bars.last()) else {
        return String::new();
    };
    let most = latency.bars.iter().map(|bar| bar.count).max().unwrap_or(0);
    let x = Scale::log(first.from_ms, last.to_ms, LEFT, RIGHT);
    // The labels of the two marks stand above the bars.
    let y = Scale::linear(most as f64, BOTTOM, TOP + 2.0 * LEGEND_STEP);
    let mut svg = open(&x, &y, "ms");
    for bar in &latency.bars {
        let (left, right) = (x.at(bar.from_ms), x.at(bar.to_ms));
        let top = y.at(bar.count as f64);
        let _ = writeln!(
            svg,
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
             <title>{} to {} ms: {}</title></rect>",
            (right - left - 1.0).max(1.0),
            BOTTOM - top,
            number(bar.from_ms),
            number(bar.to_ms),
            bar.count
        );
    }
    marks(&mut svg, &x, latency);
    svg + "</svg>"
}

/// Lines at the percentiles. Their labels stand side by side above the drawing, where nothing else is,
/// because two percentiles may be so near to each other that labels at their lines would collide.
fn marks(svg: &mut String, x: &Scale, latency: &Latency) {
    let known = [("p50", Some(latency.p50_ms)), ("p99", latency.p99_ms)];
    let known = known.into_iter().filter_map(|(name, ms)| Some((name, ms?)));
    for (at, (name, ms)) in known.enumerate() {
        let place = x.at(ms).clamp(LEFT, RIGHT);
        let left = LEFT + MARK_STEP * at as f64;
        let _ = writeln!(
            svg,
            "<line class=\"mark {name}\" x1=\"{place:.1}\" y1=\"{}\" x2=\"{place:.1}\" \
             y2=\"{BOTTOM}\"/>\
             <line class=\"mark {name}\" x1=\"{left}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\
             <text x=\"{}\" y=\"{}\">{name} {} ms</text>",
            TOP + LEGEND_STEP,
            TOP + 4.0,
            left + 22.0,
            TOP + 4.0,
            left + 28.0,
            TOP + 8.0,
            number(ms)
        );
    }
}

/// Median and longest latency of each second; empty when there are not two seconds that have any.
pub(super) fn latency_over_time(slices: &[Slice]) -> String {
    let points = |pick: fn(&Slice) -> Option<f64>| -> Vec<(f64, f64)> {
        let seconds = slices.iter().enumerate();
        let known = seconds.filter_map(|(second, slice)| Some((second as f64 + 0.5, pick(slice)?)));
        known.collect()
    };
    let (median, longest) = (points(|slice| slice.p50_ms), points(|slice| slice.max_ms));
    if median.len() < 2 {
        return String::new();
    }
    let all = || median.iter().chain(&longest).map(|(_, ms)| *ms);
    let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
    let x = Scale::linear(slices.len() as f64, LEFT, RIGHT);
    let y = Scale::log(low / 1.2, high * 1.2, BOTTOM, TOP + LEGEND_STEP);
    let mut svg = open(&x, &y, "s");
    line(&mut svg, &x, &y, "p50", &median, 0);
    line(&mut svg, &x, &y, "longest", &longest, 1);
    svg + "</svg>"
}

/// What was completed in each second, and what went wrong.
pub(super) fn timeline(slices: &[Slice]) -> String {
    let most = slices.iter().map(|s| s.completed.max(s.errors)).max();
    let Some(most) = most.filter(|most| *most > 0) else {
        return String::new();
    };
    let x = Scale::linear(slices.len() as f64, LEFT, RIGHT);
    let y = Scale::linear(most as f64, BOTTOM, TOP);
    let mut svg = open(&x, &y, "s");
    let width = (x.at(1.0) - x.at(0.0) - 1.0).max(0.5);
    for (second, slice) in slices.iter().enumerate() {
        let left = x.at(second as f64);
        for (count, class) in [(slice.completed, "bar"), (slice.errors, "bar error")] {
            if count > 0 {
                let top = y.at(count as f64);
                let _ = writeln!(
                    svg,
                    "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
                     height=\"{:.1}\"><title>second {second}: {} completed, {} errors</title>\
                     </rect>",
                    BOTTOM - top,
                    slice.completed,
                    slice.errors
                );
            }
        }
    }
    svg + "</svg>"
}

/// One line per curve, both axes logarithmic; empty when nothing is known.
///
/// A logarithm knows no zero, so smaller values are drawn at `floor`.
pub(super) fn growth(curves: &[Curve], floor: f64, value: fn(&Point) -> Option<f64>) -> String {
    let known: Vec<(&str, Vec<(f64, f64)>)> = curves
        .iter()
        .map(|curve| {
            let points = curve.points.iter();
            let points = points.filter_map(|point| Some((point.x, value(point)?)));
            (curve.name.as_str(), points.collect())
        })
        .collect();
    let all = || known.iter().flat_map(|(_, points)| points.iter().copied());
    if all().next().is_none() {
        return String::new();
    }
    let extent = |pick: fn((f64, f64)) -> f64| {
        all()
            .map(|point| pick(point).max(floor))
            .fold((f64::MAX, floor), |(low, high), v| {
                (low.min(v), high.max(v))
            })
    };
    let (x_extent, y_extent) = (extent(|(x, _)| x), extent(|(_, y)| y));
    let x = Scale::log(x_extent.0, x_extent.1, LEFT, RIGHT);
    // The legend needs the upper part for itself.
    let top = TOP + LEGEND_STEP * known.len().div_ceil(2) as f64;
    let y = Scale::log(y_extent.0 / 1.5, y_extent.1 * 1.5, BOTTOM, top);
    let mut svg = open(&x, &y, "");
    for (at, (name, points)) in known.iter().enumerate() {
        line(&mut svg, &x, &y, name, points, at);
    }
    svg + "</svg>"
}

fn line(svg: &mut String, x: &Scale, y: &Scale, name: &str, points: &[(f64, f64)], at: usize) {
    let colour = format!("var(--c{})", at % COLOURS);
    let name = escape(name);
    let places: Vec<_> = points
        .iter()
        .map(|(a, b)| format!("{:.1},{:.1}", x.at(*a), y.at(*b)))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline style=\"stroke:{colour}\" points=\"{}\"/>",
        places.join(" ")
    );
    for (a, b) in points {
        let _ = writeln!(
            svg,
            "<circle style=\"fill:{colour}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"><title>{name} at \
             {a}: {}</title></circle>",
            x.at(*a),
            y.at(*b),
            number(*b)
        );
    }
    let (column, row) = ((at % 2) as f64, (at / 2) as f64);
    let (left, top) = (LEFT + 4.0 + column * 230.0, TOP + row * LEGEND_STEP);
    let _ = writeln!(
        svg,
        "<rect style=\"fill:{colour}\" x=\"{left}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>\
         <text x=\"{}\" y=\"{}\">{name}</text>",
        top - 6.0,
        left + 15.0,
        top + 3.0
    );
}

/// The drawing's beginning, with its axes. `unit` stands behind the last label of the x axis.
fn open(x: &Scale, y: &Scale, unit: &str) -> String {
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n");
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            label(tick)
        );
    }
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{BOTTOM}\" x2=\"{at:.1}\" y2=\"{}\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 5.0,
            BOTTOM + 18.0,
            label(tick)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{RIGHT}\" y=\"{}\" text-anchor=\"end\">{unit}</text>",
        BOTTOM + 33.0
    );
    svg
}
