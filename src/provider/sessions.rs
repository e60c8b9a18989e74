//! Session leases: renewed for their owners, removed when nobody needs them.

use std::time::Duration;

use tokio::time::Instant;

use super::MssqlProvider;
use super::claims::UNKNOWN_LEASE;
use crate::codec;
use crate::error::CallError;
use crate::procedure::Call;
use crate::retry::Retry;

pub(super) async fn renew(
    provider: &MssqlProvider,
    owner_ids: &[&str],
    extend_for: Duration,
    idle_timeout: Duration,
) -> Result<usize, CallError> {
    if owner_ids.is_empty() {
        return Ok(0);
    }
    for owner_id in owner_ids {
        provider.claims.session_owners.named(owner_id, extend_for);
    }
    // The runtime renews them some time before they end, and that is all the time there is, however long they are extended for.
    let wakeups = &provider.wakeups;
    let left = wakeups.sessions_left(owner_ids).unwrap_or(UNKNOWN_LEASE);
    let call = Call::settle("renew_session_lock", Retry::renewal(left.min(extend_for)))
        .text("@owner_ids", codec::texts(owner_ids)?)
        .millis("@extend_ms", extend_for)
        .millis("@idle_timeout_ms", idle_timeout);
    let (renewed, asked_at) = count(provider, &call, "renewed").await?;
    wakeups.sessions_renewed(owner_ids, renewed, asked_at, extend_for);
    Ok(renewed)
}

pub(super) async fn cleanup(
    provider: &MssqlProvider,
    idle_timeout: Duration,
) -> Result<usize, CallError> {
    let call = Call::dispatch("cleanup_orphaned_sessions", Retry::when_undone())
        .millis("@idle_timeout_ms", idle_timeout);
    Ok(count(provider, &call, "removed").await?.0)
}

/// What the procedure counted, and when it was asked to.
async fn count(
    provider: &MssqlProvider,
    call: &Call<'_>,
    column: &'static str,
) -> Result<(usize, Instant), CallError> {
    let mut answer = provider.database.execute(call).await?;
    let count = answer.row()?.count(column)?;
    Ok((
        usize::try_from(count).unwrap_or(usize::MAX),
        answer.asked_at(),
    ))
}
