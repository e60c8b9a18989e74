//! Whether two expressions are the same computation.

use super::{Cond, Scalar};

impl Scalar {
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
