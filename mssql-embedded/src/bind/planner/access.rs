//! The choice of the index that reaches a table.

use std::ops::Range;

use crate::adversary::{Choices, Question};
use crate::ast::CompareOp;
use crate::catalog::{AccessPath, IndexDef, TableDef, is_temporary};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Cond, Scalar, Seek, SeekEq};

use super::predicate::{Predicate, Test, comparisons, index_compares};
use super::{Planner, SlotSet, TableLeaf};

/// A way to reach the rows of a table.
pub(super) struct Path {
    pub(super) access: AccessPath,
    pub(super) seek: Seek,
    pub(super) reverse: bool,
    /// Positions of the conditions that the seek answers by itself.
    pub(super) answered: Vec<usize>,
    pub(super) rank: Rank,
}

/// How good a path is; the greater the better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// All keys of a unique index are given: at most one row.
    pub(super) single: bool,
    /// Only the first rows are wanted, and it yields them in order from a seek.
    pub(super) first_rows: bool,
    /// Key columns given by equality.
    pub(super) equal: usize,
    /// Bounds on the next key column.
    pub(super) bounds: u8,
    /// It yields the wanted order.
    pub(super) ordered: bool,
    /// It holds whole rows.
    whole: bool,
    unique: bool,
}

impl Path {
    /// Whether it reads a part of the index rather than all of it.
    pub(super) fn seeks(&self) -> bool {
        self.rank.equal > 0 || self.rank.bounds > 0
    }
}

impl Planner<'_> {
    /// The conditions on columns in `slots` whose other side can be computed from `available`.
    fn predicates(
        &self,
        table: &TableDef,
        slots: &Range<usize>,
        conds: &[&Cond],
        available: &SlotSet,
    ) -> Vec<Predicate> {
        let column_of = |level: usize, slot: usize| {
            (level == self.level && slots.contains(&slot)).then(|| slot - slots.start)
        };
        let mut list = Vec::new();
        for (i, cond) in conds.iter().enumerate() {
            if let Cond::IsNull(Scalar::Slot { level, slot }) = cond
                && let Some(column) = column_of(*level, *slot)
            {
                list.push(Predicate {
                    column,
                    test: Test::IsNull,
                    cond: i,
                });
            }
            for c in comparisons(cond) {
                let Some(column) = column_of(c.level, c.slot) else {
                    continue;
                };
                if c.op != CompareOp::Ne
                    && index_compares(&table.columns[column].ty, c.ty)
                    && self.computable(c.other, available)
                {
                    let test = Test::Compare(c.op, c.other.clone());
                    list.push(Predicate {
                        column,
                        test,
                        cond: i,
                    });
                }
            }
        }
        list
    }

    fn computable(&self, value: &Scalar, available: &SlotSet) -> bool {
        let mut ok = true;
        value.each_slot(&mut |level, slot| ok &= level != self.level || available.contains(&slot));
        ok
    }

    /// The best way to reach a base table under these conditions.
    pub(super) fn table_path(
        &self,
        leaf: &TableLeaf,
        slots: &Range<usize>,
        conds: &[&Cond],
        available: &SlotSet,
        wants_order: bool,
    ) -> SqlResult<Path> {
        let predicates = self.predicates(&leaf.table, slots, conds, available);
        let hinted = leaf.hints.indexes.as_ref();
        let mut best: Option<Path> = None;
        let mut possible = Vec::new();
        for (position, index) in leaf.table.indexes.iter().enumerate() {
            if hinted.is_some_and(|allowed| !allowed.contains(&AccessPath::Index(position))) {
                continue;
            }
            match leaf.filters.get(position) {
                Some(Err(())) => continue,
                Some(Ok(Some(filter))) if !implied(filter, conds) => continue,
                _ => {}
            }
            let predicates = if leaf.hints.force_scan {
                &[]
            } else {
                predicates.as_slice()
            };
            let mut path = build(&leaf.table, position, index, predicates);
            if wants_order {
                self.order_by_index(&leaf.table, index, slots, &mut path);
            }
            if self.choices.is_some() {
                if path.seeks() && !leaf.hints.force_seek {
                    possible.push(build(&leaf.table, position, index, &[]));
                }
                possible.push(path);
                continue;
            }
            if best.as_ref().is_none_or(|b| path.rank > b.rank) {
                best = Some(path);
            }
        }
        let heap = !leaf.table.indexes.first().is_some_and(|i| i.clustered);
        let useful = best.as_ref().is_some_and(|b| b.seeks() || b.rank.ordered);
        let heap_allowed = hinted.is_none_or(|allowed| allowed.contains(&AccessPath::Heap));
        if heap && heap_allowed && !useful {
            best = Some(heap_path());
        }
        if let Some(choices) = self.choices {
            possible.extend(best.take());
            possible.retain(|path| path.seeks() || !leaf.hints.force_seek);
            if possible.len() > 1 && !is_temporary(&leaf.table.name) {
                choices.note_open_path(&leaf.table.name, hinted.is_some());
            }
            best = any_of(possible, choices);
        }
        best.filter(|path| path.seeks() || !leaf.hints.force_seek)
            .ok_or_else(no_plan)
    }

    /// The index of a table variable to read, if one helps.
    pub(super) fn local_path(
        &self,
        table: &TableDef,
        slots: &Range<usize>,
        conds: &[&Cond],
        available: &SlotSet,
        wants_order: bool,
    ) -> Option<Path> {
        let predicates = self.predicates(table, slots, conds, available);
        let indexes = table
            .indexes
            .iter()
            .enumerate()
            .filter(|(_, index)| index.filter.is_none());
        let paths = indexes.map(|(i, index)| {
            let mut path = build(table, i, index, &predicates);
            if wants_order {
                self.order_by_index(table, index, slots, &mut path);
            }
            path
        });
        let useful = |path: &Path| path.seeks() || path.rank.ordered;
        match self.choices {
            None => paths.filter(useful).max_by_key(|p| p.rank),
            Some(choices) => {
                // Any index, sought or read as a whole; and one possibility more: all rows, by no index.
                let mut possible: Vec<Option<Path>> = paths.map(Some).collect();
                possible.push(None);
                let chosen = choices.pick(Question::AccessPath, possible.len());
                possible
                    .swap_remove(chosen)
                    .map(|path| in_any_order(path, choices))
            }
        }
    }

    /// Lets the path yield the wanted order, if its index does.
    fn order_by_index(
        &self,
        table: &TableDef,
        index: &IndexDef,
        slots: &Range<usize>,
        path: &mut Path,
    ) {
        if let Some(reverse) = self.serves_order(table, index, slots, path) {
            path.reverse = reverse;
            path.rank.ordered = true;
            path.rank.first_rows = self.limited && path.seeks();
        }
    }

    /// Whether the index yields the wanted order after the seek, and if so whether backwards.
    fn serves_order(
        &self,
        table: &TableDef,
        index: &IndexDef,
        slots: &Range<usize>,
        path: &Path,
    ) -> Option<bool> {
        if self.order.is_empty() {
            return None;
        }
        let mut passed: Vec<usize> = index.keys[..path.rank.equal].iter().map(|k| k.0).collect();
        let entries = order_of_entries(table, index);
        let mut keys = entries.iter().skip(path.rank.equal);
        let mut reverse = None;
        for (slot, descending) in &self.order {
            if index.unique && index.keys.iter().all(|k| passed.contains(&k.0)) {
                break;
            }
            if !slots.contains(slot) {
                return None;
            }
            let column = slot - slots.start;
            if passed.contains(&column) {
                continue;
            }
            let (key, key_descending) = keys.next()?;
            let backwards = key_descending != descending;
            if *key != column || *reverse.get_or_insert(backwards) != backwards {
                return None;
            }
            passed.push(column);
        }
        Some(reverse.unwrap_or(false))
    }
}

/// The columns by which an index's entries are ordered: its keys and then, unless it is unique, the
/// clustered key, which locates the row.
fn order_of_entries(table: &TableDef, index: &IndexDef) -> Vec<(usize, bool)> {
    let mut keys = index.keys.clone();
    if !index.unique
        && !index.clustered
        && let Some(clustered) = table.indexes.first().filter(|i| i.clustered)
    {
        for key in &clustered.keys {
            if keys.iter().any(|k| k.0 == key.0) {
                break;
            }
            keys.push(*key);
        }
    }
    keys
}

fn any_of(mut possible: Vec<Path>, choices: &Choices) -> Option<Path> {
    if possible.is_empty() {
        return None;
    }
    let chosen = choices.pick(Question::AccessPath, possible.len());
    Some(in_any_order(possible.swap_remove(chosen), choices))
}

/// Where a path promises no order, rows come forwards or backwards.
fn in_any_order(path: Path, choices: &Choices) -> Path {
    let reverse = match path.rank.ordered {
        true => path.reverse,
        false => choices.chance(Question::RowOrder, 2),
    };
    Path { reverse, ..path }
}

fn heap_path() -> Path {
    Path {
        access: AccessPath::Heap,
        seek: Seek::default(),
        reverse: false,
        answered: Vec::new(),
        rank: Rank {
            whole: true,
            ..Rank::default()
        },
    }
}

pub(in crate::bind) fn no_plan() -> SqlError {
    SqlError::new(
        8622,
        "Query processor could not produce a query plan because of the hints defined in this query. \
         Resubmit the query without specifying any hints and without using SET FORCEPLAN.",
    )
}

/// The seek that the predicates allow in one index.
fn build(table: &TableDef, position: usize, index: &IndexDef, predicates: &[Predicate]) -> Path {
    let mut seek = Seek::default();
    let mut answered = Vec::new();
    let mut nulls = 0;
    for (column, _) in &index.keys {
        let on_column = || predicates.iter().filter(|p| p.column == *column);
        let equal = on_column().find(|p| matches!(p.test, Test::Compare(CompareOp::Eq, _)));
        match equal.or_else(|| on_column().find(|p| matches!(p.test, Test::IsNull))) {
            Some(Predicate {
                test: Test::Compare(_, value),
                cond,
                ..
            }) => {
                seek.prefix.push(SeekEq::Value(value.clone()));
                answered.push(*cond);
            }
            Some(Predicate {
                test: Test::IsNull,
                cond,
                ..
            }) => {
                seek.prefix.push(SeekEq::IsNull);
                answered.push(*cond);
                nulls += 1;
            }
            None => break,
        }
    }
    let equal = seek.prefix.len();
    let mut bounds = 0;
    if let Some((column, _)) = index.keys.get(equal) {
        // NULL comes before every value: where it could be met, the comparison stays to refuse it.
        let keep = table.columns[*column].nullable;
        for p in predicates.iter().filter(|p| p.column == *column) {
            let Test::Compare(op, value) = &p.test else {
                continue;
            };
            let (bound, inclusive) = match op {
                CompareOp::Gt => (&mut seek.low, false),
                CompareOp::Ge => (&mut seek.low, true),
                CompareOp::Lt => (&mut seek.high, false),
                CompareOp::Le => (&mut seek.high, true),
                CompareOp::Eq | CompareOp::Ne => continue,
            };
            if bound.is_none() {
                *bound = Some((value.clone(), inclusive));
                bounds += 1;
                if !keep {
                    answered.push(p.cond);
                }
            }
        }
    }
    let rank = Rank {
        single: index.unique && equal == index.keys.len() && nulls == 0,
        first_rows: false,
        equal,
        bounds,
        ordered: false,
        whole: index.clustered,
        unique: index.unique,
    };
    Path {
        access: AccessPath::Index(position),
        seek,
        reverse: false,
        answered,
        rank,
    }
}

/// Whether the conditions guarantee that every row wanted is in the filtered index.
fn implied(filter: &Cond, conds: &[&Cond]) -> bool {
    match filter {
        Cond::And(parts) => parts.iter().all(|p| implied(p, conds)),
        Cond::Not(inner) => conds.iter().any(|c| match (c, inner.as_ref()) {
            (Cond::Compare { left, right, .. }, Cond::IsNull(x)) => left.same(x) || right.same(x),
            (Cond::InList { expr, .. } | Cond::Like { expr, .. }, Cond::IsNull(x)) => expr.same(x),
            (other, _) => other.same(filter),
        }),
        Cond::Const(_)
        | Cond::Or(_)
        | Cond::Compare { .. }
        | Cond::IsNull(_)
        | Cond::InList { .. }
        | Cond::Like { .. }
        | Cond::Exists(_)
        | Cond::Quantified { .. } => conds.iter().any(|c| c.same(filter)),
    }
}
