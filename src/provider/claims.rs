//! Claims: a fetch runs to its end in a task of its own, and a claim that nobody takes is given
//! back.
//!
//! A caller may drop its fetch at any moment, and the runtime does so when it is shut down. The
//! request is on its way then, and the server commits the claim; without its answer nobody could
//! give it back, and the item would be stuck for the length of its lease.

mod claim;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::floors::Floors;
use super::in_vain::InVain;
use super::leases::{Leases, Queue};
use super::overtime::{Caller, Pace, is_slow};
use super::session_owners::SessionOwners;
use super::token::new_token;
use super::under_way::{Ticket, UnderWay};
use crate::codec;
use crate::error::CallError;
use crate::observe::{Tally, events};
use crate::procedure::{Call, Database, ReadOn, Record, ResultSets};
use crate::retry::Retry;
use crate::server_errors::{says_lease_lost, says_schema_is_broken};
use crate::time::after;
use crate::wakeup::Wakeups;

pub(super) use claim::{Claim, Claimed};

/// The call that stores a turn.
pub(super) const ACK_TURN: &str = "ack_orchestration_item";
/// What is left of a lease that is not known here is taken for this much.
pub(super) const UNKNOWN_LEASE: Duration = Duration::from_secs(5);
/// How long an ack is repeated over an error that nobody expected, although somebody renews its lease.
const UNEXPECTED: Duration = Duration::from_secs(120);
/// How long a turn rests that could not be stored for such an error, before it is tried again.
const UNSTORED: Duration = Duration::from_secs(5);
/// How long a provider that is closed waits for its claims and leases to be given back.
const CLOSING: Duration = Duration::from_secs(10);

/// The claims and leases of one provider.
pub(crate) struct Claims {
    database: Arc<Database>,
    wakeups: Arc<Wakeups>,
    pub(super) leases: Leases,
    pub(super) session_owners: SessionOwners,
    floors: Floors,
    pub(super) pace: Pace,
    in_vain: InVain,
    /// Fetches under way, and claims that are being given back.
    tasks: TaskTracker,
    under_way: Arc<UnderWay>,
}

/// What a fetch learned from the database.
pub(super) enum Polled<T> {
    Found(T),
    /// Nothing is ready; something known becomes ready at this time.
    Empty(Option<Instant>),
}

impl Claims {
    pub(super) fn new(database: Arc<Database>, wakeups: Arc<Wakeups>) -> Arc<Self> {
        Arc::new(Self {
            pace: Pace::new(database.options.pool_max, database.options.command_timeout),
            database,
            wakeups,
            leases: Leases::default(),
            session_owners: SessionOwners::default(),
            floors: Floors::default(),
            in_vain: InVain::default(),
            tasks: TaskTracker::new(),
            under_way: Arc::default(),
        })
    }

    /// See [`UnderWay::settle`].
    pub(super) async fn others_settled(&self) -> bool {
        self.under_way.settle().await
    }

    /// Asks for an item. The call is given its token here, and from where to look: `filter` names what else
    /// it asks for.
    pub(super) async fn fetch(
        self: &Arc<Self>,
        queue: Queue,
        lease: Duration,
        filter: String,
        call: Call<'static>,
    ) -> Result<Polled<Claimed>, CallError> {
        let (answer, answered) = oneshot::channel();
        let claims = self.clone();
        let tally = Tally::current();
        let ticket = self.under_way.begin();
        let task = async move {
            let caller = Caller::new(answer);
            let read_on = |waited| caller.reads_on(&claims.pace, queue, waited);
            // Boxed, because a task is moved a dozen times before it runs, and this is kilobytes.
            let claim = Box::pin(claims.claim(queue, lease, &filter, call, ticket, &read_on));
            let claimed = Tally::scope(tally, claim).await;
            caller.answer(claimed);
        };
        self.tasks.spawn(task.in_current_span());
        answered.await.unwrap_or_else(|_| {
            Err(CallError::Connection {
                reason: "the task of a fetch ended without an answer".to_owned(),
                sent: true,
            })
        })
    }

    async fn claim(
        self: &Arc<Self>,
        queue: Queue,
        lease: Duration,
        filter: &str,
        call: Call<'static>,
        ticket: Ticket,
        read_on: ReadOn<'_>,
    ) -> Result<Polled<Claimed>, CallError> {
        let call = self.floors.limit(queue, filter, call);
        let call = call.text("@lock_token", new_token());
        let mut rest = self.database.execute_reading_on(&call, read_on).await?;
        let took = rest.asked_at().elapsed();
        self.pace.answered(queue, rest.waited(), took, lease);
        let header = rest.row()?;
        note_orphans(queue, &header)?;
        self.floors.answered(queue, filter, &header)?;
        if header.int("found")? == 0 {
            return Ok(Polled::Empty(next_ready(&header)?));
        }
        // A fetch that waited long for others has its claim leased for longer.
        let lease = lease.max(Duration::from_millis(header.count("lease_ms")?));
        let token = header.text("lock_token")?.to_owned();
        let instance_id = header.opt_text("instance_id")?.unwrap_or_default();
        self.leases
            .begin(&token, queue, instance_id, rest.asked_at(), lease);
        let claim = Claim {
            claims: self.clone(),
            queue,
            token,
            ticket: Some(ticket),
            runtime: Handle::current(),
        };
        let is_over = self.leases.left(claim.token()) == Some(Duration::ZERO);
        if is_over && !lease.is_zero() && is_slow(took, lease) {
            // Whoever took it would work in vain, and the attempt would count. The next one is leased for longer.
            return Err(claim.give_back(CallError::Timeout { after: took }).await);
        }
        Ok(Polled::Found(Claimed {
            header,
            rest,
            claim,
            lease,
        }))
    }

    /// Gives an item back as if it had not been fetched.
    async fn give_back(&self, queue: Queue, token: &str, retry: Retry) -> Result<(), CallError> {
        let procedure = match queue {
            Queue::Orchestrations => "abandon_orchestration_item",
            Queue::Work => "abandon_work_item",
        };
        let call = Call::settle(procedure, retry)
            .text("@lock_token", token)
            .flag("@ignore_attempt", true);
        let answer = self.database.execute(&call).await;
        match &answer {
            Ok(_) => tracing::debug!(procedure, "gave back an item that nobody took"),
            Err(error) => {
                tracing::debug!(procedure, %error, "an item that nobody took keeps its lease");
            }
        }
        self.leases.end(token);
        self.floors.returned(queue);
        match queue {
            Queue::Orchestrations => self.wakeups.turn_abandoned(token, None),
            Queue::Work => self.wakeups.work_returned(None),
        }
        answer.map(drop)
    }

    /// Ends the leases of sessions whose workers will not come back for them.
    async fn release_sessions(&self) {
        let owners = self.session_owners.holding();
        if owners.is_empty() {
            return;
        }
        let released = async {
            let call = Call::settle("release_sessions", Retry::settlement(UNKNOWN_LEASE))
                .text("@owner_ids", codec::texts(&owners)?);
            self.database.execute(&call).await
        };
        if let Err(error) = released.await {
            tracing::debug!(%error, "sessions keep their leases");
        }
    }

    /// How an ack or an abandon of this token is repeated.
    pub(super) fn settlement(&self, token: &str) -> Retry {
        Retry::settlement(self.leases.left(token).unwrap_or(UNKNOWN_LEASE))
    }

    /// How a renewal of this token is repeated: for as long as the lease lasts, or may last because of an
    /// attempt that nobody answered. Giving up early would cancel an activity, and lose its result, over a
    /// failure that may be gone in a moment.
    pub(super) fn renewal(&self, token: &str, extend_for: Duration) -> Retry {
        let left = self.leases.left(token).unwrap_or(UNKNOWN_LEASE);
        Retry::renewal(left).extending_by(extend_for)
    }

    /// Runs the call that gives an item back to its queue.
    pub(super) async fn abandon(
        &self,
        queue: Queue,
        token: &str,
        call: Call<'_>,
    ) -> Result<(), CallError> {
        self.settle(token, call).await?;
        self.floors.returned(queue);
        Ok(())
    }

    /// Runs the call that settles a lease. A lease that is settled or lost is forgotten.
    ///
    /// The caller renews the lease meanwhile, and what may be left of it is looked at again whenever the time of the call is
    /// over. A full disk stops acks and not renewals, and whoever gave up then would have the caller throw
    /// away the result of an activity, or write down that an orchestration has failed. So would whoever gave up while the server may
    /// still grant the lease because of a renewal that it never got to answer: when it is back, it takes the failure.
    pub(super) async fn settle(
        &self,
        token: &str,
        mut call: Call<'_>,
    ) -> Result<ResultSets, CallError> {
        let begun = Instant::now();
        loop {
            let error = match self.database.execute(&call).await {
                Ok(answer) => {
                    self.leases.end(token);
                    return Ok(answer);
                }
                Err(error) => error,
            };
            self.note_loss(&call, token, &error);
            let left = self.leases.may_be_left(token);
            if !goes_on(&error, left, begun.elapsed()) {
                if let Some(number) = error.doubtful_number()
                    && call.procedure() == ACK_TURN
                    && !left.is_zero()
                {
                    // Boxed, because it is one more call, and hardly ever made.
                    Box::pin(self.let_go(token, says_schema_is_broken(number))).await;
                }
                return Err(error);
            }
            call = call.repeated(Retry::settlement(left));
        }
    }

    /// Lets a turn go that cannot be stored. Its caller would try to store that the orchestration has failed, in a smaller ack, which
    /// may be possible when the turn itself is not, and the workflow would be over for an error that an operator can correct. Without the lease it
    /// cannot. The turn is tried again, and the attempt counts, so that there is an end to it, unless the error says nothing of the turn.
    pub(super) async fn let_go(&self, token: &str, ignore_attempt: bool) {
        let instance_id = self.leases.instance_id(token);
        let instance_id = instance_id.as_deref();
        let call = Call::settle("abandon_orchestration_item", self.settlement(token))
            .text("@lock_token", token)
            .flag("@ignore_attempt", ignore_attempt)
            .millis("@delay_ms", UNSTORED);
        if let Err(error) = self.database.execute(&call).await {
            tracing::warn!(instance_id, %error, "a turn that cannot be stored keeps its lease");
            return;
        }
        tracing::warn!(
            instance_id,
            "a turn could not be stored, and is tried again later"
        );
        self.leases.end(token);
        self.floors.returned(Queue::Orchestrations);
        self.wakeups.turn_abandoned(token, Some(UNSTORED));
    }

    /// Forgets a lease, and tells of it, when the database no longer knows this provider as its holder.
    fn note_loss(&self, call: &Call<'_>, token: &str, error: &CallError) {
        if let Some(number) = error.number()
            && says_lease_lost(number)
        {
            let schema = self.database.options.schema.as_str();
            let instance_id = self.leases.instance_id(token);
            let instance_id = instance_id.as_deref();
            events::lease_lost(call.procedure(), schema, instance_id, token, number);
            self.leases.end(token);
        }
    }

    /// Runs the call that extends a lease.
    pub(super) async fn renew(
        &self,
        queue: Queue,
        token: &str,
        extend_for: Duration,
        call: &Call<'_>,
    ) -> Result<(), CallError> {
        // An attempt before the last may have been done all the same, so that only success tells what became of it, or the loss of the lease.
        let renewing = self.leases.renewing(token, extend_for);
        let answer = self.database.execute(call).await;
        let answer = answer.inspect_err(|error| self.note_loss(call, token, error))?;
        // Counted from the attempt that was answered: the server extended the lease then or later.
        self.leases
            .extend(token, queue, answer.asked_at(), extend_for);
        renewing.answered();
        Ok(())
    }

    /// Waits for fetches under way and gives back what is held. False when time ran out.
    pub(super) async fn close(&self) -> bool {
        let closing = async {
            self.tasks.close();
            // A fetch whose server is slow must not keep what is held from being given back.
            let is_overdue = tokio::time::timeout(CLOSING / 2, self.tasks.wait())
                .await
                .is_err();
            let held = self.leases.take_all();
            let held = held
                .iter()
                .map(|(queue, token)| self.give_back(*queue, token, self.settlement(token)));
            futures_util::future::join_all(held).await;
            self.release_sessions().await;
            if is_overdue {
                self.tasks.wait().await;
                // What was answered meanwhile may have leased another session.
                self.release_sessions().await;
            }
        };
        tokio::time::timeout(CLOSING, closing).await.is_ok()
    }
}

/// Whether a call that has failed for so long is made again under a lease of which this much may be left.
fn goes_on(error: &CallError, left: Duration, tried_for: Duration) -> bool {
    let is_expected = error.doubtful_number().is_none();
    error.is_retryable() && !left.is_zero() && (is_expected || tried_for < UNEXPECTED)
}

/// Logs messages that a fetch dropped because their instance was never started.
fn note_orphans(queue: Queue, header: &Record) -> Result<(), CallError> {
    if queue == Queue::Orchestrations
        && let messages @ 1.. = header.int("orphans_dropped")?
    {
        let instance = header.opt_text("orphan_id")?.unwrap_or_default();
        tracing::warn!(
            instance_id = instance,
            messages,
            "dropped queue messages for an instance that was never started"
        );
    }
    Ok(())
}

/// When the database expects the next work, on this process's clock.
fn next_ready(header: &Record) -> Result<Option<Instant>, CallError> {
    let millis = header.opt_int("next_ready_in_ms")?;
    Ok(millis.map(|millis| after(ready_in(millis))))
}

/// How long to wait for work that is ready in so many milliseconds. What became ready while the server looked
/// for it may be ready since a moment ago.
fn ready_in(millis: i64) -> Duration {
    let millis = u64::try_from(millis).unwrap_or(0);
    // A millisecond more, so that the query does not come too early by rounding.
    Duration::from_millis(millis.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_go_on_under_a_lease_that_is_renewed_unless_nobody_expected_the_error() {
        let hour = Duration::from_secs(3600);
        let full = CallError::server(1105, 17, "no space").of_settling();
        let denied = CallError::server(229, 14, "denied").of_settling();
        let lost = CallError::server(51_003, 16, "lost").of_settling();
        let silence = CallError::Timeout { after: hour };
        for error in [&full, &silence] {
            assert!(goes_on(error, hour, hour), "{error}");
            assert!(!goes_on(error, Duration::ZERO, Duration::ZERO), "{error}");
        }
        assert!(goes_on(&denied, hour, UNEXPECTED / 2));
        assert!(!goes_on(&denied, hour, UNEXPECTED));
        assert!(!goes_on(&lost, hour, Duration::ZERO));
    }

    #[test]
    fn work_that_became_ready_meanwhile_is_no_mistake() {
        assert_eq!(ready_in(250), Duration::from_millis(251));
        for millis in [0, -1, i64::MIN] {
            assert_eq!(ready_in(millis), Duration::from_millis(1), "{millis}");
        }
        assert!(ready_in(i64::MAX) > Duration::from_secs(1));
    }
}
