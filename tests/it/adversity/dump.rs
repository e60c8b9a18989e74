//! Answers and tables as text in which numbers that differ from run to run do not occur.

use tiberius::{ColumnData, Row};

use super::stepper::Answer;
use crate::support::session::Session;

/// Columns that say when, or are numbered anew in each run.
const PASSING: [&str; 9] = [
    "floor_ms",
    "lease_ms",
    "looked_ms",
    "whole_ms",
    "lanes",
    "lock_token",
    "next_ready_in_ms",
    "queue_id",
    "updated_at_ms",
];

/// Each table, one line per row. A time is idle, ready or later; a token is its last two characters. COLLATE because
/// ids and payloads have collations of their own.
const TABLES: [&str; 8] = [
    "SELECT CONCAT(N'lock ', l.instance_id, N' lane ', l.lane, N' ', COALESCE(SUBSTRING(LOWER(CONVERT(NVARCHAR(36), l.lock_token)), 35, 2), N'free'), N' ', CASE WHEN l.not_before_ms = 9223372036854775807 THEN N'idle' WHEN l.not_before_ms <= @now THEN N'ready' ELSE N'later' END) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].instance_locks AS l",
    "SELECT CONCAT(N'message ', q.instance_id, N' ', q.kind, N' ', q.payload, N' ', q.attempt_count, N' ', COALESCE(SUBSTRING(LOWER(CONVERT(NVARCHAR(36), q.lock_token)), 35, 2), N'free'), N' ', CASE WHEN q.visible_at_ms <= @now THEN N'ready' ELSE N'later' END) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].orchestrator_queue AS q",
    "SELECT CONCAT(N'instance ', i.instance_id, N' of ', i.parent_instance_id, N' ', i.current_execution_id, N' ', i.status, N' ', i.custom_status, N' ', i.custom_status_version) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].instances AS i",
    "SELECT CONCAT(N'execution ', e.instance_id, N' ', e.execution_id, N' ', e.status, N' ', e.output, N' ', e.event_count) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].executions AS e",
    "SELECT CONCAT(N'event ', h.instance_id, N' ', h.execution_id, N' ', h.event_id, N' ', h.payload) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].history AS h",
    "SELECT CONCAT(N'key ', s.instance_id, N' ', s.kv_key, N' ', s.kv_value) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].kv_store AS s UNION ALL SELECT CONCAT(N'delta ', d.instance_id, N' ', d.kv_key, N' ', d.kv_value) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].kv_delta AS d",
    "SELECT CONCAT(N'work ', q.instance_id, N' ', q.activity_id, N' ', q.session_key, q.tag_key, N' ', q.attempt_count, N' ', COALESCE(SUBSTRING(LOWER(CONVERT(NVARCHAR(36), q.lock_token)), 35, 2), N'free'), N' ', CASE WHEN q.not_before_ms <= @now THEN N'ready' ELSE N'later' END) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].worker_queue AS q",
    "SELECT CONCAT(N'session ', s.session_key, N' ', s.owner_id, N' ', CASE WHEN s.locked_until_ms <= @now THEN N'over' ELSE N'leased' END) COLLATE DATABASE_DEFAULT AS line FROM [$(schema)].sessions AS s",
];

/// Empties all tables.
pub async fn empty(session: &mut Session) {
    let wipe = [
        "instance_locks",
        "session_lanes",
        "orchestrator_queue",
        "instances",
        "executions",
        "history",
        "kv_store",
        "kv_delta",
        "worker_queue",
        "sessions",
    ]
    .map(|table| format!("DELETE FROM [$(schema)].{table};"))
    .join(" ");
    session.run(&wipe).await.expect("the tables are emptied");
}

/// The tables' rows, in order.
pub async fn tables(session: &mut Session) -> Vec<String> {
    let queries: Vec<String> = TABLES.iter().map(|query| format!("{query};")).collect();
    let text = format!(
        "DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()); {}",
        queries.join(" ")
    );
    let sets = session.run(&text).await.expect("the tables are read");
    let mut lines: Vec<String> = sets
        .iter()
        .flatten()
        .map(|row| row.get::<&str, _>("line").expect("a line").to_owned())
        .collect();
    lines.sort();
    lines
}

/// An answer, row by row.
pub fn answer(answer: &Answer) -> Vec<String> {
    match answer {
        Err(number) => vec![format!("error {number}")],
        Ok(sets) => sets.iter().flatten().map(line).collect(),
    }
}

fn line(row: &Row) -> String {
    let cells = row
        .cells()
        .filter(|(column, _)| !PASSING.contains(&column.name()));
    let cells: Vec<String> = cells
        .map(|(column, value)| format!("{}={}", column.name(), text(value)))
        .collect();
    cells.join(" ")
}

fn text(value: &ColumnData<'static>) -> String {
    match value {
        ColumnData::I64(Some(n)) => n.to_string(),
        ColumnData::I32(Some(n)) => n.to_string(),
        ColumnData::Bit(Some(bit)) => bit.to_string(),
        ColumnData::String(Some(text)) => text.to_string(),
        _ => "none".to_owned(),
    }
}
