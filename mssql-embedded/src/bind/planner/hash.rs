//! Hash joins: whether one can be, and how it is made.

use crate::adversary::Question;
use crate::ast::{CompareOp, JoinStrategy};
use crate::error::SqlResult;
use crate::plan::{Cond, HashJoin, LoopKind, Node, Scalar};
use crate::value::DataType;

use super::access::no_plan;
use super::join::conjunction;
use super::{LeafKind, Planner, Rel, SlotSet, span};

impl Planner<'_> {
    /// Whether to read the member once into a hash table rather than once per row: it has keys to
    /// hash, does not depend on the rows before it, of which there are several, and has no index to seek
    /// in. A hint decides, where there is one.
    pub(super) fn can_hash(
        &self,
        member: &Rel,
        conds: &[Cond],
        single: bool,
        before: &SlotSet,
        outer: &SlotSet,
    ) -> SqlResult<bool> {
        let own = self.fills(member);
        let possible = self.needs(member).is_subset(outer)
            && conds.iter().any(|c| self.equi_key(c, &own).is_some());
        let is_join = !before.is_subset(outer) && !matches!(member, Rel::Members { .. });
        match self.strategy(member) {
            JoinStrategy::Any if single || !possible => return Ok(false),
            JoinStrategy::Any => {}
            JoinStrategy::Loop => return Ok(false),
            JoinStrategy::Hash if is_join && !possible => return Err(no_plan()),
            JoinStrategy::Hash => return Ok(is_join),
        }
        let Rel::Leaf(i) = member else {
            return Ok(true);
        };
        if let Some(choices) = self.choices
            && !self.must_seek(*i)
        {
            return Ok(choices.chance(Question::JoinStrategy, 2));
        }
        let leaf = &self.leaves[*i];
        let conds: Vec<&Cond> = conds.iter().collect();
        Ok(match &leaf.kind {
            LeafKind::Table(t) => !self
                .table_path(t, &leaf.slots, &conds, before, false)?
                .seeks(),
            LeafKind::Local { table, .. } => self
                .local_path(table, &leaf.slots, &conds, before, false)
                .is_none(),
            LeafKind::Other(_) => true,
        })
    }

    /// A hash join of `left` with a member that does not depend on it.
    pub(super) fn hash_join(
        &self,
        kind: LoopKind,
        left: Node,
        member: Rel,
        conds: Vec<Cond>,
        outer: &SlotSet,
    ) -> SqlResult<Node> {
        let own = self.fills(&member);
        let reach: SlotSet = own.union(outer).copied().collect();
        let (mut keys, mut inside, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for cond in conds {
            if self.reads(&cond).is_subset(&reach) {
                inside.push(cond.into());
            } else if let Some(key) = self.equi_key(&cond, &own) {
                keys.push(key);
            } else {
                rest.push(cond);
            }
        }
        let right = self.members(vec![member], inside, outer, false)?;
        Ok(Node::Hash(Box::new(HashJoin {
            kind,
            left,
            right: right.node,
            keys,
            residual: conjunction(rest),
            right_slots: span(&own),
        })))
    }

    /// `a = b` with one side over `own` and the other side without it: (other, own, type).
    fn equi_key(&self, cond: &Cond, own: &SlotSet) -> Option<(Scalar, Scalar, DataType)> {
        let Cond::Compare {
            op: CompareOp::Eq,
            left,
            right,
            ty,
        } = cond
        else {
            return None;
        };
        if left.has_query() || right.has_query() {
            return None;
        }
        let reads = |x: &Scalar| {
            let mut set = SlotSet::new();
            x.each_slot(&mut |level, slot| {
                if level == self.level {
                    set.insert(slot);
                }
            });
            set
        };
        let (l, r) = (reads(left), reads(right));
        if !r.is_empty() && r.is_subset(own) && l.is_disjoint(own) {
            Some((left.clone(), right.clone(), ty.clone()))
        } else if !l.is_empty() && l.is_subset(own) && r.is_disjoint(own) {
            Some((right.clone(), left.clone(), ty.clone()))
        } else {
            None
        }
    }
}
