//! Outer joins, which keep their sides.

use crate::error::SqlResult;
use crate::plan::{Cond, LoopKind, Node};

use super::join::{conjunction, filter};
use super::{Conjunct, Planned, Planner, Rel, SlotSet, span};

impl Planner<'_> {
    /// LEFT JOIN and OUTER APPLY. `conds` come from above: those on the left side alone are tested
    /// there, the others after the join. The ON conditions belong to the right side, which is opened
    /// for each row of the left.
    pub(super) fn left_join(
        &self,
        left: Rel,
        right: Rel,
        on: Vec<Conjunct>,
        conds: Vec<Cond>,
        before: &SlotSet,
        may_order: bool,
    ) -> SqlResult<Planned> {
        let left_slots: SlotSet = self.fills(&left).union(before).copied().collect();
        let (inside, above): (Vec<Cond>, Vec<Cond>) = conds
            .into_iter()
            .partition(|c| self.reads(c).is_subset(&left_slots));
        let inside = inside.into_iter().map(Conjunct::from).collect();
        let left = self.members(vec![left], inside, before, may_order)?;
        let own = self.fills(&right);
        let on: Vec<Cond> = on.into_iter().map(|c| c.cond).collect();
        let ordered = left.ordered;
        let hash = !on.iter().any(Cond::has_query)
            && self.can_hash(&right, &on, left.single, &left_slots, before)?;
        let node = if hash {
            self.hash_join(LoopKind::Left, left.node, right, on, before)?
        } else {
            let on = on.into_iter().map(Conjunct::from).collect();
            let right = self.members(vec![right], on, &left_slots, false)?;
            Node::Loop {
                kind: LoopKind::Left,
                left: Box::new(left.node),
                right: Box::new(right.node),
                on: None,
                right_slots: span(&own),
            }
        };
        Ok(Planned {
            node: filter(node, above),
            single: false,
            ordered,
        })
    }

    /// FULL JOIN: both sides are read on their own.
    pub(super) fn full_join(
        &self,
        left: Rel,
        right: Rel,
        on: Vec<Conjunct>,
        conds: Vec<Cond>,
        before: &SlotSet,
    ) -> SqlResult<Planned> {
        let (left_slots, right_slots) = (span(&self.fills(&left)), span(&self.fills(&right)));
        let left = self.members(vec![left], Vec::new(), before, false)?;
        let right = self.members(vec![right], Vec::new(), before, false)?;
        let on = on.into_iter().map(|c| c.cond).collect();
        let node = Node::Full {
            left: Box::new(left.node),
            right: Box::new(right.node),
            on: conjunction(on).unwrap_or(Cond::Const(Some(true))),
            left_slots,
            right_slots,
        };
        Ok(Planned {
            node: filter(node, conds),
            single: false,
            ordered: false,
        })
    }
}
