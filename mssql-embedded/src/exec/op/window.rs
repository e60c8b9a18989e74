//! Window functions: everything is read, each function is computed over its partitions, and the
//! rows are handed out in the order of the last function's sort, as SQL Server's plans do.

use crate::ast::{Frame, FrameBound};
use crate::error::{SqlError, SqlResult};
use crate::func::{Accumulator, Aggregate};
use crate::plan::{WindowFunction, WindowKind};
use crate::value::Value;
use crate::value::compare::encode_key;

use super::super::{Env, eval};
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
    placed.sort_by(|a, b| (&a.partition, &a.order).cmp(&(&b.partition, &b.order)));
    let mut start = 0;
    while start < placed.len() {
        let mut end = start + 1;
        while end < placed.len() && placed[end].partition == placed[start].partition {
            end += 1;
        }
        let values = partition_values(&placed[start..end], function)?;
        for (p, value) in placed[start..end].iter_mut().zip(values) {
            p.row[function.slot] = value;
        }
        start = end;
    }
    Ok(placed.into_iter().map(|p| p.row).collect())
}

/// The end of the peers (rows with an equal order) of each row.
fn peer_end(rows: &[Placed], i: usize) -> usize {
    let mut end = i + 1;
    while end < rows.len() && rows[end].order == rows[i].order {
        end += 1;
    }
    end
}

fn peer_start(rows: &[Placed], i: usize) -> usize {
    let mut start = i;
    while start > 0 && rows[start - 1].order == rows[i].order {
        start -= 1;
    }
    start
}

fn partition_values(rows: &[Placed], function: &WindowFunction) -> SqlResult<Vec<Value>> {
    let n = rows.len();
    match &function.kind {
        WindowKind::RowNumber => Ok((1..=n as i64).map(Value::Int).collect()),
        WindowKind::Rank => Ok((0..n)
            .map(|i| Value::Int(peer_start(rows, i) as i64 + 1))
            .collect()),
        WindowKind::DenseRank => {
            let mut rank = 0;
            let mut values = Vec::with_capacity(n);
            for i in 0..n {
                if i == 0 || rows[i].order != rows[i - 1].order {
                    rank += 1;
                }
                values.push(Value::Int(rank));
            }
            Ok(values)
        }
        WindowKind::PercentRank => Ok((0..n)
            .map(|i| {
                let below = peer_start(rows, i) as f64;
                Value::Float(if n > 1 { below / (n as f64 - 1.0) } else { 0.0 })
            })
            .collect()),
        WindowKind::CumeDist => Ok((0..n)
            .map(|i| Value::Float(peer_end(rows, i) as f64 / n as f64))
            .collect()),
        WindowKind::Ntile => ntile(rows),
        WindowKind::Lag => offset_values(rows, -1),
        WindowKind::Lead => offset_values(rows, 1),
        WindowKind::FirstValue => framed(rows, function, |rows, _, frame| {
            Ok(rows
                .get(frame.0)
                .filter(|_| frame.0 < frame.1)
                .map_or(Value::Null, |r| r.args[0].clone()))
        }),
        WindowKind::LastValue => framed(rows, function, |rows, _, frame| {
            Ok(if frame.0 < frame.1 {
                rows[frame.1 - 1].args[0].clone()
            } else {
                Value::Null
            })
        }),
        WindowKind::Aggregate(aggregate) => aggregate_values(rows, function, *aggregate),
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

/// The half-open range of rows in the frame of row `i`.
fn frame_of(rows: &[Placed], i: usize, frame: Option<&Frame>, ordered: bool) -> (usize, usize) {
    let n = rows.len();
    let Some(frame) = frame else {
        // The default frame: RANGE UNBOUNDED PRECEDING AND CURRENT ROW, or everything unordered.
        return (0, if ordered { peer_end(rows, i) } else { n });
    };
    let start = match frame.start {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(k) => i.saturating_sub(k as usize),
        FrameBound::CurrentRow if frame.rows => i,
        FrameBound::CurrentRow => peer_start(rows, i),
        FrameBound::Following(k) => (i + k as usize).min(n),
        FrameBound::UnboundedFollowing => n,
    };
    let end = match frame.end {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(k) => (i + 1).saturating_sub(k as usize),
        FrameBound::CurrentRow if frame.rows => i + 1,
        FrameBound::CurrentRow => peer_end(rows, i),
        FrameBound::Following(k) => (i + k as usize + 1).min(n),
        FrameBound::UnboundedFollowing => n,
    };
    (start, end.max(start))
}

fn framed(
    rows: &[Placed],
    function: &WindowFunction,
    f: impl Fn(&[Placed], usize, (usize, usize)) -> SqlResult<Value>,
) -> SqlResult<Vec<Value>> {
    let ordered = !function.order.is_empty();
    (0..rows.len())
        .map(|i| f(rows, i, frame_of(rows, i, function.frame.as_ref(), ordered)))
        .collect()
}

fn aggregate_values(
    rows: &[Placed],
    function: &WindowFunction,
    aggregate: Aggregate,
) -> SqlResult<Vec<Value>> {
    let ordered = !function.order.is_empty();
    let mut values: Vec<Value> = Vec::with_capacity(rows.len());
    let mut last: Option<(usize, usize)> = None;
    for i in 0..rows.len() {
        let frame = frame_of(rows, i, function.frame.as_ref(), ordered);
        if last == Some(frame) {
            values.push(values[i - 1].clone());
            continue;
        }
        let mut accumulator = Accumulator::new(aggregate, &function.arg_ty, &function.ty);
        for row in &rows[frame.0..frame.1] {
            accumulator.add(&row.args)?;
        }
        values.push(accumulator.finish()?);
        last = Some(frame);
    }
    Ok(values)
}
