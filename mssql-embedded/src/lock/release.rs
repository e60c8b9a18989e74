//! Giving locks back: one by one, and at the end of a statement, transaction or session.

use super::manager::{LockManager, Reply, Request};
use super::table::{Grip, Span, TableUse, brief_place};
use super::{LockOwner, Mode, Resource, Strength};
use crate::catalog::ObjectId;

impl LockManager {
    /// Gives back a brief lock, or undoes a durable request, leaving what was held before it.
    pub fn release(&mut self, owner: LockOwner, grip: &Grip) {
        let Some(slot) = self.slots.get_mut(grip.slot as usize) else {
            return;
        };
        if slot.serial != grip.serial {
            return;
        }
        let Some(g) = slot.grant_of(owner, grip.span == Span::Session) else {
            return;
        };
        let grant = &mut slot.granted[g];
        if grip.span == Span::Brief
            && let Some(place) = brief_place(grip.mode)
        {
            grant.brief[place] = grant.brief[place].saturating_sub(1);
        } else if grant.durable == grip.durable_after {
            grant.durable = grip.durable_before;
            if grip.durable_before.is_none() {
                self.uncount_row_lock(owner, grip.slot);
            }
        }
        self.refresh(grip.slot, owner, grip.span == Span::Session);
    }

    /// Releases everything the session holds briefly: a statement ended.
    pub fn end_statement(&mut self, owner: LockOwner) {
        let Some(state) = self.owners.get_mut(&owner) else {
            return;
        };
        if std::mem::take(&mut state.counted) {
            state.tables.values_mut().for_each(TableUse::reset);
        }
        for at in std::mem::take(&mut state.brief) {
            for grant in &mut self.slots[at as usize].granted {
                if grant.owner == owner {
                    grant.brief = Default::default();
                }
            }
            self.refresh(at, owner, false);
        }
    }

    /// Releases everything but the session's own application locks: a transaction ended.
    pub fn end_transaction(&mut self, owner: LockOwner) {
        self.end_statement(owner);
        let Some(state) = self.owners.get_mut(&owner) else {
            return;
        };
        state.acquisitions = 0;
        let held = std::mem::take(&mut state.held);
        for at in held {
            self.remove_grant(at, owner, false);
        }
        if let Some(state) = self.owners.get_mut(&owner) {
            state.tables.clear();
        }
    }

    /// Releases everything: the session ended.
    pub fn end_session(&mut self, owner: LockOwner) {
        self.cancel(owner);
        self.end_transaction(owner);
        let held = self
            .owners
            .get_mut(&owner)
            .map(|o| std::mem::take(&mut o.held))
            .unwrap_or_default();
        for at in held {
            self.remove_grant(at, owner, true);
        }
        self.owners.remove(&owner);
    }

    /// How many locks the session has taken in its transaction, for [`LockManager::release_since`].
    pub fn acquisitions(&self, owner: LockOwner) -> u64 {
        self.owners.get(&owner).map_or(0, |o| o.acquisitions)
    }

    /// Releases locks first taken after a savepoint. Conversions and table locks that came from
    /// escalation stay, as they do in SQL Server.
    pub fn release_since(&mut self, owner: LockOwner, acquisitions: u64) {
        let Some(state) = self.owners.get(&owner) else {
            return;
        };
        let later: Vec<u32> = state
            .held
            .iter()
            .copied()
            .filter(|at| {
                let slot = &self.slots[*at as usize];
                slot.grant_of(owner, false)
                    .is_some_and(|g| slot.granted[g].order > acquisitions)
            })
            .collect();
        for at in later {
            if let Some(g) = self.slots[at as usize].grant_of(owner, false) {
                self.slots[at as usize].granted[g].durable = None;
                self.refresh(at, owner, false);
            }
        }
    }

    /// Releases one acquisition of an application lock; false if it is not held.
    pub fn release_application(
        &mut self,
        owner: LockOwner,
        resource: &Resource,
        session: bool,
    ) -> bool {
        let Some(&at) = self.by_resource.get(resource) else {
            return false;
        };
        let slot = &mut self.slots[at as usize];
        let Some(g) = slot.grant_of(owner, session) else {
            return false;
        };
        let grant = &mut slot.granted[g];
        grant.count = grant.count.saturating_sub(1);
        if grant.count == 0 {
            grant.durable = None;
            self.refresh(at, owner, session);
        }
        true
    }

    /// Exchanges the session's row locks on a table for a lock on the table, if it is available at
    /// once.
    pub fn escalate(&mut self, owner: LockOwner, table: ObjectId) -> bool {
        let Some(state) = self.owners.get_mut(&owner) else {
            return false;
        };
        let usage = state.tables.entry(table).or_default();
        let writes = matches!(
            usage.mode.strength,
            Strength::IX | Strength::SIX | Strength::UIX
        );
        let reply = self.request(&Request {
            owner,
            resource: &Resource::Object(table),
            mode: if writes { Mode::X } else { Mode::S },
            span: Span::Transaction,
            wait: None,
        });
        let Reply::Granted(grip) = reply else {
            if let Some(usage) = self.table_use(owner, table) {
                usage.postpone();
            }
            return false;
        };
        // A savepoint rollback keeps the table lock, whenever the table was first locked.
        let slot = &mut self.slots[grip.slot as usize];
        if let Some(g) = slot.grant_of(owner, false) {
            slot.granted[g].order = 0;
        }
        let rows: Vec<u32> = self.owners.get(&owner).map_or_else(Vec::new, |state| {
            let of_table = |at: &u32| self.slots[*at as usize].resource.row_of() == Some(table);
            state.held.iter().copied().filter(of_table).collect()
        });
        for at in rows {
            if let Some(g) = self.slots[at as usize].grant_of(owner, false) {
                self.slots[at as usize].granted[g].durable = None;
                self.refresh(at, owner, false);
            }
        }
        if let Some(usage) = self.table_use(owner, table) {
            usage.reset();
        }
        true
    }

    /// Recomputes a grant after something was taken from it, drops it if nothing is left, and serves
    /// the queue.
    fn refresh(&mut self, at: u32, owner: LockOwner, session: bool) {
        let slot = &mut self.slots[at as usize];
        let Some(g) = slot.grant_of(owner, session) else {
            return;
        };
        let grant = &slot.granted[g];
        let (before, after) = (grant.mode, grant.effective());
        let (is_brief, is_empty) = (grant.is_brief(), grant.is_empty());
        if !is_brief
            && let Some(state) = self.owners.get_mut(&owner)
            && let Some(i) = state.brief.iter().rposition(|b| *b == at)
        {
            state.brief.swap_remove(i);
        }
        if is_empty {
            self.remove_grant(at, owner, session);
        } else if before != after {
            self.set_mode(at, g, after);
            self.serve_queue(at);
        }
    }

    fn remove_grant(&mut self, at: u32, owner: LockOwner, session: bool) {
        let slot = &mut self.slots[at as usize];
        if let Some(g) = slot.grant_of(owner, session) {
            self.set_mode(at, g, Mode::plain(Strength::Null));
            self.slots[at as usize].granted.swap_remove(g);
        }
        let slot = &self.slots[at as usize];
        let still_held = slot.granted.iter().any(|g| g.owner == owner);
        if let Some(state) = self.owners.get_mut(&owner) {
            if still_held {
                state.held.insert(at);
            } else {
                state.held.remove(&at);
            }
        }
        self.serve_queue(at);
    }

    fn table_use(&mut self, owner: LockOwner, table: ObjectId) -> Option<&mut TableUse> {
        self.owners.get_mut(&owner)?.tables.get_mut(&table)
    }

    fn uncount_row_lock(&mut self, owner: LockOwner, at: u32) {
        if let Some((table, index)) = self.slots[at as usize].resource.place()
            && let Some(usage) = self.table_use(owner, table)
        {
            usage.uncount(index);
        }
    }
}
