//! Work items: enqueue, fetch, ack, abandon and renew.

use std::time::Duration;

use duroxide::providers::{SessionFetchConfig, TagFilter, WorkItem};

use super::MssqlProvider;
use super::claims::{Claimed, Polled};
use super::keeping::kept;
use super::leases::Queue;
use super::polling;
use crate::codec;
use crate::error::CallError;
use crate::history_cache::{Sent, Whole};
use crate::procedure::{Call, Record, ResultSets};
use crate::retry::Retry;
use crate::server_errors::says_lease_lost;

/// The name of an activity that cannot be read.
const UNREADABLE: &str = "duroxide-sql: unreadable activity";

type Fetched = (WorkItem, String, u32);

pub(super) async fn enqueue(provider: &MssqlProvider, item: &WorkItem) -> Result<(), CallError> {
    let items = codec::worker_items(std::slice::from_ref(item))?;
    let call =
        Call::dispatch("enqueue_for_worker", Retry::when_undone()).opt_text("@worker_items", items);
    provider.database.execute(&call).await?;
    provider.wakeups.work(item);
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
    let query = Query::new(lock_timeout, session, tag_filter)?;
    let interest = provider.wakeups.worker(tag_filter, session);
    let line = &provider.wakeups.workers;
    let ask = || query.poll(provider);
    let repoll = provider.repoll(poll_timeout);
    polling::until_found(&provider.claims, line, interest, repoll, poll_timeout, ask).await
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
        if session.is_some_and(|session| session.owner_id.ends_with(' ')) {
            let reason = "session owner id ends in a space; SQL Server cannot tell such ids apart";
            return Err(CallError::Data(reason.to_owned()));
        }
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

    /// Names what the fetch can take, as far as it matters from where it looks.
    fn filter(&self) -> String {
        let tags = self.tags.as_deref().unwrap_or_default();
        let sessions = self.session.is_some();
        format!(
            "{} {} {sessions} {tags}",
            self.include_untagged, self.any_tag
        )
    }

    async fn poll(&self, provider: &MssqlProvider) -> Result<Polled<Fetched>, CallError> {
        let claims = &provider.claims;
        let (retry, lease) = claims.pace.fetch(Queue::Work, self.lock_timeout);
        let mut call = Call::dispatch("fetch_work_item", retry)
            .millis("@lock_timeout_ms", lease)
            .flag("@include_untagged", self.include_untagged)
            .flag("@any_tag", self.any_tag)
            .opt_text("@tags", self.tags.clone())
            .opt_guid("@process_id", provider.histories.process_id());
        if let Some(session) = self.session {
            let owners = &claims.session_owners;
            owners.named(&session.owner_id, session.lock_timeout);
            call = call
                .text("@session_owner", session.owner_id.clone())
                .millis("@session_timeout_ms", session.lock_timeout);
        }
        let claimed = match claims
            .fetch(Queue::Work, lease, self.filter(), call)
            .await?
        {
            Polled::Found(claimed) => claimed,
            Polled::Empty(next_ready) => return Ok(Polled::Empty(next_ready)),
        };
        let Claimed {
            header,
            mut rest,
            claim,
            ..
        } = claimed;
        let asked_at = rest.asked_at();
        let read = async {
            codec::decode_activity(header.text("payload")?)
                .or_else(|error| unreadable(&header, &error))
        };
        let wanted = self.lock_timeout;
        let renew = || renew(provider, claim.token(), wanted);
        let item = match kept(&claims.leases, claim.token(), wanted, read, renew).await {
            Ok(item) => item,
            Err(error) => return Err(claim.give_back(error).await),
        };
        if let WorkItem::ActivityExecute {
            instance,
            session_id,
            ..
        } = &item
        {
            expect_read(provider, instance, &mut rest)?;
            if let (Some(session), Some(_)) = (self.session, session_id) {
                provider.wakeups.session_owned(session, asked_at);
            }
        }
        let attempts = claim.attempts(&header, asked_at)?;
        Ok(Polled::Found((item, claim.take(), attempts)))
    }
}

/// Remembers what came along of the history, which the worker reads next.
fn expect_read(
    provider: &MssqlProvider,
    instance: &str,
    sets: &mut ResultSets,
) -> Result<(), CallError> {
    let histories = &provider.histories;
    if !histories.remembers() {
        histories.expect_read(instance, None);
        return Ok(());
    }
    let sent = Sent::take(sets, true)?;
    if let Some(extent) = sent.extent() {
        histories.found(instance, extent, sets.asked_at());
    }
    // An event that cannot be read is an error of the read that follows.
    if let Ok(Some(Whole::Proven(history))) = sent.complete(histories.get(instance).as_ref(), None)
    {
        histories.remember(instance, history);
    }
    histories.expect_read(instance, sent.extent().copied());
    Ok(())
}

/// Stands in for an activity that this build cannot read. Nobody registers an activity of that name, so
/// the runtime gives the item back, later each time: a newer build may be able to read it. When it
/// has been tried too often, the runtime fails the activity as poisoned, and the orchestration
/// hears of it.
fn unreadable(header: &Record, error: &CallError) -> Result<WorkItem, CallError> {
    let instance = header.text("instance_id")?.to_owned();
    let (execution_id, id) = (header.count("execution_id")?, header.count("activity_id")?);
    tracing::warn!(instance_id = %instance, execution_id, activity_id = id, %error, "an activity cannot be read");
    Ok(WorkItem::ActivityExecute {
        instance,
        execution_id,
        id,
        name: UNREADABLE.to_owned(),
        input: error.to_string(),
        session_id: None,
        tag: None,
    })
}

pub(super) async fn ack(
    provider: &MssqlProvider,
    token: &str,
    completion: Option<&WorkItem>,
) -> Result<(), CallError> {
    if completion.is_none() && provider.claims.leases.is_in_doubt(token) {
        // The runtime cancels an activity whenever its renewal fails, for whatever reason, and then acknowledges
        // it without a result: it takes the orchestration for ended. Whoever ends an orchestration deletes its
        // activities, and a renewal is then told that the lease is lost. This one was told nothing, so the
        // orchestration may still wait for the result, for ever if the item were deleted now. It goes back
        // to its queue instead, to be run again, and the failure was not its own. If it was deleted
        // meanwhile, the caller hears what an ack would have said.
        let instance_id = provider.claims.leases.instance_id(token);
        tracing::warn!(
            instance_id = instance_id.as_deref(),
            "an activity was given up over a failed renewal, and goes back to its queue"
        );
        return abandon(provider, token, None, true).await;
    }
    let mut call =
        Call::settle("ack_work_item", provider.claims.settlement(token)).text("@lock_token", token);
    let message = completion.map(completed).transpose()?;
    if let Some(message) = &message {
        call = call
            .text("@instance_id", message.instance.as_ref())
            .text("@kind", message.kind())
            .text("@payload", message.payload.as_str());
    }
    provider.claims.settle(token, call).await?;
    if let Some(message) = &message {
        provider.wakeups.orchestration_ready(&message.instance);
        provider.wakeups.go_first().await;
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
    let claims = &provider.claims;
    let extend_for = claims.pace.extension(Queue::Work, extend_for);
    let call = Call::settle("renew_work_item_lock", claims.renewal(token, extend_for))
        .text("@lock_token", token)
        .millis("@extend_ms", extend_for);
    let renewed = claims.renew(Queue::Work, token, extend_for, &call).await;
    renewed.inspect_err(|error| {
        if !error.number().is_some_and(says_lease_lost) {
            claims.leases.doubt(token);
        }
    })
}

pub(super) async fn abandon(
    provider: &MssqlProvider,
    token: &str,
    delay: Option<Duration>,
    ignore_attempt: bool,
) -> Result<(), CallError> {
    let mut call = Call::settle("abandon_work_item", provider.claims.settlement(token))
        .text("@lock_token", token)
        .flag("@ignore_attempt", ignore_attempt);
    if let Some(delay) = delay {
        call = call.millis("@delay_ms", delay);
    }
    provider.claims.abandon(Queue::Work, token, call).await?;
    provider.wakeups.work_returned(delay);
    Ok(())
}
