//! What clients read about an instance: key-values, custom status, statistics.

use std::collections::HashMap;

use duroxide::SystemStats;

use super::MssqlProvider;
use crate::error::CallError;
use crate::history_cache::Status;
use crate::procedure::{Call, Record};
use crate::retry::Retry;

fn read_call<'a>(procedure: &'static str, instance: &'a str) -> Call<'a> {
    Call::client(procedure, Retry::harmless()).text("@instance_id", instance)
}

/// The custom status if it is newer. A client that has just read the end of the instance has it already.
pub(super) async fn custom_status(
    provider: &MssqlProvider,
    instance: &str,
    last_seen_version: u64,
) -> Result<Option<Status>, CallError> {
    if let Some((status, version)) = provider.histories.take_ended(instance) {
        return Ok((version > last_seen_version).then_some((status, version)));
    }
    // No stored version can be newer than one beyond the range.
    let last_seen = i64::try_from(last_seen_version).unwrap_or(i64::MAX);
    let call = read_call("get_custom_status", instance).int("@last_seen_version", last_seen);
    let Some(row) = provider.database.execute(&call).await?.row_if_any()? else {
        return Ok(None);
    };
    status(&row).map(Some)
}

/// A custom status and its version, as two procedures send them.
pub(super) fn status(row: &Record) -> Result<Status, CallError> {
    let status = row.opt_text("custom_status")?.map(ToOwned::to_owned);
    Ok((status, row.count("custom_status_version")?))
}

pub(super) async fn value(
    provider: &MssqlProvider,
    instance: &str,
    key: &str,
) -> Result<Option<String>, CallError> {
    let call = read_call("get_kv_value", instance).text("@kv_key", key);
    let row = provider.database.execute(&call).await?.row_if_any()?;
    row.map(|row| Ok(row.text("kv_value")?.to_owned()))
        .transpose()
}

pub(super) async fn all_values(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<HashMap<String, String>, CallError> {
    let call = read_call("get_kv_all_values", instance);
    let rows = provider.database.execute(&call).await?.next_set()?;
    rows.iter()
        .map(|row| {
            Ok((
                row.text("kv_key")?.to_owned(),
                row.text("kv_value")?.to_owned(),
            ))
        })
        .collect()
}

pub(super) async fn stats(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<Option<SystemStats>, CallError> {
    let call = read_call("get_instance_stats", instance);
    let Some(row) = provider.database.execute(&call).await?.row_if_any()? else {
        return Ok(None);
    };
    Ok(Some(SystemStats {
        history_event_count: row.count("history_event_count")?,
        history_size_bytes: row.count("history_size_bytes")?,
        queue_pending_count: row.count("queue_pending_count")?,
        kv_user_key_count: row.count("kv_user_key_count")?,
        kv_total_value_bytes: row.count("kv_total_value_bytes")?,
    }))
}
