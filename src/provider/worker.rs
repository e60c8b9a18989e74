//! Work items: enqueue, fetch, ack, abandon and renew.

use std::time::Duration;

use duroxide::providers::{SessionFetchConfig, TagFilter, WorkItem};
use tokio::time::Instant;

use super::MssqlProvider;
use super::orchestration::{Polled, SHORT_BUDGET, new_token, next_ready, renewal};
use crate::codec;
use crate::error::CallError;
use crate::procedure::Call;
use crate::retry::Retry;
use crate::wakeup::{Woken, WorkerInterest};

/// How long an ack is repeated. The runtime does not repeat it, and runs the activity again
/// when it fails, so it is worth being stubborn; a lost lease ends the repetition by itself.
const ACK_BUDGET: Duration = Duration::from_secs(15);

type Fetched = (WorkItem, String, u32);

pub(super) async fn enqueue(provider: &MssqlProvider, item: &WorkItem) -> Result<(), CallError> {
    let items = codec::worker_items(std::slice::from_ref(item))?;
    let call = Call::dispatch("enqueue_for_worker", Retry::when_undone(SHORT_BUDGET))
        .opt_text("@worker_items", items);
    provider.database.execute(&call).await?;
    provider.wakeups.work(item, Duration::ZERO);
    Ok(())
}

pub(super) async fn fetch(
    provider: &MssqlProvider,
    lock_timeout: Duration,
    poll_timeout: Duration,
    session: Option<&SessionFetchConfig>,
    tag_filter: &TagFilter,
) -> Result<Option<Fetched>, CallError> {
    if *tag_filter == TagFilter::None {
        return Ok(None);
    }
    let deadline = Instant::now() + poll_timeout.min(Duration::from_secs(24 * 60 * 60));
    let query = Query::new(lock_timeout, session, tag_filter)?;
    let repoll = provider.repoll().filter(|_| !poll_timeout.is_zero());
    let Some(repoll) = repoll else {
        return Ok(match query.poll(provider).await? {
            Polled::Found(found) => Some(found),
            Polled::Empty(_) => None,
        });
    };
    let interest = WorkerInterest {
        tags: tag_filter.clone(),
        session_owner: session.map(|session| session.owner_id.clone()),
    };
    let mut place = provider.wakeups.workers.join(interest, repoll);
    loop {
        match query.poll(provider).await? {
            Polled::Found(found) => {
                place.found();
                return Ok(Some(found));
            }
            Polled::Empty(next_ready) => {
                if place.wait(deadline, next_ready).await == Woken::TimedOut {
                    return Ok(None);
                }
            }
        }
    }
}

/// The question a fetch asks, possibly several times.
struct Query<'a> {
    lock_timeout: Duration,
    session: Option<&'a SessionFetchConfig>,
    tags: Option<String>,
    include_untagged: bool,
    any_tag: bool,
}

impl<'a> Query<'a> {
    fn new(
        lock_timeout: Duration,
        session: Option<&'a SessionFetchConfig>,
        filter: &TagFilter,
    ) -> Result<Self, CallError> {
        let tags = match filter {
            TagFilter::Tags(tags) | TagFilter::DefaultAnd(tags) => {
                let mut tags: Vec<_> = tags.iter().collect();
                tags.sort_unstable();
                Some(codec::texts(&tags)?)
            }
            _ => None,
        };
        Ok(Self {
            lock_timeout,
            session,
            tags,
            include_untagged: matches!(filter, TagFilter::DefaultOnly | TagFilter::DefaultAnd(_)),
            any_tag: *filter == TagFilter::Any,
        })
    }

    async fn poll(&self, provider: &MssqlProvider) -> Result<Polled<Fetched>, CallError> {
        let mut call = Call::dispatch("fetch_work_item", Retry::when_undone(SHORT_BUDGET))
            .text("@lock_token", new_token())
            .millis("@lock_timeout_ms", self.lock_timeout)
            .flag("@include_untagged", self.include_untagged)
            .flag("@any_tag", self.any_tag)
            .opt_text("@tags", self.tags.as_deref());
        if let Some(session) = self.session {
            call = call
                .text("@session_owner", session.owner_id.as_str())
                .millis("@session_timeout_ms", session.lock_timeout);
        }
        let mut sets = provider.database.execute(&call).await?;
        let header = sets.row()?;
        if header.int("found")? == 0 {
            return Ok(Polled::Empty(next_ready(&header)?));
        }
        // An item that this build cannot read keeps its lease: given back, it would be the next
        // to be fetched again, before all others. A newer build may read it when the lease ends.
        let item = codec::decode_work_item(header.text("payload")?)?;
        if let WorkItem::ActivityExecute { instance, .. } = &item {
            provider.expected_reads.expect(instance);
        }
        let attempts = u32::try_from(header.int("attempt_count")?).unwrap_or(u32::MAX);
        Ok(Polled::Found((
            item,
            header.text("lock_token")?.to_owned(),
            attempts,
        )))
    }
}

pub(super) async fn ack(
    provider: &MssqlProvider,
    token: &str,
    completion: Option<&WorkItem>,
) -> Result<(), CallError> {
    let mut call =
        Call::settle("ack_work_item", Retry::repeatable(ACK_BUDGET)).text("@lock_token", token);
    let message = completion.map(completed).transpose()?;
    if let Some(message) = &message {
        call = call
            .text("@instance_id", message.instance)
            .text("@kind", message.kind().to_owned())
            .text("@payload", message.payload.as_str());
    }
    provider.database.execute(&call).await?;
    if let Some(message) = &message {
        provider.wakeups.orchestration_ready(message.instance);
    }
    Ok(())
}

/// Only the two outcomes of an activity may complete a work item.
fn completed(item: &WorkItem) -> Result<codec::Message<'_>, CallError> {
    match item {
        WorkItem::ActivityCompleted { .. } | WorkItem::ActivityFailed { .. } => {
            codec::message(item)
        }
        _ => Err(CallError::Data(
            "a work item is completed by ActivityCompleted or ActivityFailed only".to_owned(),
        )),
    }
}

pub(super) async fn renew(
    provider: &MssqlProvider,
    token: &str,
    extend_for: Duration,
) -> Result<(), CallError> {
    let call = Call::settle("renew_work_item_lock", renewal(extend_for))
        .text("@lock_token", token)
        .millis("@extend_ms", extend_for);
    provider.database.execute(&call).await?;
    Ok(())
}

pub(super) async fn abandon(
    provider: &MssqlProvider,
    token: &str,
    delay: Option<Duration>,
    ignore_attempt: bool,
) -> Result<(), CallError> {
    let mut call = Call::settle("abandon_work_item", Retry::repeatable(SHORT_BUDGET))
        .text("@lock_token", token)
        .flag("@ignore_attempt", ignore_attempt);
    if let Some(delay) = delay {
        call = call.millis("@delay_ms", delay);
    }
    provider.database.execute(&call).await?;
    Ok(())
}
