//! Histories: read and append.

use duroxide::Event;

use super::MssqlProvider;
use crate::codec;
use crate::error::CallError;
use crate::procedure::Call;
use crate::retry::Retry;

/// The history of the latest execution; empty for an instance that nobody knows.
pub(crate) async fn read(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<Vec<Event>, CallError> {
    let retry = Retry::read();
    let call = match provider.expected_reads.take(instance) {
        true => Call::dispatch("read", retry),
        false => Call::client("read", retry),
    };
    events(provider, &call.text("@instance_id", instance)).await
}

/// The history of one execution.
pub(crate) async fn read_with_execution(
    provider: &MssqlProvider,
    instance: &str,
    execution_id: u64,
) -> Result<Vec<Event>, CallError> {
    let call = Call::client("read_with_execution", Retry::read())
        .text("@instance_id", instance)
        .int(
            "@execution_id",
            codec::bigint("execution id", execution_id)?,
        );
    events(provider, &call).await
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
        .opt_text("@history", codec::history(new_events)?);
    provider.database.execute(&call).await?;
    Ok(())
}

/// An event that cannot be read is an error: leaving it out would change the story.
async fn events(provider: &MssqlProvider, call: &Call<'_>) -> Result<Vec<Event>, CallError> {
    let rows = provider.database.execute(call).await?.next_set()?;
    rows.iter()
        .map(|row| codec::decode_event(row.text("payload")?))
        .collect()
}
