//! Deletion of instances and pruning of old executions.

use std::time::Duration;

use duroxide::providers::{DeleteInstanceResult, InstanceFilter, PruneOptions, PruneResult};

use crate::codec;
use crate::error::CallError;
use crate::procedure::{Call, Record};
use crate::provider::MssqlProvider;
use crate::retry::Retry;

/// Repeated only when the server said that nothing was deleted: a second deletion would report
/// other counts, or an instance that is not there.
const DELETE: Retry = Retry::when_undone().for_up_to(Duration::from_secs(10));

/// Going on with what is fenced may be repeated at will: it deletes nothing else.
const RESUME: Retry = Retry::repeatable(Duration::from_secs(30));

pub(super) async fn instances_atomic(
    provider: &MssqlProvider,
    ids: &[String],
    force: bool,
) -> Result<DeleteInstanceResult, CallError> {
    if ids.is_empty() {
        return Ok(DeleteInstanceResult::default());
    }
    let list = codec::texts(ids)?;
    let call = |retry| {
        Call::client("delete_instances_atomic", retry)
            .text("@instance_ids", list.clone())
            .flag("@force", force)
            .millis("@budget_ms", budget(provider))
    };
    to_the_end(provider, &call(DELETE), &call(RESUME)).await
}

pub(super) async fn instance(
    provider: &MssqlProvider,
    instance_id: &str,
    force: bool,
) -> Result<DeleteInstanceResult, CallError> {
    let call = |retry| {
        Call::client("delete_instance", retry)
            .text("@instance_id", instance_id)
            .flag("@force", force)
            .millis("@budget_ms", budget(provider))
    };
    to_the_end(provider, &call(DELETE), &call(RESUME)).await
}

pub(super) async fn instance_bulk(
    provider: &MssqlProvider,
    filter: &InstanceFilter,
) -> Result<DeleteInstanceResult, CallError> {
    if selects_nothing(filter) {
        return Ok(DeleteInstanceResult::default());
    }
    let call = Call::client("delete_instance_bulk", DELETE)
        .opt_text("@instance_ids", ids(filter)?)
        .opt_int(
            "@completed_before_ms",
            filter.completed_before.map(codec::time_ms),
        )
        .opt_int("@limit", filter.limit.map(i64::from))
        .millis("@budget_ms", budget(provider));
    let (mut total, mut has_more) = deleted(provider, &call).await?;
    // A tree that is too large for the time of one call: whoever hears of no instance takes the work for done.
    while has_more && total.instances_deleted == 0 {
        let (part, is_more_left) = deleted(provider, &call).await?;
        add(&mut total, &part);
        has_more = is_more_left;
    }
    Ok(total)
}

pub(super) async fn prune(
    provider: &MssqlProvider,
    instance_id: &str,
    options: &PruneOptions,
) -> Result<PruneResult, CallError> {
    let call = Call::client("prune_executions", DELETE)
        .text("@instance_id", instance_id)
        .opt_int("@keep_last", options.keep_last.map(i64::from))
        .opt_int(
            "@completed_before_ms",
            options.completed_before.map(codec::time_ms),
        )
        .millis("@budget_ms", budget(provider));
    let (mut total, mut has_more) = pruned(&answer(provider, &call).await?)?;
    while has_more {
        let (part, is_more_left) = pruned(&answer(provider, &call).await?)?;
        total.executions_deleted += part.executions_deleted;
        total.events_deleted += part.events_deleted;
        has_more = is_more_left;
    }
    Ok(total)
}

pub(super) async fn prune_bulk(
    provider: &MssqlProvider,
    filter: &InstanceFilter,
    options: &PruneOptions,
) -> Result<PruneResult, CallError> {
    if selects_nothing(filter) {
        return Ok(PruneResult::default());
    }
    let call = Call::client("prune_executions_bulk", DELETE)
        .opt_text("@instance_ids", ids(filter)?)
        .opt_int(
            "@filter_completed_before_ms",
            filter.completed_before.map(codec::time_ms),
        )
        .opt_int("@limit", filter.limit.map(i64::from))
        .opt_int("@keep_last", options.keep_last.map(i64::from))
        .opt_int(
            "@completed_before_ms",
            options.completed_before.map(codec::time_ms),
        )
        .millis("@budget_ms", budget(provider));
    let mut row = answer(provider, &call).await?;
    loop {
        let (total, has_more) = pruned(&row)?;
        if !has_more || total.instances_processed > 0 {
            return Ok(total);
        }
        // The time of one call sufficed for instances that have nothing to prune: on to the younger ones.
        let on = call.clone().int("@from_ms", row.int("next_ms")?);
        row = answer(provider, &on).await?;
    }
}

async fn answer(provider: &MssqlProvider, call: &Call<'_>) -> Result<Record, CallError> {
    provider.database.execute(call).await?.row()
}

/// How long a call that deletes one after the other goes on: it ends by itself, with the counts of what it
/// did, before the client gives it up.
fn budget(provider: &MssqlProvider) -> Duration {
    provider.database.options.command_timeout / 2
}

fn selects_nothing(filter: &InstanceFilter) -> bool {
    filter.limit == Some(0) || filter.instance_ids.as_ref().is_some_and(Vec::is_empty)
}

fn ids(filter: &InstanceFilter) -> Result<Option<String>, CallError> {
    filter.instance_ids.as_deref().map(codec::texts).transpose()
}

/// Deletes, and goes on until nothing is left: one call, unless there is too much for one.
async fn to_the_end(
    provider: &MssqlProvider,
    delete: &Call<'_>,
    resume: &Call<'_>,
) -> Result<DeleteInstanceResult, CallError> {
    let (mut total, mut has_more) = deleted(provider, delete).await?;
    let resume = resume.clone().flag("@resume", true);
    while has_more {
        let (part, is_more_left) = deleted(provider, &resume).await?;
        add(&mut total, &part);
        has_more = is_more_left;
    }
    Ok(total)
}

fn add(total: &mut DeleteInstanceResult, part: &DeleteInstanceResult) {
    total.instances_deleted += part.instances_deleted;
    total.executions_deleted += part.executions_deleted;
    total.events_deleted += part.events_deleted;
    total.queue_messages_deleted += part.queue_messages_deleted;
}

/// What a call has deleted, and whether more is left.
async fn deleted(
    provider: &MssqlProvider,
    call: &Call<'_>,
) -> Result<(DeleteInstanceResult, bool), CallError> {
    let answer = provider.database.execute(call).await;
    // Whatever came of it.
    provider.histories.forget_deleted();
    let row = answer?.row()?;
    let counts = DeleteInstanceResult {
        instances_deleted: row.count("instances_deleted")?,
        executions_deleted: row.count("executions_deleted")?,
        events_deleted: row.count("events_deleted")?,
        queue_messages_deleted: row.count("queue_messages_deleted")?,
    };
    Ok((counts, row.int("has_more")? != 0))
}

/// What a call has pruned, and whether more is left.
fn pruned(row: &Record) -> Result<(PruneResult, bool), CallError> {
    let counts = PruneResult {
        instances_processed: row.count("instances_processed")?,
        executions_deleted: row.count("executions_deleted")?,
        events_deleted: row.count("events_deleted")?,
    };
    Ok((counts, row.int("has_more")? != 0))
}
