//! Sorting that can be stopped: everybody may have to wait for a long sort, so nobody may have to wait for its end.

use std::cmp::Ordering;

use crate::error::SqlResult;

/// How many items are sorted at a stretch.
const STRETCH: usize = 1024;

/// The items in order, equal ones in the order in which they came. `tick` is asked for each item of a stretch and for
/// each item that is merged, and its error ends the sort.
pub fn ordered<T>(
    mut items: Vec<T>,
    compare: impl Fn(&T, &T) -> Ordering,
    tick: &mut dyn FnMut() -> SqlResult<()>,
) -> SqlResult<Vec<T>> {
    if items.len() <= STRETCH {
        items.sort_by(compare);
        return Ok(items);
    }
    let mut runs = Vec::with_capacity(items.len().div_ceil(STRETCH));
    let mut rest = items.into_iter();
    loop {
        let mut run: Vec<T> = rest.by_ref().take(STRETCH).collect();
        if run.is_empty() {
            break;
        }
        run.sort_by(&compare);
        for _ in &run {
            tick()?;
        }
        runs.push(run);
    }
    while runs.len() > 1 {
        let mut longer = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(first) = pairs.next() {
            longer.push(match pairs.next() {
                Some(second) => merged(first, second, &compare, tick)?,
                None => first,
            });
        }
        runs = longer;
    }
    Ok(runs.pop().unwrap_or_default())
}

fn merged<T>(
    first: Vec<T>,
    second: Vec<T>,
    compare: &impl Fn(&T, &T) -> Ordering,
    tick: &mut dyn FnMut() -> SqlResult<()>,
) -> SqlResult<Vec<T>> {
    let mut out = Vec::with_capacity(first.len() + second.len());
    let mut first = first.into_iter().peekable();
    let mut second = second.into_iter().peekable();
    while let (Some(a), Some(b)) = (first.peek(), second.peek()) {
        tick()?;
        // Of two equal ones the first goes first.
        let next = if compare(a, b) == Ordering::Greater {
            second.next()
        } else {
            first.next()
        };
        out.extend(next);
    }
    out.extend(first);
    out.extend(second);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::error::SqlError;

    /// Numbers without visible order, few of them different.
    fn shuffled(count: usize) -> Vec<(usize, usize)> {
        (0..count).map(|i| (i * 7919 % 613, i)).collect()
    }

    /// The result is that of a stable sort, whatever the number of stretches.
    #[test]
    fn equal_items_keep_their_order() {
        for count in [0, 1, STRETCH, STRETCH + 1, 5 * STRETCH + 17] {
            let items = shuffled(count);
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let sorted = ordered(items, |a, b| a.0.cmp(&b.0), &mut || Ok(()));
            assert_eq!(sorted.unwrap(), expected, "{count}");
        }
    }

    /// Whenever it is told to stop, it compares nothing any more.
    #[test]
    fn it_stops_when_it_is_told_to() {
        let count = 6 * STRETCH;
        for asked_before in [0, 10, STRETCH, 6 * STRETCH + 5, 12 * STRETCH] {
            let (asked, compared) = (Cell::new(0), Cell::new(0));
            let compared_when_told = Cell::new(0);
            let stopped = ordered(
                shuffled(count),
                |a, b| {
                    compared.set(compared.get() + 1);
                    a.cmp(b)
                },
                &mut || {
                    asked.set(asked.get() + 1);
                    if asked.get() <= asked_before {
                        return Ok(());
                    }
                    compared_when_told.set(compared.get());
                    Err(SqlError::internal("stop"))
                },
            );
            assert!(stopped.is_err(), "{asked_before}");
            assert_eq!(compared.get(), compared_when_told.get(), "{asked_before}");
        }
    }
}
