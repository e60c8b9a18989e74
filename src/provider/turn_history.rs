//! What a committed turn adds to the history that this provider remembers.

use super::MssqlProvider;
use crate::codec::{self, HistoryRow};
use crate::error::CallError;
use crate::history_cache::{Extent, History};
use crate::procedure::ResultSets;

/// Remembers the events that the turn wrote, as the database would return them. `answer` says how far
/// the history went before; a provider that remembers nothing is not told.
///
/// The turn is committed: an answer that cannot be read costs the next turn some bytes, and nobody must hear that
/// it failed.
pub(super) fn remember(
    provider: &MssqlProvider,
    lock_token: &str,
    execution_id: u64,
    rows: &[HistoryRow],
    answer: &mut ResultSets,
) {
    if let Err(error) = try_remember(provider, lock_token, execution_id, rows, answer) {
        tracing::warn!(%error, "what a turn wrote is not remembered");
    }
}

fn try_remember(
    provider: &MssqlProvider,
    lock_token: &str,
    execution_id: u64,
    rows: &[HistoryRow],
    answer: &mut ResultSets,
) -> Result<(), CallError> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Ok(());
    };
    let Some((_, instance)) = lock_token.split_once(':') else {
        return Ok(());
    };
    if !provider.histories.remembers() {
        return Ok(());
    }
    let answer = answer.row()?;
    let first_turn = answer.guid("first_turn")?;
    let before = match answer.opt_count("after_event_id")? {
        None => None,
        Some(last_event_id) => Some(Extent {
            execution_id,
            first_turn,
            last_event_id,
            last_turn: answer.guid("after_turn")?,
        }),
    };
    let is_ascending = rows.is_sorted_by(|a, b| a.event_id < b.event_id);
    if !is_ascending || before.is_some_and(|before| first.event_id <= before.last_event_id) {
        // Not at the end: the database has given the history another name.
        return Ok(());
    }
    let extent = Extent {
        execution_id,
        first_turn,
        last_event_id: last.event_id,
        last_turn: answer.guid("appended_by")?,
    };
    let events = rows.iter().map(|row| codec::decode_event(&row.payload));
    // What cannot be read back is reported when somebody reads it.
    if let Ok(events) = events.collect() {
        let bytes = rows.iter().map(|row| row.payload.len()).sum();
        let written = History::new(extent, events, bytes);
        provider
            .histories
            .appended(instance, before.as_ref(), written);
    }
    Ok(())
}
