//! Turns of orchestrations: fetch, ack, abandon, renew, and the messages that start them.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, KvEntry, OrchestrationItem,
    ScheduledActivityIdentifier, WorkItem,
};
use duroxide::{ErrorDetails, Event, EventKind};

use super::claims::{ACK_TURN, Claimed, Polled};
use super::keeping::kept;
use super::leases::Queue;
use super::{MssqlProvider, history, polling, turn_history};
use crate::codec;
use crate::error::CallError;
use crate::history_cache::{Sent, Whole};
use crate::observe::metrics;
use crate::procedure::{Call, Record, ResultSets};
use crate::retry::Retry;
use crate::server_errors::says_lease_lost;
use crate::wakeup::OrchestrationInterest;

/// The name and version of an orchestration that nothing is known about.
const UNKNOWN: &str = "unknown";

type Fetched = (OrchestrationItem, String, u32);

/// Everything that one turn of an orchestration changes.
pub(super) struct Turn<'a> {
    pub(super) execution_id: u64,
    pub(super) history_delta: &'a [Event],
    pub(super) worker_items: &'a [WorkItem],
    pub(super) orchestrator_items: &'a [WorkItem],
    pub(super) metadata: &'a ExecutionMetadata,
    pub(super) cancelled_activities: &'a [ScheduledActivityIdentifier],
}

pub(super) async fn fetch(
    provider: &MssqlProvider,
    lock_timeout: Duration,
    poll_timeout: Duration,
    filter: Option<&DispatcherCapabilityFilter>,
) -> Result<Option<Fetched>, CallError> {
    let versions = match filter {
        None => None,
        // A dispatcher that supports no version can take nothing. Only the first range counts.
        Some(filter) => match filter.supported_duroxide_versions.first() {
            None => return Ok(None),
            Some(range) => Some((
                codec::packed_version(range.min.major, range.min.minor, range.min.patch),
                codec::packed_version(range.max.major, range.max.minor, range.max.patch),
            )),
        },
    };
    let line = &provider.wakeups.orchestrations;
    let interest = OrchestrationInterest { versions };
    let ask = || poll(provider, lock_timeout, versions);
    let repoll = provider.repoll(poll_timeout);
    polling::until_found(&provider.claims, line, interest, repoll, poll_timeout, ask).await
}

async fn poll(
    provider: &MssqlProvider,
    lock_timeout: Duration,
    versions: Option<(i64, i64)>,
) -> Result<Polled<Fetched>, CallError> {
    let claims = &provider.claims;
    let (retry, lease) = claims.pace.fetch(Queue::Orchestrations, lock_timeout);
    let call = Call::dispatch("fetch_orchestration_item", retry)
        .millis("@lock_timeout_ms", lease)
        .opt_int("@min_version", versions.map(|(min, _)| min))
        .opt_int("@max_version", versions.map(|(_, max)| max))
        .opt_guid("@process_id", provider.histories.process_id());
    let claimed = match claims
        .fetch(Queue::Orchestrations, lease, format!("{versions:?}"), call)
        .await?
    {
        Polled::Found(claimed) => claimed,
        Polled::Empty(next_ready) => return Ok(Polled::Empty(next_ready)),
    };
    let Claimed {
        header,
        mut rest,
        claim,
        lease,
    } = claimed;
    let asked_at = rest.asked_at();
    let instance = header.text("instance_id")?.to_owned();
    let wakeups = &provider.wakeups;
    wakeups.turn_began(claim.token(), &instance, asked_at, lease);
    let read = decode_item(provider, instance, &header, &mut rest);
    let renew = || renew(provider, claim.token(), lock_timeout);
    let item = match kept(&claims.leases, claim.token(), lock_timeout, read, renew).await {
        Ok(item) => item,
        Err(error) => return Err(claim.give_back(error).await),
    };
    let attempts = claim.attempts(&header, asked_at)?;
    Ok(Polled::Found((item, claim.take(), attempts)))
}

/// The lease is held by now, so whatever cannot be read is reported inside the item: the
/// runtime's poison handling can then end an instance that nobody can read.
async fn decode_item(
    provider: &MssqlProvider,
    instance: String,
    header: &Record,
    sets: &mut ResultSets,
) -> Result<OrchestrationItem, CallError> {
    let execution_id = header.opt_count("execution_id")?.unwrap_or(1);
    let mut first_error = None;
    let mut note = |error: CallError| {
        first_error.get_or_insert_with(|| error.to_string());
    };
    let mut messages = Vec::new();
    for row in sets.next_set()? {
        match row.text("payload").and_then(codec::decode_work_item) {
            Ok(message) => messages.push(message),
            Err(error) => note(error),
        }
    }
    let sent = Sent::take(sets, provider.histories.remembers())?;
    if let Some(extent) = sent.extent() {
        provider.histories.found(&instance, extent, sets.asked_at());
    }
    let mut history = match whole_history(provider, &instance, execution_id, &sent).await {
        Ok(history) => history,
        Err(error @ CallError::Data(_)) => {
            note(error);
            sent.readable_events()
        }
        Err(error) => return Err(error),
    };
    let mut kv_snapshot = HashMap::new();
    for row in sets.next_set()? {
        match decode_kv(&row) {
            Ok((key, entry)) => drop(kv_snapshot.insert(key, entry)),
            Err(error) => note(error),
        }
    }
    let (orchestration_name, version) = name_and_version(header, &history, &messages)?;
    if let Some(error) = &first_error {
        tracing::warn!(instance_id = %instance, %error, "stored history or messages cannot be read");
        history.clear();
    }
    Ok(OrchestrationItem {
        instance,
        orchestration_name,
        execution_id,
        version,
        history,
        messages,
        history_error: first_error,
        kv_snapshot,
    })
}

/// What the fetch sent and what is remembered; when that is not all of it, one more call.
async fn whole_history(
    provider: &MssqlProvider,
    instance: &str,
    execution_id: u64,
    sent: &Sent,
) -> Result<Vec<Event>, CallError> {
    let known = provider.histories.get(instance);
    match sent.complete(known.as_ref(), None)? {
        Some(whole) => {
            metrics::history(known.is_some());
            if let Whole::Proven(history) = &whole {
                provider.histories.remember(instance, history.clone());
            }
            Ok(whole.events())
        }
        // Boxed, because it is a whole call, and hardly ever made.
        None => Box::pin(history::read_for_turn(provider, instance, execution_id)).await,
    }
}

fn decode_kv(row: &Record) -> Result<(String, KvEntry), CallError> {
    let entry = KvEntry {
        value: row.text("kv_value")?.to_owned(),
        last_updated_at_ms: row.count("updated_at_ms")?,
    };
    Ok((row.text("kv_key")?.to_owned(), entry))
}

/// From the instance if it is known, else from its history, else from the message that starts it.
fn name_and_version(
    header: &Record,
    history: &[Event],
    messages: &[WorkItem],
) -> Result<(String, String), CallError> {
    let or_unknown = |text: Option<&str>| text.unwrap_or(UNKNOWN).to_owned();
    if header.int("has_instance")? != 0 {
        let name = or_unknown(header.opt_text("orchestration_name")?);
        return Ok((name, or_unknown(header.opt_text("orchestration_version")?)));
    }
    let started = history.iter().find_map(|event| match &event.kind {
        EventKind::OrchestrationStarted { name, version, .. } => {
            Some((name.clone(), version.clone()))
        }
        _ => None,
    });
    let starting = || {
        messages.iter().find_map(|message| match message {
            WorkItem::StartOrchestration {
                orchestration,
                version,
                ..
            }
            | WorkItem::ContinueAsNew {
                orchestration,
                version,
                ..
            } => Some((orchestration.clone(), or_unknown(version.as_deref()))),
            _ => None,
        })
    };
    Ok(started
        .or_else(starting)
        .unwrap_or_else(|| (UNKNOWN.to_owned(), UNKNOWN.to_owned())))
}

/// Whether a turn says nothing but that one could not be stored just now. When its acks have failed for as long as the lease lasts by this process's
/// clock, the runtime ends the orchestration in an ack of this kind. The server may grant the lease by then: its clock may have been set back while it was away.
fn gives_up_storing(turn: &Turn<'_>) -> bool {
    let [event] = turn.history_delta else {
        return false;
    };
    match &event.kind {
        EventKind::OrchestrationFailed {
            details:
                ErrorDetails::Infrastructure {
                    operation,
                    retryable: true,
                    ..
                },
        } => operation == ACK_TURN,
        _ => false,
    }
}

pub(super) async fn ack(
    provider: &MssqlProvider,
    lock_token: &str,
    turn: &Turn<'_>,
) -> Result<(), CallError> {
    if gives_up_storing(turn) {
        provider.claims.let_go(lock_token, true).await;
        return Err(CallError::Data(
            "a database that could not be reached ends no orchestration; the turn goes back to its queue".to_owned(),
        ));
    }
    let metadata = turn.metadata;
    let kv = codec::kv_changes(turn.history_delta)?;
    let custom_status = codec::custom_status(turn.history_delta);
    let history = codec::history_rows(turn.history_delta)?;
    let pinned = metadata.pinned_duroxide_version.as_ref();
    let pinned = pinned.map(|v| codec::packed_version(v.major, v.minor, v.patch));
    let mut call = Call::settle(ACK_TURN, provider.claims.settlement(lock_token))
        .text("@lock_token", lock_token)
        .int(
            "@execution_id",
            codec::bigint("execution id", turn.execution_id)?,
        )
        .opt_text("@history", codec::history(&history)?)
        .opt_text("@worker_items", codec::worker_items(turn.worker_items)?)
        .opt_text(
            "@orchestrator_items",
            codec::orchestrator_items(turn.orchestrator_items)?,
        )
        .opt_text(
            "@cancelled_activities",
            codec::cancelled_activities(turn.cancelled_activities)?,
        )
        .opt_text("@kv_changes", kv.changes)
        .opt_text("@custom_status", custom_status.flatten())
        .opt_text("@status", metadata.status.as_deref())
        .opt_text("@output", metadata.output.as_deref())
        .opt_text(
            "@orchestration_name",
            metadata.orchestration_name.as_deref(),
        )
        .opt_text(
            "@orchestration_version",
            metadata.orchestration_version.as_deref(),
        )
        .opt_text(
            "@parent_instance_id",
            metadata.parent_instance_id.as_deref(),
        )
        .opt_int("@pinned_version", pinned)
        .opt_guid("@process_id", provider.histories.process_id());
    if kv.clear_all {
        call = call.flag("@kv_clear_all", true);
    }
    if custom_status.is_some() {
        call = call.flag("@set_custom_status", true);
    }
    provider.histories.expect_no_read();
    let acked = provider.claims.settle(lock_token, call).await;
    let mut answer = end_if_lost(provider, lock_token, acked)?;
    turn_history::remember(
        provider,
        lock_token,
        turn.execution_id,
        &history,
        &mut answer,
    );
    announce(provider, lock_token, turn);
    // The caller has a history to drop and a round of its own to finish.
    provider.wakeups.go_first().await;
    Ok(())
}

/// A turn whose lease is lost is over: messages for its instance wake somebody again. What it had may be ready, or be done by an ack
/// that nobody heard of, so one fetch is sent to look.
fn end_if_lost<T>(
    provider: &MssqlProvider,
    lock_token: &str,
    result: Result<T, CallError>,
) -> Result<T, CallError> {
    result.inspect_err(|error| {
        if error.number().is_some_and(says_lease_lost) {
            provider.wakeups.turn_abandoned(lock_token, None);
        }
    })
}

/// Wakes the fetches of this process that can take what the turn left behind.
fn announce(provider: &MssqlProvider, lock_token: &str, turn: &Turn<'_>) {
    let wakeups = &provider.wakeups;
    let mut ready = HashSet::new();
    for item in turn.orchestrator_items {
        if let Some(instance) = codec::routing_key(item)
            // One turn takes all messages of an instance; timers become ready one by one.
            && (matches!(item, WorkItem::TimerFired { .. }) || ready.insert(instance.clone()))
        {
            wakeups.message(item, &instance);
        }
    }
    wakeups.turn_ended(lock_token);
    for item in turn.worker_items {
        wakeups.work(item, Duration::ZERO);
    }
}

pub(super) async fn abandon(
    provider: &MssqlProvider,
    lock_token: &str,
    delay: Option<Duration>,
    ignore_attempt: bool,
) -> Result<(), CallError> {
    let mut call = Call::settle(
        "abandon_orchestration_item",
        provider.claims.settlement(lock_token),
    )
    .text("@lock_token", lock_token)
    .flag("@ignore_attempt", ignore_attempt);
    if let Some(delay) = delay {
        call = call.millis("@delay_ms", delay);
    }
    let claims = &provider.claims;
    let abandoned = claims
        .abandon(Queue::Orchestrations, lock_token, call)
        .await;
    end_if_lost(provider, lock_token, abandoned)?;
    provider.wakeups.turn_abandoned(lock_token, delay);
    Ok(())
}

pub(super) async fn renew(
    provider: &MssqlProvider,
    token: &str,
    extend_for: Duration,
) -> Result<(), CallError> {
    let claims = &provider.claims;
    let extend_for = claims.pace.extension(Queue::Orchestrations, extend_for);
    let renewal = claims.renewal(token, extend_for);
    let call = Call::settle("renew_orchestration_item_lock", renewal)
        .text("@lock_token", token)
        .millis("@extend_ms", extend_for);
    let renewed = claims
        .renew(Queue::Orchestrations, token, extend_for, &call)
        .await;
    end_if_lost(provider, token, renewed)?;
    provider.wakeups.turn_renewed(token, extend_for);
    Ok(())
}

/// Whether a second copy of the message changes nothing. The runtime ignores a client's start of an
/// instance that is there, and the cancellation of one that is cancelled. Each event, however, is another
/// event, and a second start by a parent may be taken for another parent's.
fn may_come_twice(item: &WorkItem) -> bool {
    matches!(
        item,
        WorkItem::StartOrchestration {
            parent_instance: None,
            ..
        } | WorkItem::CancelInstance { .. }
    )
}

pub(super) async fn enqueue(
    provider: &MssqlProvider,
    item: &WorkItem,
    delay: Option<Duration>,
) -> Result<(), CallError> {
    let message = codec::message(item)?;
    let retry = if may_come_twice(item) {
        Retry::harmless()
    } else {
        Retry::when_undone()
    };
    let mut call = Call::dispatch("enqueue_for_orchestrator", retry)
        .text("@instance_id", message.instance.as_ref())
        .text("@kind", message.kind())
        .text("@payload", message.payload.as_str());
    // Without a delay it is visible at once, a timer as well, whatever time it carries. Only an ack
    // leaves timers to their own time.
    if let Some(delay) = delay {
        call = call.millis("@delay_ms", delay);
    }
    provider.database.execute(&call).await?;
    match delay {
        Some(delay) if !delay.is_zero() => provider.wakeups.orchestration_later(delay),
        _ => provider.wakeups.orchestration_ready(&message.instance),
    }
    Ok(())
}
