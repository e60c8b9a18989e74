//! Histories: read and append.

use std::sync::Arc;

use duroxide::Event;

use super::{MssqlProvider, kv};
use crate::codec;
use crate::error::CallError;
use crate::history_cache::{Extent, History, Sent, Whole};
use crate::observe::metrics;
use crate::procedure::Call;
use crate::retry::Retry;

/// The history of the latest execution; empty for an instance that nobody knows.
///
/// A worker that has just fetched an activity gets it as it was at the fetch, or later.
pub(crate) async fn read(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<Vec<Event>, CallError> {
    let known = provider.histories.get(instance);
    let lane = match provider.histories.take_expected(instance) {
        None => Call::client,
        Some(extent) => {
            if let (Some(extent), Some(known)) = (extent, &known)
                && known.extent().covers(&extent)
            {
                metrics::history(true);
                return Ok(Arc::clone(known).into_events());
            }
            Call::dispatch
        }
    };
    let whole = ask(provider, instance, known, |known| {
        let execution_id = known.map(|known| known.execution_id.cast_signed());
        let call = lane("read", Retry::harmless())
            .text("@instance_id", instance)
            .opt_int("@known_execution_id", execution_id);
        claim(provider, call, known)
    });
    Ok(whole.await?.events())
}

/// The history of one execution.
pub(crate) async fn read_with_execution(
    provider: &MssqlProvider,
    instance: &str,
    execution_id: u64,
) -> Result<Vec<Event>, CallError> {
    read_execution(provider, Call::client, instance, execution_id).await
}

/// As [`read_with_execution`], for a turn that is waiting for it.
pub(super) async fn read_for_turn(
    provider: &MssqlProvider,
    instance: &str,
    execution_id: u64,
) -> Result<Vec<Event>, CallError> {
    read_execution(provider, Call::dispatch, instance, execution_id).await
}

async fn read_execution<'a>(
    provider: &MssqlProvider,
    lane: fn(&'static str, Retry) -> Call<'a>,
    instance: &'a str,
    execution_id: u64,
) -> Result<Vec<Event>, CallError> {
    let id = codec::bigint("execution id", execution_id)?;
    let known = provider.histories.get(instance);
    let known = known.filter(|known| known.extent().execution_id == execution_id);
    let whole = ask(provider, instance, known, |known| {
        let call = lane("read_with_execution", Retry::harmless())
            .text("@instance_id", instance)
            .int("@execution_id", id);
        claim(provider, call, known)
    });
    Ok(whole.await?.events())
}

/// Says what the caller has: nothing yet, or nothing ever, is said as well.
fn claim<'a>(provider: &MssqlProvider, call: Call<'a>, known: Option<&Extent>) -> Call<'a> {
    let known_event_id = known.map_or(0, |known| known.last_event_id.cast_signed());
    let remembers = provider.histories.remembers();
    call.opt_guid("@known_first_turn", known.map(|known| known.first_turn))
        .opt_int("@known_event_id", remembers.then_some(known_event_id))
        .opt_guid("@known_last_turn", known.map(|known| known.last_turn))
}

/// Asks for what is newer than `known`, and remembers the whole.
async fn ask<'a>(
    provider: &MssqlProvider,
    instance: &str,
    mut known: Option<Arc<History>>,
    call: impl Fn(Option<&Extent>) -> Call<'a>,
) -> Result<Whole, CallError> {
    loop {
        let claimed = known.as_ref().map(|known| known.extent());
        let mut sets = provider.database.execute(&call(claimed)).await?;
        let sent = Sent::take(&mut sets, provider.histories.remembers())?;
        // The custom status of an instance that has ended comes behind its history.
        if sets.rows() > 0 {
            let status = kv::status(&sets.row()?)?;
            provider.histories.remember_ended(instance, status);
        }
        if let Some(whole) = sent.complete(known.as_ref(), claimed)? {
            metrics::history(known.is_some());
            if let Whole::Proven(history) = &whole {
                let histories = &provider.histories;
                histories.found(instance, history.extent(), sets.asked_at());
                histories.remember(instance, history.clone());
            }
            return Ok(whole);
        }
        if known.take().is_none() {
            return Err(CallError::Data(
                "a part of a history came to a caller that has none of it".to_owned(),
            ));
        }
        // The history was replaced while it was read: once more, all of it.
    }
}

pub(super) async fn append(
    provider: &MssqlProvider,
    instance: &str,
    execution_id: u64,
    new_events: &[Event],
) -> Result<(), CallError> {
    let call = Call::dispatch("append_with_execution", Retry::when_undone())
        .text("@instance_id", instance)
        .int(
            "@execution_id",
            codec::bigint("execution id", execution_id)?,
        )
        .opt_text(
            "@history",
            codec::history(&codec::history_rows(new_events)?)?,
        );
    provider.histories.expect_no_read();
    provider.database.execute(&call).await?;
    Ok(())
}
