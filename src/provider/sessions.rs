//! Session leases: renewed for their owners, removed when nobody needs them.

use std::time::Duration;

use super::MssqlProvider;
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
    // When the leases began is not known here. The runtime renews them some time before they end.
    let call = Call::settle("renew_session_lock", Retry::renewal(extend_for / 4))
        .text("@owner_ids", codec::texts(owner_ids)?)
        .millis("@extend_ms", extend_for)
        .millis("@idle_timeout_ms", idle_timeout);
    let renewed = count(provider, &call, "renewed").await?;
    provider
        .wakeups
        .sessions_renewed(owner_ids, renewed, extend_for);
    Ok(renewed)
}

pub(super) async fn cleanup(
    provider: &MssqlProvider,
    idle_timeout: Duration,
) -> Result<usize, CallError> {
    let call = Call::dispatch("cleanup_orphaned_sessions", Retry::when_undone())
        .millis("@idle_timeout_ms", idle_timeout);
    count(provider, &call, "removed").await
}

async fn count(
    provider: &MssqlProvider,
    call: &Call<'_>,
    column: &'static str,
) -> Result<usize, CallError> {
    let count = provider
        .database
        .execute(call)
        .await?
        .row()?
        .count(column)?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}
