//! Asking for a lock and waiting for it.

use std::time::Duration;

use super::tree::{Tree, entry_chain, row_chain};
use super::{Access, errors};
use crate::adversary::{Choices, Grain, Question};
use crate::catalog::{ObjectId, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::interrupt::{Interrupt, interrupt_error};
use crate::lock::{Grip, Mode, Reply, Request, Resource, Span, Strength, Verdict, WaitCost};
use crate::storage::{Key, TxnId};

/// How often a waiting session asks whether its client still wants the answer.
const INTERRUPT_CHECK: Duration = Duration::from_millis(20);

/// How often, with an adversary, other sessions go first at a lock, and for how long.
const GO_FIRST_ONE_IN: usize = 16;
const OTHERS_TURN: Duration = Duration::from_micros(200);

/// How often, with an adversary, who has got a lock after a wait goes on only when others have had a turn.
const WAIT_ON_ONE_IN: usize = 4;

/// How often, with an adversary, a row lock leads to escalation.
const ESCALATE_ONE_IN: usize = 100;

/// What to do when a lock is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Wait as long as LOCK_TIMEOUT allows.
    Wait,
    /// Do without (READPAST).
    Skip,
    /// Fail with 1222 (NOWAIT).
    Fail,
}

/// What is asked for on a row or key.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLock {
    pub mode: Mode,
    pub span: Span,
    pub patience: Patience,
    /// Whether the lock is taken on the row's page instead.
    pub grain: Grain,
}

/// The outcome of asking for a lock.
#[derive(Debug)]
pub(super) enum Acquired {
    /// It is held, or not needed because the whole table is locked.
    Held {
        /// To give it back early.
        grip: Option<Grip>,
        /// The lock on the row's page that came with it, with an adversary.
        page: Option<Grip>,
        /// Others have had the latch meanwhile, so what was seen before must be looked at again.
        waited: bool,
    },
    /// Somebody else has it.
    Unavailable,
}

/// Why a wait ended without the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitEnd {
    Timeout,
    Deadlock,
    Interrupted(Interrupt),
}

impl Access<'_, '_> {
    /// Asks for a lock that is not on a row.
    pub(super) fn acquire(
        &mut self,
        resource: &Resource,
        mode: Mode,
        span: Span,
        patience: Patience,
    ) -> SqlResult<Acquired> {
        let timeout = match patience {
            Patience::Wait => self.lock_timeout,
            Patience::Skip | Patience::Fail => Some(Duration::ZERO),
        };
        let others_went = self.let_others_go();
        match self.acquire_within(resource, mode, span, timeout) {
            Ok((grip, waited)) => Ok(Acquired::Held {
                grip,
                page: None,
                waited: waited || others_went,
            }),
            Err(WaitEnd::Timeout) if patience == Patience::Skip => Ok(Acquired::Unavailable),
            Err(end) => Err(self.wait_error(end)),
        }
    }

    /// Asks for a lock on a row or key, and exchanges the statement's row locks for a table lock when
    /// they have become too many.
    pub(super) fn acquire_row(
        &mut self,
        table: &TableDef,
        resource: &Resource,
        ask: RowLock,
    ) -> SqlResult<Acquired> {
        let RowLock {
            mode,
            span,
            patience,
            grain,
        } = ask;
        let mut of_page = None;
        let mut waited_for_page = false;
        if self.choices.is_some()
            && let Some(page) = page_of(table, resource)
        {
            let whole = grain == Grain::Page && !mode.is_range();
            let page_mode = if whole { mode } else { intent(mode) };
            // READPAST does not step over pages: learn.microsoft.com/sql/t-sql/queries/hints-transact-sql-table
            let patience = match patience {
                Patience::Skip => Patience::Wait,
                other @ (Patience::Wait | Patience::Fail) => other,
            };
            if let Acquired::Held { grip, waited, .. } =
                self.acquire(&page, page_mode, span, patience)?
            {
                of_page = grip;
                waited_for_page = waited;
            }
            if whole {
                return Ok(Acquired::Held {
                    grip: None,
                    page: of_page,
                    waited: waited_for_page,
                });
            }
        }
        let acquired = match self.acquire(resource, mode, span, patience)? {
            Acquired::Held { grip, waited, .. } => Acquired::Held {
                grip,
                page: of_page,
                waited: waited || waited_for_page,
            },
            Acquired::Unavailable => {
                if let Some(grip) = of_page {
                    self.release(&grip);
                }
                return Ok(Acquired::Unavailable);
            }
        };
        if let Acquired::Held {
            grip: Some(grip), ..
        } = &acquired
            && table.lock_escalation
            && (grip.escalation_due || self.short_of_lock_memory(grip))
            && self.latch.locks.escalate(self.owner, table.id)
        {
            self.stats.escalations += 1;
        }
        Ok(acquired)
    }

    /// Escalation may come long before 5,000 locks: lock memory is shared with everybody else. A row lock that
    /// is given back at once has no part in it.
    fn short_of_lock_memory(&self, grip: &Grip) -> bool {
        grip.is_durable()
            && (self.choices)
                .is_some_and(|choices| choices.chance(Question::Escalation, ESCALATE_ONE_IN))
    }

    /// Asks for a lock and waits at most `timeout`, for ever if there is none. Tells whether it waited.
    pub(super) fn acquire_within(
        &mut self,
        resource: &Resource,
        mode: Mode,
        span: Span,
        timeout: Option<Duration>,
    ) -> Result<(Option<Grip>, bool), WaitEnd> {
        let cost = WaitCost {
            priority: self.deadlock_priority,
            undo: match self.choices {
                Some(choices) => undo_estimate(self.txn.undo_len(), choices),
                None => self.txn.undo_len() as u64,
            },
        };
        let reply = self.latch.locks.request(&Request {
            owner: self.owner,
            resource,
            mode,
            span,
            wait: (timeout != Some(Duration::ZERO)).then_some(cost),
        });
        match reply {
            Reply::Granted(grip) => {
                self.stats.locks_taken += 1;
                Ok((Some(grip), false))
            }
            Reply::Free => Ok((None, false)),
            Reply::Refused => Err(WaitEnd::Timeout),
            Reply::Deadlock => {
                self.stats.lock_waits += 1;
                Err(WaitEnd::Deadlock)
            }
            Reply::Queued => {
                self.stats.lock_waits += 1;
                let grip = self.wait(timeout)?;
                self.stats.locks_taken += 1;
                if let Some(choices) = self.choices
                    && choices.seat().is_none()
                    && choices.chance(Question::Turn, WAIT_ON_ONE_IN)
                {
                    self.latch.let_others_go(OTHERS_TURN);
                }
                Ok((Some(grip), true))
            }
        }
    }

    /// The adversary may let other sessions go first at every lock; true if they had the latch.
    fn let_others_go(&mut self) -> bool {
        match self.choices {
            Some(choices) if choices.chance(Question::Schedule, GO_FIRST_ONE_IN) => {
                self.rest(choices);
                true
            }
            _ => false,
        }
    }

    /// Gives the latch up for a turn of somebody else.
    fn rest(&mut self, choices: &Choices) {
        let Some(seat) = choices.seat() else {
            self.latch.let_others_go(OTHERS_TURN);
            return;
        };
        let clock = self.latch.clock();
        let mut stop = || (self.interrupted)().is_some();
        self.latch.unlatched(|| seat.pass(clock, &mut stop));
    }

    /// The unfinished transaction of somebody else that wrote what the resource stands for.
    pub(super) fn other_writer(&self, tree: Tree, key: &Key) -> Option<TxnId> {
        let store = &self.latch.store;
        let writer = if tree.holds_rows() {
            row_chain(store, tree.table, key)?.writer()
        } else {
            entry_chain(store, tree, key)?.writer()
        };
        writer.filter(|writer| *writer != self.txn.id)
    }

    /// Waits until a transaction has ended, holding nothing of it.
    pub(super) fn await_transaction(&mut self, id: TxnId) -> SqlResult<()> {
        let resource = Resource::Transaction(id);
        self.acquire(&resource, Mode::S, Span::Instant, Patience::Wait)?;
        Ok(())
    }

    /// Waits, without the latch, until the queued request is decided.
    fn wait(&mut self, timeout: Option<Duration>) -> Result<Grip, WaitEnd> {
        let clock = self.latch.clock();
        let deadline = timeout.map(|t| clock.elapsed().saturating_add(t));
        self.latch.locks.waiting_since(self.owner, clock.elapsed());
        let signal = self.latch.locks.signal(self.owner);
        loop {
            match self.latch.locks.poll(self.owner) {
                Verdict::Granted(grip) => return Ok(grip),
                Verdict::Victim => return Err(WaitEnd::Deadlock),
                Verdict::Waiting => {}
            }
            let mut nap = INTERRUPT_CHECK;
            if let Some(deadline) = deadline {
                let left = deadline.saturating_sub(clock.elapsed());
                if left.is_zero() {
                    self.latch.locks.cancel(self.owner);
                    return Err(WaitEnd::Timeout);
                }
                nap = nap.min(left);
            }
            if let Some(interrupt) = (self.interrupted)() {
                self.latch.locks.cancel(self.owner);
                return Err(WaitEnd::Interrupted(interrupt));
            }
            match self.choices.and_then(Choices::seat) {
                None => self.latch.wait(&signal, nap),
                Some(seat) => {
                    // With the latch, so that nobody decides before it waits.
                    seat.begin_wait(deadline, clock);
                    let mut stop = || (self.interrupted)().is_some();
                    self.latch.unlatched(|| seat.await_turn(clock, &mut stop));
                }
            }
        }
    }

    fn wait_error(&self, end: WaitEnd) -> SqlError {
        match end {
            WaitEnd::Timeout => errors::lock_timeout(),
            WaitEnd::Deadlock => errors::deadlock(self.owner),
            WaitEnd::Interrupted(interrupt) => interrupt_error(interrupt),
        }
    }

    /// Gives back what a row took.
    pub(super) fn release(&mut self, grip: &Grip) {
        self.latch.locks.release(self.owner, grip);
    }

    /// Before every row: now and then lets others have the latch and asks whether to go on. Nothing read
    /// before may be relied on afterwards.
    pub(super) fn give_way(&mut self) -> SqlResult<()> {
        if self.latch.give_way()
            && let Some(interrupt) = (self.interrupted)()
        {
            return Err(interrupt_error(interrupt));
        }
        Ok(())
    }
}

/// What SQL Server may think that a rollback costs, with the session of least cost to be the victim. It reckons in
/// bytes of log, which nobody can predict from the rows: who has written nothing comes before who has written, a few
/// rows before many, and all else is chance.
fn undo_estimate(written: usize, choices: &Choices) -> u64 {
    let magnitude = match written {
        0 => 0,
        some => 1 + u64::from(some.ilog2()) / 6,
    };
    (magnitude << 16) + choices.pick(Question::Victim, 1 << 16) as u64
}

/// The page of a row or key, unless its index knows only row locks.
fn page_of(table: &TableDef, resource: &Resource) -> Option<Resource> {
    let (_, id) = resource.place()?;
    let forbidden = (table.indexes.iter()).any(|i| i.index_id == id && !i.allow_page_locks);
    if forbidden {
        return None;
    }
    resource.page()
}

/// What a lock on a row asks of its page.
fn intent(mode: Mode) -> Mode {
    match mode.strength {
        Strength::Null | Strength::SchS | Strength::IS | Strength::S => Mode::IS,
        Strength::SchM
        | Strength::IX
        | Strength::U
        | Strength::X
        | Strength::SIX
        | Strength::UIX => Mode::IX,
    }
}

/// Waits until nobody is defining or dropping an object of the catalogue, and keeps nothing of that: of several who wait so,
/// each may want to change it.
///
/// # Errors
///
/// Those of [`lock_object`].
pub fn await_object(a: &mut Access<'_, '_>, object: ObjectId) -> SqlResult<()> {
    let resource = Resource::Object(object);
    a.acquire(&resource, Mode::SCH_S, Span::Instant, Patience::Wait)?;
    Ok(())
}

/// Locks an object of the catalogue, until the end of the statement or (`hold`) of the transaction.
///
/// # Errors
///
/// 1205, 1222, or the error of an interrupt.
pub fn lock_object(
    a: &mut Access<'_, '_>,
    object: ObjectId,
    mode: Mode,
    hold: bool,
) -> SqlResult<()> {
    let span = if hold { Span::Transaction } else { Span::Brief };
    a.acquire(&Resource::Object(object), mode, span, Patience::Wait)?;
    Ok(())
}
