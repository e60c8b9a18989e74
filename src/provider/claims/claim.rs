//! One claim: taken by its caller, or given back.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::super::in_vain::Noted;
use super::super::leases::Queue;
use super::super::under_way::Ticket;
use super::{CLOSING, Claims};
use crate::error::CallError;
use crate::procedure::{Call, Record, ResultSets};
use crate::retry::Retry;
use crate::server_errors::says_lease_lost;

/// How long a fetch waits until what it cannot hand out is given back.
const RETURNING: Duration = Duration::from_secs(3);

/// The answer to a fetch that found something.
pub(in crate::provider) struct Claimed {
    pub(in crate::provider) header: Record,
    pub(in crate::provider) rest: ResultSets,
    pub(in crate::provider) claim: Claim,
    /// How long it is leased.
    pub(in crate::provider) lease: Duration,
}

/// A lease that nobody has taken over yet. Dropping it gives it back.
pub(in crate::provider) struct Claim {
    pub(super) claims: Arc<Claims>,
    pub(super) queue: Queue,
    pub(super) token: String,
    /// None once the claim is taken.
    pub(super) ticket: Option<Ticket>,
    pub(super) runtime: Handle,
}

impl Claim {
    pub(in crate::provider) fn token(&self) -> &str {
        &self.token
    }

    /// How often somebody had the item, this time included, when a fetch of that moment found this count. To be
    /// asked last: what was in vain may turn out while the item is read.
    pub(in crate::provider) fn attempts(
        &self,
        header: &Record,
        asked_at: Instant,
    ) -> Result<u32, CallError> {
        let counted = u32::try_from(header.int("attempt_count")?).unwrap_or(u32::MAX);
        let in_vain = self.claims.in_vain.among(self.queue, &self.token, asked_at);
        Ok(counted.saturating_sub(in_vain).max(1))
    }

    /// The caller has the item, and settles the lease from here on.
    pub(in crate::provider) fn take(mut self) -> String {
        self.ticket = None;
        std::mem::take(&mut self.token)
    }

    /// Gives the item back because of this error, and the error to the caller when that is done: a caller who fetches again at once
    /// would otherwise be first at an item whose lease is over, and the attempt would count. What takes long goes on without
    /// the caller.
    pub(in crate::provider) async fn give_back(mut self, error: CallError) -> CallError {
        if let Some(task) = self.hand_back() {
            let _ = tokio::time::timeout(RETURNING, task).await;
        }
        error
    }

    fn hand_back(&mut self) -> Option<JoinHandle<()>> {
        let ticket = self.ticket.take()?;
        let (claims, queue) = (self.claims.clone(), self.queue);
        let token = std::mem::take(&mut self.token);
        let left = claims.leases.left(&token).unwrap_or_default();
        let noted = claims.in_vain.note(queue, &token, left);
        let task = async move {
            claims.give_back_in_vain(queue, &token, left, &noted).await;
            ticket.given_back();
        };
        Some(self.claims.tasks.spawn_on(task, &self.runtime))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        drop(self.hand_back());
    }
}

impl Claims {
    /// Gives back what nobody had. Where its lease is over somebody may have taken it over; then its attempt is taken off.
    async fn give_back_in_vain(&self, queue: Queue, token: &str, left: Duration, noted: &Noted) {
        // A lease that is over holds nobody up. Given back twice, the item would look as if it had been taken over.
        let retry = match left.is_zero() {
            true => Retry::when_undone(),
            false => self.settlement(token),
        };
        let Err(error) = self.give_back(queue, token, retry).await else {
            self.in_vain.undone(noted);
            return;
        };
        let is_taken_over = left.is_zero() && error.number().is_some_and(says_lease_lost);
        // A provider that is being closed gives everything back, and this may have been among it. In doubt the attempt stays
        // where it is, and is not counted here.
        if is_taken_over && !self.tasks.is_closed() && self.uncount(queue, token).await {
            self.in_vain.uncounted(noted);
        }
    }

    /// Takes off the attempt of a claim that nobody had and somebody has taken over. Whether that is done. Not twice, and no lease
    /// depends on it.
    async fn uncount(&self, queue: Queue, token: &str) -> bool {
        let procedure = match queue {
            Queue::Orchestrations => "uncount_orchestration_item",
            Queue::Work => "uncount_work_item",
        };
        let retry = Retry::when_undone().for_up_to(CLOSING);
        let call = Call::dispatch(procedure, retry).text("@lock_token", token);
        let uncounted = self.database.execute(&call).await;
        if let Err(error) = &uncounted {
            tracing::debug!(procedure, %error, "an attempt that nobody made may count");
        }
        uncounted.is_ok()
    }
}
