//! Asking for a lock and waiting for it.

use std::time::Duration;

use super::{Access, errors};
use crate::catalog::{ObjectId, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::interrupt::{Interrupt, interrupt_error};
use crate::lock::{Grip, Mode, Reply, Request, Resource, Span, Verdict, WaitCost};

/// How often a waiting session asks whether its client still wants the answer.
const INTERRUPT_CHECK: Duration = Duration::from_millis(20);

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

/// The outcome of asking for a lock.
#[derive(Debug)]
pub(super) enum Acquired {
    /// It is held, or not needed because the whole table is locked.
    Held {
        /// To give it back early.
        grip: Option<Grip>,
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
        match self.acquire_within(resource, mode, span, timeout) {
            Ok((grip, waited)) => Ok(Acquired::Held { grip, waited }),
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
        mode: Mode,
        span: Span,
        patience: Patience,
    ) -> SqlResult<Acquired> {
        let acquired = self.acquire(resource, mode, span, patience)?;
        if let Acquired::Held {
            grip: Some(grip), ..
        } = &acquired
            && grip.escalation_due
            && table.lock_escalation
            && self.latch.locks.escalate(self.owner, table.id)
        {
            self.stats.escalations += 1;
        }
        Ok(acquired)
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
            undo: self.txn.undo_len() as u64,
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
                Ok((Some(grip), true))
            }
        }
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
            self.latch.wait(&signal, nap);
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
