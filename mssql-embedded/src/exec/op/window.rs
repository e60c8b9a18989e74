//! Window functions: everything is read, each function is computed over its partitions, and the
//! rows are handed out in the order of the last function's sort, as SQL Server's plans do.

use crate::ast::{Frame, FrameBound};
use crate::error::{SqlError, SqlResult};
use crate::func::{Accumulator, Aggregate};
use crate::memory::{Charge, row_bytes, share_bytes};
use crate::plan::{WindowFunction, WindowKind};
use crate::value::Value;
use crate::value::compare::encode_key;

use super::super::eval::Scope as _;
use super::super::{Env, eval};
use super::group::note_null;
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

/// What a function needs for each row until it is computed, besides what it is computed from: the place, the range of
/// peers and the result.
const BYTES_PER_ROW: usize = size_of::<Placed>() + size_of::<(usize, usize)>() + size_of::<Value>();

pub fn open_window(
    mut input: Box<dyn Operator + '_>,
    functions: &[WindowFunction],
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    let (mut rows, mut charge) = drain(&mut *input, level, env)?;
    for function in functions {
        rows = compute(rows, function, level, &mut charge, env)?;
    }
    Ok(Rows::new(rows, 0, level).charged(charge))
}

/// Computes one function; what its results hold is noted in `charge`.
fn compute(
    rows: Vec<Vec<Value>>,
    function: &WindowFunction,
    level: usize,
    charge: &mut Charge,
    env: &mut Env<'_, '_>,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut used = env.core.memory.charge();
    let mut placed = Vec::with_capacity(rows.len());
    let buffer = std::mem::take(&mut env.rows[level]);
    for row in rows {
        env.tick()?;
        env.rows[level] = row;
        let mut partition = Vec::new();
        for (expr, ty) in &function.partition {
            let value = eval(expr, env)?;
            encode_key(&value, ty, false, &mut partition);
        }
        env.weigh(partition.len())?;
        let order = sort_key(&function.order, env)?;
        let mut args = Vec::with_capacity(function.args.len());
        for arg in &function.args {
            args.push(eval(arg, env)?);
        }
        used.add(BYTES_PER_ROW + partition.len() + order.len() + row_bytes(&args))?;
        placed.push(Placed {
            partition,
            order,
            args,
            row: std::mem::take(&mut env.rows[level]),
        });
    }
    env.rows[level] = buffer;
    let place = |a: &Placed, b: &Placed| (&a.partition, &a.order).cmp(&(&b.partition, &b.order));
    let mut placed = ordered(placed, place, &mut || env.tick())?;
    let mut start = 0;
    while start < placed.len() {
        let mut end = start + 1;
        while end < placed.len() && placed[end].partition == placed[start].partition {
            env.tick()?;
            end += 1;
        }
        let values = partition_values(&placed[start..end], function, env)?;
        for (p, value) in placed[start..end].iter_mut().zip(values) {
            env.tick()?;
            charge.add(share_bytes(&value))?;
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
        env.tick()?;
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
    let ordered = !function.order.is_empty();
    let frame = |i| frame_of(&peers, i, function.frame.as_ref(), ordered);
    match &function.kind {
        WindowKind::RowNumber => each_row(n, env, |i| Ok(Value::Int(i as i64 + 1))),
        WindowKind::Rank => each_row(n, env, |i| Ok(Value::Int(peers[i].0 as i64 + 1))),
        WindowKind::DenseRank => {
            let mut rank = 0;
            each_row(n, env, |i| {
                rank += i64::from(peers[i].0 == i);
                Ok(Value::Int(rank))
            })
        }
        WindowKind::PercentRank => each_row(n, env, |i| {
            let below = peers[i].0 as f64;
            let share = if n > 1 { below / (n as f64 - 1.0) } else { 0.0 };
            Ok(Value::Float(share))
        }),
        WindowKind::CumeDist => {
            each_row(n, env, |i| Ok(Value::Float(peers[i].1 as f64 / n as f64)))
        }
        WindowKind::Ntile => ntile(rows, env),
        WindowKind::Lag => each_row(n, env, |i| {
            let other = i.checked_sub(distance(&rows[i])?);
            Ok(value_at(rows, other, &rows[i]))
        }),
        WindowKind::Lead => each_row(n, env, |i| {
            let other = i.checked_add(distance(&rows[i])?);
            Ok(value_at(rows, other, &rows[i]))
        }),
        WindowKind::FirstValue => each_row(n, env, |i| {
            let (start, end) = frame(i);
            Ok(match rows.get(start) {
                Some(first) if start < end => first.args[0].clone(),
                Some(_) | None => Value::Null,
            })
        }),
        WindowKind::LastValue => each_row(n, env, |i| {
            let (start, end) = frame(i);
            Ok(if start < end {
                rows[end - 1].args[0].clone()
            } else {
                Value::Null
            })
        }),
        WindowKind::Aggregate(aggregate) => {
            aggregate_values(rows, frame, function, *aggregate, env)
        }
    }
}

/// The values of `n` rows one after the other, each by its position.
fn each_row(
    n: usize,
    env: &mut Env<'_, '_>,
    mut value: impl FnMut(usize) -> SqlResult<Value>,
) -> SqlResult<Vec<Value>> {
    let mut values = Vec::with_capacity(n);
    for i in 0..n {
        env.tick()?;
        values.push(value(i)?);
    }
    Ok(values)
}

fn ntile(rows: &[Placed], env: &mut Env<'_, '_>) -> SqlResult<Vec<Value>> {
    let tiles = match rows.first().and_then(|r| r.args.first()) {
        Some(Value::Int(tiles)) if *tiles > 0 => *tiles,
        _ => {
            return Err(SqlError::new(
                4111,
                "The function 'NTILE' takes a positive integer.",
            ));
        }
    };
    let n = rows.len() as i64;
    let (size, extra) = (n / tiles, n % tiles);
    // The first tiles have one row more than the others, which are empty if there are more tiles than rows.
    let in_larger = extra * (size + 1);
    each_row(rows.len(), env, |i| {
        let i = i as i64;
        let tile = if i < in_larger {
            i / (size + 1)
        } else {
            extra + (i - in_larger) / size
        };
        Ok(Value::Int(tile + 1))
    })
}

/// How far from its row LAG and LEAD look.
fn distance(row: &Placed) -> SqlResult<usize> {
    let given = match row.args.get(1) {
        None => Some(1),
        Some(Value::Int(n)) => usize::try_from(*n).ok(),
        Some(_) => None,
    };
    given.ok_or_else(|| {
        SqlError::new(
            8730,
            "Offset parameter for Lag and Lead functions cannot be a negative value.",
        )
    })
}

/// The argument of another row of the partition, or what LAG and LEAD say where there is none.
fn value_at(rows: &[Placed], other: Option<usize>, row: &Placed) -> Value {
    match other.and_then(|at| rows.get(at)) {
        Some(other) => other.args[0].clone(),
        None => row.args.get(2).cloned().unwrap_or(Value::Null),
    }
}

/// The half-open range of rows in the frame of a row.
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
    // A bound may be any number that can be written.
    let rows = |k: u64| usize::try_from(k).unwrap_or(usize::MAX);
    let start = match frame.start {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(k) => i.saturating_sub(rows(k)),
        FrameBound::CurrentRow if frame.rows => i,
        FrameBound::CurrentRow => peers[i].0,
        FrameBound::Following(k) => i.saturating_add(rows(k)).min(n),
        FrameBound::UnboundedFollowing => n,
    };
    let end = match frame.end {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(k) => (i + 1).saturating_sub(rows(k)),
        FrameBound::CurrentRow if frame.rows => i + 1,
        FrameBound::CurrentRow => peers[i].1,
        FrameBound::Following(k) => (i + 1).saturating_add(rows(k)).min(n),
        FrameBound::UnboundedFollowing => n,
    };
    (start, end.max(start))
}

/// The aggregate over each frame. A frame that only grows is not added up anew.
fn aggregate_values(
    rows: &[Placed],
    frame: impl Fn(usize) -> (usize, usize),
    function: &WindowFunction,
    aggregate: Aggregate,
    env: &mut Env<'_, '_>,
) -> SqlResult<Vec<Value>> {
    let anew = || Accumulator::new(aggregate, &function.arg_ty, &function.ty);
    let mut values: Vec<Value> = Vec::with_capacity(rows.len());
    let (mut from, mut to, mut accumulator) = (0, 0, anew());
    for i in 0..rows.len() {
        env.tick()?;
        let (start, end) = frame(i);
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
            note_null(aggregate, &row.args, env);
            accumulator.add(&row.args)?;
        }
        to = end;
        values.push(accumulator.clone().finish()?);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound of a frame may be any number that can be written; beyond the partition there is nothing.
    #[test]
    fn a_frame_ends_with_its_partition() {
        let peers = [(0, 1), (1, 2)];
        let of = |start, end| {
            let frame = Frame {
                rows: true,
                start,
                end,
            };
            frame_of(&peers, 1, Some(&frame), true)
        };
        let (before, behind) = (
            || FrameBound::Preceding(u64::MAX),
            || FrameBound::Following(u64::MAX),
        );
        assert_eq!(of(before(), behind()), (0, 2));
        assert_eq!(of(behind(), behind()), (2, 2));
        assert_eq!(of(before(), before()), (0, 0));
    }
}
