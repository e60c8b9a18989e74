//! Walks over plans: what an expression or operator reads.

use super::{Cond, Node, Query, Scalar, Seek, SeekEq, SortKey};
use crate::func::Callable;

/// What an expression reads.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A constant or a variable, which is the same in every row.
    Given,
    /// A slot of the row buffer of a level.
    Slot { level: usize, slot: usize },
    /// What a function makes of its arguments, or out of nothing.
    Call(Callable),
    /// The rows of the last step of a recursive query.
    Working,
}

/// Called with everything that is read.
type Visit<'a> = &'a mut dyn FnMut(Part);

/// Passes on level and slot of every slot.
fn slots(f: &mut dyn FnMut(usize, usize)) -> impl FnMut(Part) {
    move |part| {
        if let Part::Slot { level, slot } = part {
            f(level, slot);
        }
    }
}

impl Scalar {
    /// Calls `f` with level and slot of every slot it reads, also in nested queries.
    pub fn each_slot(&self, f: &mut dyn FnMut(usize, usize)) {
        self.each_part(&mut slots(f));
    }

    /// Calls `f` with everything it reads, also in nested queries.
    pub fn each_part(&self, f: Visit<'_>) {
        match self {
            Self::Const(_) | Self::Variable(_) => f(Part::Given),
            Self::Slot { level, slot } => f(Part::Slot {
                level: *level,
                slot: *slot,
            }),
            Self::Arith { left, right, .. } => {
                left.each_part(f);
                right.each_part(f);
            }
            Self::Negate(x, _) | Self::BitNot(x, _) => x.each_part(f),
            Self::Cast { expr, style, .. } => {
                expr.each_part(f);
                if let Some(style) = style {
                    style.each_part(f);
                }
            }
            Self::Call { function, args, .. } => {
                f(Part::Call(*function));
                args.iter().for_each(|a| a.each_part(f));
            }
            Self::Coalesce(args) => args.iter().for_each(|a| a.each_part(f)),
            Self::Case { whens, otherwise } => {
                for (cond, value) in whens {
                    cond.each_part(f);
                    value.each_part(f);
                }
                otherwise.each_part(f);
            }
            Self::Subquery(query) => query.each_part(f),
        }
    }

    pub fn has_query(&self) -> bool {
        match self {
            Self::Const(_) | Self::Variable(_) | Self::Slot { .. } => false,
            Self::Arith { left, right, .. } => left.has_query() || right.has_query(),
            Self::Negate(x, _) | Self::BitNot(x, _) => x.has_query(),
            Self::Cast { expr, style, .. } => {
                expr.has_query() || style.as_ref().is_some_and(|s| s.has_query())
            }
            Self::Call { args, .. } | Self::Coalesce(args) => args.iter().any(Self::has_query),
            Self::Case { whens, otherwise } => {
                whens.iter().any(|(c, v)| c.has_query() || v.has_query()) || otherwise.has_query()
            }
            Self::Subquery(_) => true,
        }
    }
}

impl Cond {
    /// Calls `f` with level and slot of every slot it reads, also in nested queries.
    pub fn each_slot(&self, f: &mut dyn FnMut(usize, usize)) {
        self.each_part(&mut slots(f));
    }

    /// Calls `f` with everything it reads, also in nested queries.
    pub fn each_part(&self, f: Visit<'_>) {
        match self {
            Self::Const(_) => {}
            Self::And(list) | Self::Or(list) => list.iter().for_each(|c| c.each_part(f)),
            Self::Not(c) => c.each_part(f),
            Self::Compare { left, right, .. } => {
                left.each_part(f);
                right.each_part(f);
            }
            Self::IsNull(x) => x.each_part(f),
            Self::InList { expr, list, .. } => {
                expr.each_part(f);
                list.iter().for_each(|x| x.each_part(f));
            }
            Self::Like {
                expr,
                pattern,
                escape,
                ..
            } => {
                expr.each_part(f);
                pattern.each_part(f);
                if let Some(escape) = escape {
                    escape.each_part(f);
                }
            }
            Self::Exists(query) => query.each_part(f),
            Self::Quantified { left, query, .. } => {
                left.each_part(f);
                query.each_part(f);
            }
        }
    }

    pub fn has_query(&self) -> bool {
        match self {
            Self::Const(_) => false,
            Self::And(list) | Self::Or(list) => list.iter().any(Self::has_query),
            Self::Not(c) => c.has_query(),
            Self::Compare { left, right, .. } => left.has_query() || right.has_query(),
            Self::IsNull(x) => x.has_query(),
            Self::InList { expr, list, .. } => {
                expr.has_query() || list.iter().any(Scalar::has_query)
            }
            Self::Like {
                expr,
                pattern,
                escape,
                ..
            } => {
                expr.has_query()
                    || pattern.has_query()
                    || escape.as_ref().is_some_and(Scalar::has_query)
            }
            Self::Exists(_) | Self::Quantified { .. } => true,
        }
    }
}

impl Query {
    /// Calls `f` with level and slot of every slot it reads, also in nested queries.
    pub fn each_slot(&self, f: &mut dyn FnMut(usize, usize)) {
        self.each_part(&mut slots(f));
    }

    /// Calls `f` with everything that it or a query inside it reads.
    pub fn each_part(&self, f: Visit<'_>) {
        self.root.each_part(f);
        self.output.iter().for_each(|x| x.each_part(f));
    }
}

impl Seek {
    fn each_part(&self, f: Visit<'_>) {
        for eq in &self.prefix {
            if let SeekEq::Value(x) = eq {
                x.each_part(f);
            }
        }
        for (x, _) in self.low.iter().chain(&self.high) {
            x.each_part(f);
        }
    }
}

fn sort_slots(keys: &[SortKey], f: Visit<'_>) {
    keys.iter().for_each(|k| k.expr.each_part(f));
}

impl Node {
    /// Calls `f` with level and slot of every slot it reads, also in nested queries.
    pub fn each_slot(&self, f: &mut dyn FnMut(usize, usize)) {
        self.each_part(&mut slots(f));
    }

    /// Calls `f` with everything that it reads, also in nested queries.
    pub fn each_part(&self, f: Visit<'_>) {
        match self {
            Self::Once | Self::SystemView { .. } => {}
            Self::Working { .. } => f(Part::Working),
            Self::Values { rows, .. } => rows.iter().flatten().for_each(|x| x.each_part(f)),
            Self::Scan(scan) => {
                scan.seek.each_part(f);
                if let Some(c) = &scan.residual {
                    c.each_part(f);
                }
            }
            Self::LocalScan(scan) => {
                if let Some((_, seek)) = &scan.seek {
                    seek.each_part(f);
                }
                if let Some(c) = &scan.residual {
                    c.each_part(f);
                }
            }
            Self::OpenJson { json, path, .. } => {
                json.each_part(f);
                if let Some(path) = path {
                    path.each_part(f);
                }
            }
            Self::StringSplit {
                text, separator, ..
            } => {
                text.each_part(f);
                separator.each_part(f);
            }
            Self::Derived { query, .. } | Self::ForJson { query, .. } => query.each_part(f),
            Self::Recursive {
                anchor, recursive, ..
            } => {
                anchor.each_part(f);
                recursive.iter().for_each(|q| q.each_part(f));
            }
            Self::Concat { inputs, .. } => inputs.iter().for_each(|q| q.each_part(f)),
            Self::Set { left, right, .. } => {
                left.each_part(f);
                right.each_part(f);
            }
            Self::Filter { .. }
            | Self::Loop { .. }
            | Self::Hash(_)
            | Self::Full { .. }
            | Self::Compute { .. }
            | Self::Group(_)
            | Self::Window { .. }
            | Self::Distinct { .. }
            | Self::Sort { .. }
            | Self::Top { .. }
            | Self::Offset { .. } => self.each_part_above(f),
        }
    }

    /// The operators that have inputs of the same level.
    fn each_part_above(&self, f: Visit<'_>) {
        match self {
            Self::Filter { cond, .. } => cond.each_part(f),
            Self::Loop { on: Some(on), .. } | Self::Full { on, .. } => on.each_part(f),
            Self::Hash(join) => {
                for (a, b, _) in &join.keys {
                    a.each_part(f);
                    b.each_part(f);
                }
                if let Some(c) = &join.residual {
                    c.each_part(f);
                }
            }
            Self::Compute { exprs, .. } => exprs.iter().for_each(|(_, x)| x.each_part(f)),
            Self::Group(group) => {
                group.keys.iter().for_each(|(x, _, _)| x.each_part(f));
                for call in &group.aggregates {
                    call.args.iter().for_each(|x| x.each_part(f));
                    sort_slots(&call.order, f);
                }
            }
            Self::Window { functions, .. } => {
                for w in functions {
                    w.args.iter().for_each(|x| x.each_part(f));
                    w.partition.iter().for_each(|(x, _)| x.each_part(f));
                    sort_slots(&w.order, f);
                }
            }
            Self::Sort { keys, .. } => sort_slots(keys, f),
            Self::Top { count, ties, .. } => {
                count.each_part(f);
                sort_slots(ties.as_deref().unwrap_or_default(), f);
            }
            Self::Offset { offset, fetch, .. } => {
                offset.each_part(f);
                if let Some(fetch) = fetch {
                    fetch.each_part(f);
                }
            }
            Self::Once
            | Self::Values { .. }
            | Self::Scan(_)
            | Self::LocalScan(_)
            | Self::SystemView { .. }
            | Self::OpenJson { .. }
            | Self::StringSplit { .. }
            | Self::Derived { .. }
            | Self::Recursive { .. }
            | Self::Working { .. }
            | Self::Loop { .. }
            | Self::Distinct { .. }
            | Self::Concat { .. }
            | Self::Set { .. }
            | Self::ForJson { .. } => {}
        }
        self.inputs().into_iter().for_each(|n| n.each_part(f));
    }

    /// Its inputs of the same level.
    pub fn inputs(&self) -> Vec<&Node> {
        match self {
            Self::Filter { input, .. }
            | Self::Compute { input, .. }
            | Self::Window { input, .. }
            | Self::Distinct { input, .. }
            | Self::Sort { input, .. }
            | Self::Top { input, .. }
            | Self::Offset { input, .. } => vec![input],
            Self::Loop { left, right, .. } | Self::Full { left, right, .. } => vec![left, right],
            Self::Hash(join) => vec![&join.left, &join.right],
            Self::Group(group) => vec![&group.input],
            Self::Once
            | Self::Values { .. }
            | Self::Scan(_)
            | Self::LocalScan(_)
            | Self::SystemView { .. }
            | Self::OpenJson { .. }
            | Self::StringSplit { .. }
            | Self::Derived { .. }
            | Self::Recursive { .. }
            | Self::Working { .. }
            | Self::Concat { .. }
            | Self::Set { .. }
            | Self::ForJson { .. } => Vec::new(),
        }
    }

    /// Its inputs of the same level, to be changed.
    pub fn inputs_mut(&mut self) -> Vec<&mut Node> {
        match self {
            Self::Filter { input, .. }
            | Self::Compute { input, .. }
            | Self::Window { input, .. }
            | Self::Distinct { input, .. }
            | Self::Sort { input, .. }
            | Self::Top { input, .. }
            | Self::Offset { input, .. } => vec![input],
            Self::Loop { left, right, .. } | Self::Full { left, right, .. } => vec![left, right],
            Self::Hash(join) => {
                let join = join.as_mut();
                vec![&mut join.left, &mut join.right]
            }
            Self::Group(group) => vec![&mut group.input],
            Self::Once
            | Self::Values { .. }
            | Self::Scan(_)
            | Self::LocalScan(_)
            | Self::SystemView { .. }
            | Self::OpenJson { .. }
            | Self::StringSplit { .. }
            | Self::Derived { .. }
            | Self::Recursive { .. }
            | Self::Working { .. }
            | Self::Concat { .. }
            | Self::Set { .. }
            | Self::ForJson { .. } => Vec::new(),
        }
    }
}
