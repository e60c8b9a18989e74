//! Walks over plans: which slots of which level an expression or operator reads.

use super::{Cond, Node, Query, Scalar, Seek, SeekEq, SortKey};

/// Called with level and slot of every reference.
type Visit<'a> = &'a mut dyn FnMut(usize, usize);

impl Scalar {
    /// Calls `f` with level and slot of every slot it reads, also in nested queries.
    pub fn each_slot(&self, f: Visit<'_>) {
        match self {
            Self::Const(_) | Self::Variable(_) => {}
            Self::Slot { level, slot } => f(*level, *slot),
            Self::Arith { left, right, .. } => {
                left.each_slot(f);
                right.each_slot(f);
            }
            Self::Negate(x, _) | Self::BitNot(x, _) => x.each_slot(f),
            Self::Cast { expr, style, .. } => {
                expr.each_slot(f);
                if let Some(style) = style {
                    style.each_slot(f);
                }
            }
            Self::Call { args, .. } | Self::Coalesce(args) => {
                args.iter().for_each(|a| a.each_slot(f))
            }
            Self::Case { whens, otherwise } => {
                for (cond, value) in whens {
                    cond.each_slot(f);
                    value.each_slot(f);
                }
                otherwise.each_slot(f);
            }
            Self::Subquery(query) => query.each_slot(f),
        }
    }

    /// Whether it contains a query.
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

    /// Whether it is the same computation. Queries are never the same.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Const(a), Self::Const(b)) => a == b,
            (Self::Variable(a), Self::Variable(b)) => a == b,
            (Self::Slot { level, slot }, Self::Slot { level: l, slot: s }) => {
                level == l && slot == s
            }
            (
                Self::Arith {
                    op,
                    left,
                    right,
                    ty,
                    ..
                },
                Self::Arith {
                    op: o,
                    left: l,
                    right: r,
                    ty: t,
                    ..
                },
            ) => op == o && ty == t && left.same(l) && right.same(r),
            (Self::Negate(a, _), Self::Negate(b, _)) | (Self::BitNot(a, _), Self::BitNot(b, _)) => {
                a.same(b)
            }
            (
                Self::Cast {
                    expr,
                    to,
                    style,
                    try_,
                    ..
                },
                Self::Cast {
                    expr: e,
                    to: t,
                    style: s,
                    try_: y,
                    ..
                },
            ) => {
                to == t
                    && try_ == y
                    && expr.same(e)
                    && match (style, s) {
                        (None, None) => true,
                        (Some(a), Some(b)) => a.same(b),
                        _ => false,
                    }
            }
            (
                Self::Call { function, args, .. },
                Self::Call {
                    function: g,
                    args: b,
                    ..
                },
            ) => function.name() == g.name() && same_all(args, b),
            (Self::Coalesce(a), Self::Coalesce(b)) => same_all(a, b),
            (
                Self::Case { whens, otherwise },
                Self::Case {
                    whens: w,
                    otherwise: o,
                },
            ) => {
                whens.len() == w.len()
                    && otherwise.same(o)
                    && whens
                        .iter()
                        .zip(w)
                        .all(|(a, b)| a.0.same(&b.0) && a.1.same(&b.1))
            }
            (
                Self::Const(_)
                | Self::Variable(_)
                | Self::Slot { .. }
                | Self::Arith { .. }
                | Self::Negate(..)
                | Self::BitNot(..)
                | Self::Cast { .. }
                | Self::Call { .. }
                | Self::Case { .. }
                | Self::Coalesce(_)
                | Self::Subquery(_),
                _,
            ) => false,
        }
    }
}

fn same_all(a: &[Scalar], b: &[Scalar]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same(y))
}

impl Cond {
    /// Calls `f` with level and slot of every slot it reads, also in nested queries.
    pub fn each_slot(&self, f: Visit<'_>) {
        match self {
            Self::Const(_) => {}
            Self::And(list) | Self::Or(list) => list.iter().for_each(|c| c.each_slot(f)),
            Self::Not(c) => c.each_slot(f),
            Self::Compare { left, right, .. } => {
                left.each_slot(f);
                right.each_slot(f);
            }
            Self::IsNull(x) => x.each_slot(f),
            Self::InList { expr, list, .. } => {
                expr.each_slot(f);
                list.iter().for_each(|x| x.each_slot(f));
            }
            Self::Like {
                expr,
                pattern,
                escape,
                ..
            } => {
                expr.each_slot(f);
                pattern.each_slot(f);
                if let Some(escape) = escape {
                    escape.each_slot(f);
                }
            }
            Self::Exists(query) => query.each_slot(f),
            Self::Quantified { left, query, .. } => {
                left.each_slot(f);
                query.each_slot(f);
            }
        }
    }

    /// Whether it contains a query.
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

    /// Whether it is the same condition. Queries are never the same.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Const(a), Self::Const(b)) => a == b,
            (Self::And(a), Self::And(b)) | (Self::Or(a), Self::Or(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same(y))
            }
            (Self::Not(a), Self::Not(b)) => a.same(b),
            (
                Self::Compare {
                    op,
                    left,
                    right,
                    ty,
                },
                Self::Compare {
                    op: o,
                    left: l,
                    right: r,
                    ty: t,
                },
            ) => op == o && ty == t && left.same(l) && right.same(r),
            (Self::IsNull(a), Self::IsNull(b)) => a.same(b),
            (
                Self::InList { expr, list, .. },
                Self::InList {
                    expr: e, list: l, ..
                },
            ) => expr.same(e) && same_all(list, l),
            (
                Self::Like {
                    expr,
                    pattern,
                    escape,
                    ..
                },
                Self::Like {
                    expr: e,
                    pattern: p,
                    escape: s,
                    ..
                },
            ) => {
                expr.same(e)
                    && pattern.same(p)
                    && match (escape, s) {
                        (None, None) => true,
                        (Some(a), Some(b)) => a.same(b),
                        _ => false,
                    }
            }
            (
                Self::Const(_)
                | Self::And(_)
                | Self::Or(_)
                | Self::Not(_)
                | Self::Compare { .. }
                | Self::IsNull(_)
                | Self::InList { .. }
                | Self::Like { .. }
                | Self::Exists(_)
                | Self::Quantified { .. },
                _,
            ) => false,
        }
    }
}

impl Query {
    /// Calls `f` with level and slot of every slot that it or a query inside it reads.
    pub fn each_slot(&self, f: Visit<'_>) {
        self.root.each_slot(f);
        self.output.iter().for_each(|x| x.each_slot(f));
    }
}

impl Seek {
    fn each_slot(&self, f: Visit<'_>) {
        for eq in &self.prefix {
            if let SeekEq::Value(x) = eq {
                x.each_slot(f);
            }
        }
        for (x, _) in self.low.iter().chain(&self.high) {
            x.each_slot(f);
        }
    }
}

fn sort_slots(keys: &[SortKey], f: Visit<'_>) {
    keys.iter().for_each(|k| k.expr.each_slot(f));
}

impl Node {
    /// Calls `f` with level and slot of every slot that it reads, also in nested queries.
    pub fn each_slot(&self, f: Visit<'_>) {
        match self {
            Self::Once | Self::SystemView { .. } | Self::Working { .. } => {}
            Self::Values { rows, .. } => rows.iter().flatten().for_each(|x| x.each_slot(f)),
            Self::Scan(scan) => {
                scan.seek.each_slot(f);
                if let Some(c) = &scan.residual {
                    c.each_slot(f);
                }
            }
            Self::LocalScan(scan) => {
                if let Some((_, seek)) = &scan.seek {
                    seek.each_slot(f);
                }
                if let Some(c) = &scan.residual {
                    c.each_slot(f);
                }
            }
            Self::OpenJson { json, path, .. } => {
                json.each_slot(f);
                if let Some(path) = path {
                    path.each_slot(f);
                }
            }
            Self::StringSplit {
                text, separator, ..
            } => {
                text.each_slot(f);
                separator.each_slot(f);
            }
            Self::Derived { query, .. } | Self::ForJson { query, .. } => query.each_slot(f),
            Self::Recursive {
                anchor, recursive, ..
            } => {
                anchor.each_slot(f);
                recursive.iter().for_each(|q| q.each_slot(f));
            }
            Self::Concat { inputs, .. } => inputs.iter().for_each(|q| q.each_slot(f)),
            Self::Set { left, right, .. } => {
                left.each_slot(f);
                right.each_slot(f);
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
            | Self::Offset { .. } => self.each_slot_above(f),
        }
    }

    /// The operators that have inputs of the same level.
    fn each_slot_above(&self, f: Visit<'_>) {
        match self {
            Self::Filter { cond, .. } => cond.each_slot(f),
            Self::Loop { on: Some(on), .. } | Self::Full { on, .. } => on.each_slot(f),
            Self::Hash(join) => {
                for (a, b, _) in &join.keys {
                    a.each_slot(f);
                    b.each_slot(f);
                }
                if let Some(c) = &join.residual {
                    c.each_slot(f);
                }
            }
            Self::Compute { exprs, .. } => exprs.iter().for_each(|(_, x)| x.each_slot(f)),
            Self::Group(group) => {
                group.keys.iter().for_each(|(x, _, _)| x.each_slot(f));
                for call in &group.aggregates {
                    call.args.iter().for_each(|x| x.each_slot(f));
                    sort_slots(&call.order, f);
                }
            }
            Self::Window { functions, .. } => {
                for w in functions {
                    w.args.iter().for_each(|x| x.each_slot(f));
                    w.partition.iter().for_each(|(x, _)| x.each_slot(f));
                    sort_slots(&w.order, f);
                }
            }
            Self::Sort { keys, .. } => sort_slots(keys, f),
            Self::Top { count, ties, .. } => {
                count.each_slot(f);
                sort_slots(ties.as_deref().unwrap_or_default(), f);
            }
            Self::Offset { offset, fetch, .. } => {
                offset.each_slot(f);
                if let Some(fetch) = fetch {
                    fetch.each_slot(f);
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
        self.inputs().into_iter().for_each(|n| n.each_slot(f));
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
