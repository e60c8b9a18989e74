//! `column IN (…)` as a join, which can seek where testing each row cannot.

use crate::ast::{CompareOp, Condition};
use crate::error::SqlResult;
use crate::plan::{Cond, Node, Scalar};

use super::compare::operands;
use super::context::Binder;
use super::planner::AsJoin;
use super::state::QueryUse;
use super::typing::Ex;

impl<'a> Binder<'a> {
    /// `column IN (list or query)` as a join with the distinct members, if it can be one.
    pub(super) fn in_as_join(&mut self, cond: &'a Condition) -> SqlResult<Option<Box<AsJoin>>> {
        let level = self.scopes.len() - 1;
        let (expr, members) = match cond {
            Condition::InList {
                expr,
                list,
                negated: false,
            } if list.len() > 1 => {
                let mut rows = Vec::new();
                for item in list {
                    rows.push(vec![self.bind_expr(item)?]);
                }
                let mut reads = false;
                for ex in rows.iter().flatten() {
                    ex.expr.each_slot(&mut |l, _| reads |= l == level);
                }
                if reads {
                    return Ok(None);
                }
                (expr, self.values_node(rows)?)
            }
            Condition::InQuery {
                expr,
                query,
                negated: false,
            } => {
                // Only a column can be sought; the query need not be bound to see that it is none.
                let left = self.bind_expr(expr)?;
                if !matches!(&left.expr, Scalar::Slot { level: l, .. } if *l == level) {
                    return Ok(None);
                }
                let query = self.in_two_forms(|b| b.bind_nested(query, QueryUse::Value))?;
                let mut reads = false;
                query.each_slot(&mut |l, _| reads |= l == level);
                if reads || query.columns.len() != 1 {
                    return Ok(None);
                }
                let columns = query.columns.clone();
                let base = self.scope().allocate(1);
                (
                    expr,
                    (
                        Node::Derived {
                            query: Box::new(query),
                            base,
                        },
                        columns,
                    ),
                )
            }
            Condition::And(..)
            | Condition::Or(..)
            | Condition::Not(_)
            | Condition::Compare(..)
            | Condition::Quantified { .. }
            | Condition::IsNull { .. }
            | Condition::Between { .. }
            | Condition::InList { .. }
            | Condition::InQuery { .. }
            | Condition::Like { .. }
            | Condition::Exists(_) => return Ok(None),
        };
        let (node, columns) = members;
        let (Node::Values { base, .. } | Node::Derived { base, .. }) = node else {
            return Ok(None);
        };
        let left = self.bind_expr(expr)?;
        if !matches!(&left.expr, Scalar::Slot { level: l, .. } if *l == level) {
            return Ok(None);
        }
        let right = Ex {
            expr: Scalar::Slot { level, slot: base },
            ty: columns[0].ty.clone(),
            nullable: true,
            coll: columns[0].label,
        };
        let (left, right, ty) = operands(left, right, "equal to")?;
        // Members that differ only before a conversion would find a row twice.
        if !matches!(right, Scalar::Slot { .. }) {
            return Ok(None);
        }
        let keys = vec![(base, ty.clone())];
        Ok(Some(Box::new(AsJoin {
            members: Node::Distinct {
                input: Box::new(node),
                keys,
            },
            slot: base,
            cond: Cond::Compare {
                op: CompareOp::Eq,
                left,
                right,
                ty,
            },
        })))
    }
}
