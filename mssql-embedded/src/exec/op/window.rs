//! Window functions: everything is read, each function is computed over its partitions, and the
//! rows are handed out in the order of the last function's sort, as SQL Server's plans do.

use crate::ast::{Frame, FrameBound};
use crate::error::{SqlError, SqlResult};
use crate::func::{Accumulator, Aggregate};
use crate::plan::{WindowFunction, WindowKind};
use crate::value::Value;
use crate::value::compare::encode_key;

use super::super::{Env, eval};
use super::ordered::ordered;
use super::sort::sort_key;
use super::{Operator, Rows, drain};

/// A row with the bytes that place it: partition and order.
struct Placed {
    partition: Vec<u8>,
    order: Vec<u8>,
    args: Vec<Value>,
    row: Vec<Value>,
}

/// Computes the functions.
pub fn open_window(
    mut input: Box<dyn Operator + '_>,
    functions: &[WindowFunction],
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    let (mut rows, charge) = drain(&mut *input, level, env)?;
    for function in functions {
        rows = compute(rows, function, level, env)?;
    }
    Ok(Rows::new(rows, 0, level).charged(charge))
}

fn compute(
    rows: Vec<Vec<Value>>,
    function: &WindowFunction,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut placed = Vec::with_capacity(rows.len());
    for row in rows {
        env.tick()?;
        env.rows[level] = row;
        let mut partition = Vec::new();
        for (expr, ty) in &function.partition {
            let value = eval(expr, env)?;
            encode_key(&value, ty, false, &mut partition);
        }
        let order = sort_key(&function.order, env)?;
        let mut args = Vec::with_capacity(function.args.len());
        for arg in &function.args {
            args.push(eval(arg, env)?);
        }
        placed.push(Placed {
            partition,
            order,
            args,
            row: env.rows[level].clone(),
        });
    }
    let place = |a: &Placed, b: &Placed| (&a.partition, &a.order).cmp(&(&b.partition, &b.order));
    let mut placed = ordered(placed, place, &mut || env.tick())?;
    let mut start = 0;
    while start < placed.len() {
        let mut end = start + 1;
        while end < placed.len() && placed[end].partition == placed[start].partition {
            end += 1;
        }
        let values = partition_values(&placed[start..end], function, env)?;
        for (p, value) in placed[start..end].iter_mut().zip(values) {
            p.row[function.slot] = value;
        }
        start = end;
    }
    Ok(placed.into_iter().map(|p| p.row).collect())
}

/// The half-open ranges of peers: the rows whose order equals that of each row.
fn peers(rows: &[Placed], env: &mut Env<'_, '_>) -> SqlResult<Vec<(usize, usize)>> {
    let mut ranges = Vec::with_capacity(rows.len());
    while ranges.len() < rows.len() {
        let start = ranges.len();
        let mut end = start + 1;
        while end < rows.len() && rows[end].order == rows[start].order {
            env.tick()?;
            end += 1;
        }
        ranges.resize(end, (start, end));
    }
    Ok(ranges)
}

fn partition_values(
    rows: &[Placed],
    function: &WindowFunction,
    env: &mut Env<'_, '_>,
) -> SqlResult<Vec<Value>> {
    let n = rows.len();
    let peers = peers(rows, env)?;
    match &function.kind {
        WindowKind::RowNumber => Ok((1..=n as i64).map(Value::Int).collect()),
        WindowKind::Rank => Ok(peers
            .iter()
            .map(|(start, _)| Value::Int(*start as i64 + 1))
            .collect()),
        WindowKind::DenseRank => {
            let mut rank = 0;
            let mut values = Vec::with_capacity(n);
            for (i, (start, _)) in peers.iter().enumerate() {
                rank += i64::from(*start == i);
                values.push(Value::Int(rank));
            }
            Ok(values)
        }
        WindowKind::PercentRank => Ok(peers
            .iter()
            .map(|(start, _)| {
                let below = *start as f64;
                Value::Float(if n > 1 { below / (n as f64 - 1.0) } else { 0.0 })
            })
            .collect()),
        WindowKind::CumeDist => Ok(peers
            .iter()
            .map(|(_, end)| Value::Float(*end as f64 / n as f64))
            .collect()),
        WindowKind::Ntile => ntile(rows),
        WindowKind::Lag => offset_values(rows, -1),
        WindowKind::Lead => offset_values(rows, 1),
        WindowKind::FirstValue => Ok(frames(&peers, function)
            .map(|(start, end)| match rows.get(start) {
                Some(first) if start < end => first.args[0].clone(),
                Some(_) | None => Value::Null,
            })
            .collect()),
        WindowKind::LastValue => Ok(frames(&peers, function)
            .map(|(start, end)| {
                if start < end {
                    rows[end - 1].args[0].clone()
                } else {
                    Value::Null
                }
            })
            .collect()),
        WindowKind::Aggregate(aggregate) => {
            aggregate_values(rows, frames(&peers, function), function, *aggregate, env)
        }
    }
}

fn ntile(rows: &[Placed]) -> SqlResult<Vec<Value>> {
    let n = rows.len() as i64;
    let Some(Value::Int(tiles)) = rows.first().and_then(|r| r.args.first()).cloned() else {
        return Err(SqlError::new(
            4111,
            "The function 'NTILE' takes a positive integer.",
        ));
    };
    if tiles <= 0 {
        return Err(SqlError::new(
            4111,
            "The function 'NTILE' takes a positive integer.",
        ));
    }
    let (size, extra) = (n / tiles, n % tiles);
    let mut values = Vec::with_capacity(rows.len());
    for tile in 0..tiles.min(n) {
        let count = size + i64::from(tile < extra);
        values.extend(std::iter::repeat_n(Value::Int(tile + 1), count as usize));
    }
    Ok(values)
}

fn offset_values(rows: &[Placed], direction: i64) -> SqlResult<Vec<Value>> {
    let mut values = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let distance = match row.args.get(1) {
            None => 1,
            Some(Value::Int(n)) if *n >= 0 => *n,
            _ => {
                return Err(SqlError::new(
                    8730,
                    "Offset parameter for Lag and Lead functions cannot be a negative value.",
                ));
            }
        };
        let target = i as i64 + direction * distance;
        let found = usize::try_from(target).ok().and_then(|t| rows.get(t));
        values.push(match found {
            Some(other) => other.args[0].clone(),
            None => row.args.get(2).cloned().unwrap_or(Value::Null),
        });
    }
    Ok(values)
}

/// The half-open range of rows in the frame of each row.
fn frames(
    peers: &[(usize, usize)],
    function: &WindowFunction,
) -> impl Iterator<Item = (usize, usize)> {
    let ordered = !function.order.is_empty();
    (0..peers.len()).map(move |i| frame_of(peers, i, function.frame.as_ref(), ordered))
}

fn frame_of(
    peers: &[(usize, usize)],
    i: usize,
    frame: Option<&Frame>,
    ordered: bool,
) -> (usize, usize) {
    let n = peers.len();
    let Some(frame) = frame else {
        // The default frame: RANGE UNBOUNDED PRECEDING AND CURRENT ROW, or everything unordered.
        return (0, if ordered { peers[i].1 } else { n });
    };
    let start = match frame.start {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(k) => i.saturating_sub(k as usize),
        FrameBound::CurrentRow if frame.rows => i,
        FrameBound::CurrentRow => peers[i].0,
        FrameBound::Following(k) => (i + k as usize).min(n),
        FrameBound::UnboundedFollowing => n,
    };
    let end = match frame.end {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(k) => (i + 1).saturating_sub(k as usize),
        FrameBound::CurrentRow if frame.rows => i + 1,
        FrameBound::CurrentRow => peers[i].1,
        FrameBound::Following(k) => (i + k as usize + 1).min(n),
        FrameBound::UnboundedFollowing => n,
    };
    (start, end.max(start))
}

/// The aggregate over each frame. A frame that only grows is not added up anew.
fn aggregate_values(
    rows: &[Placed],
    frames: impl Iterator<Item = (usize, usize)>,
    function: &WindowFunction,
    aggregate: Aggregate,
    env: &mut Env<'_, '_>,
) -> SqlResult<Vec<Value>> {
    let anew = || Accumulator::new(aggregate, &function.arg_ty, &function.ty);
    let mut values: Vec<Value> = Vec::with_capacity(rows.len());
    let (mut from, mut to, mut accumulator) = (0, 0, anew());
    for (start, end) in frames {
        if (start, end) == (from, to)
            && let Some(last) = values.last()
        {
            values.push(last.clone());
            continue;
        }
        if start != from || end < to {
            (from, to, accumulator) = (start, start, anew());
        }
        for row in &rows[to..end] {
            env.tick()?;
            accumulator.add(&row.args)?;
        }
        to = end;
        values.push(accumulator.clone().finish()?);
    }
    Ok(values)
}
