//! The curves as a table, and whether they are as flat as promised.

use super::Shape;
use crate::model::{Curve, Fact, Point};
use crate::table::{Table, known, number};

/// The name that the provider in memory has.
const FREE: &str = "memory";
/// The size that growth is told against, and the one that promises are made for.
const SMALL: f64 = 100.0;
const LARGE: f64 = 1_000.0;
/// Growth from [`SMALL`] to [`LARGE`], beyond the growth of the runtime's own share.
const GROWTH_MOST: f64 = 1.5;
/// Milliseconds per activity of a fan-in of [`LARGE`].
const FAN_IN_MOST_MS: f64 = 2.5;
/// Times the runtime's own share that a sequence of [`LARGE`] takes.
const SEQUENCE_MOST: f64 = 2.0;

fn at(curve: &Curve, size: f64) -> Option<&Point> {
    curve.points.iter().find(|point| point.x == size)
}

/// A line for every size and provider.
#[must_use]
pub fn table(shape: Shape, curves: &[Curve]) -> Table {
    let heading = [
        shape.name(),
        "provider",
        "ms each",
        "to memory",
        "to the first",
        "calls each",
        "bytes each",
        "flushes each",
        "rows read each",
    ];
    let mut table = Table::new(&heading);
    let free = curves.iter().find(|curve| curve.name == FREE);
    let sizes = curves.iter().flat_map(|curve| curve.points.iter());
    let mut sizes: Vec<f64> = sizes.map(|point| point.x).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        for curve in curves {
            let point = at(curve, size);
            let share = free.and_then(|free| at(free, size));
            let times = |to: Option<&Point>| Some(point?.p50_ms / to?.p50_ms);
            table.line([
                format!("{size}"),
                curve.name.clone(),
                point.map_or_else(|| "too long".to_owned(), |p| format!("{:.3}", p.p50_ms)),
                known(times(share)),
                known(times(curve.points.first())),
                known(point.and_then(|p| p.calls)),
                known(point.and_then(|p| p.bytes)),
                known(point.and_then(|p| p.flushes)),
                known(point.and_then(|p| p.rows_read)),
            ]);
        }
    }
    table
}

/// What was promised of a shape, measured: names tell the limit. `ours` names the curve that is judged.
/// Promises are made for no added delay, so that delays leave only the one about growth.
#[must_use]
pub fn goals(shape: Shape, curves: &[Curve], ours: &str, has_delay: bool) -> Vec<Fact> {
    let find = |name: &str| curves.iter().find(|curve| curve.name == name);
    let (Some(ours), Some(free)) = (find(ours), find(FREE)) else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    let mut goal = |name: String, value: f64, most: f64, unit: &str| {
        let (word, most) = (if value <= most { "met" } else { "NOT MET" }, number(most));
        facts.push(Fact {
            name: format!("{name}, at most {most} wanted, {word}"),
            value,
            unit: unit.to_owned(),
            is_failure: false,
        });
    };
    let ms = |curve, size| at(curve, size).map(|point: &Point| point.p50_ms);
    let both = |size| Some((ms(ours, size)?, ms(free, size)?));
    if let (Some((small, small_free)), Some((large, large_free))) = (both(SMALL), both(LARGE)) {
        let own = (large_free / small_free).max(1.0);
        let name =
            "ms per activity at 1,000 to that at 100, beyond the runtime's growth".to_owned();
        goal(name, large / small / own, GROWTH_MOST, "times");
        let bytes = |size| at(ours, size).and_then(|point: &Point| point.bytes);
        if let (Some(small), Some(large)) = (bytes(SMALL), bytes(LARGE)) {
            let name = "bytes on the wire per activity at 1,000 to those at 100".to_owned();
            goal(name, large / small, GROWTH_MOST, "times");
        }
    }
    if let (Some((large, large_free)), false) = (both(LARGE), has_delay) {
        match shape {
            Shape::FanIn => goal(
                "fan-in of 1,000".to_owned(),
                large,
                FAN_IN_MOST_MS,
                "ms each",
            ),
            Shape::Sequence => {
                let name = "sequence of 1,000 to the runtime's own share".to_owned();
                goal(name, large / large_free, SEQUENCE_MOST, "times");
            }
            Shape::LongHistory => {}
        }
    }
    // The same told more strictly, and without a limit: where the runtime's share is all but everything, this is
    // the difference of two large numbers.
    if let (Some((small, small_free)), Some((large, large_free))) = (both(SMALL), both(LARGE)) {
        facts.push(Fact {
            name: "what comes on top of the runtime's share, at 1,000 to that at 100".to_owned(),
            value: (large - large_free) / (small - small_free).max(1e-6),
            unit: "times".to_owned(),
            is_failure: false,
        });
    }
    facts
}
