//! The checker: reads the tables and names every rule that they break.

use mssql_embedded::Controls;

use super::session::Session;

/// Each query counts the rows that break the rule in front of it.
pub const RULES: [(&str, &str); 7] = [
    (
        // What was freed lies no more than a second back, however old its messages are.
        "an instance has a row that is ready, or knows of its earliest message, or of the one that can start it",
        "SELECT COUNT(*) AS n FROM [$(schema)].orchestrator_queue AS q
         LEFT JOIN [$(schema)].instance_locks AS l ON l.instance_id = q.instance_id
         WHERE l.instance_id IS NULL
            OR (l.lock_token IS NULL AND l.not_before_ms > q.visible_at_ms
                AND l.not_before_ms > DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())
                AND (q.kind = N'StartOrchestration'
                     OR EXISTS (SELECT 1 FROM [$(schema)].instances AS i WHERE i.instance_id = q.instance_id)));",
    ),
    (
        "a free row queues in the lane of its version, an idle one in none",
        "SELECT COUNT(*) AS n FROM [$(schema)].instance_locks AS l
         WHERE l.lane <> -3 AND ((l.not_before_ms = 9223372036854775807 AND l.lane <> -2) OR (l.not_before_ms < 9223372036854775807 AND l.lane <> l.pinned_version));",
    ),
    (
        "only the messages of a held instance carry a token, and it is the holder's",
        "SELECT COUNT(*) AS n FROM [$(schema)].orchestrator_queue AS q
         LEFT JOIN [$(schema)].instance_locks AS l ON l.instance_id = q.instance_id AND (l.lock_token = q.lock_token OR l.lane = -3)
         WHERE q.lock_token IS NOT NULL AND l.instance_id IS NULL;",
    ),
    (
        "no message lies before the time from which its instance's turns look",
        "SELECT COUNT(*) AS n FROM [$(schema)].orchestrator_queue AS q
         JOIN [$(schema)].instance_locks AS l ON l.instance_id = q.instance_id
         WHERE q.visible_at_ms < l.messages_from_ms;",
    ),
    (
        "executions count their events",
        "SELECT COUNT(*) AS n FROM [$(schema)].executions AS e
         WHERE e.status <> N'Deleting' AND e.event_count <> (SELECT COUNT(*) FROM [$(schema)].history AS h WHERE h.instance_id = e.instance_id AND h.execution_id = e.execution_id);",
    ),
    (
        "an instance has the status of its current execution, and is fenced exactly while it is being deleted",
        "SELECT COUNT(*) AS n FROM [$(schema)].instances AS i
         JOIN [$(schema)].executions AS e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
         LEFT JOIN [$(schema)].instance_locks AS l ON l.instance_id = i.instance_id AND l.lane = -3
         WHERE e.status <> i.status OR (i.status = N'Deleting' AND l.instance_id IS NULL) OR (i.status <> N'Deleting' AND l.instance_id IS NOT NULL);",
    ),
    (
        "no lane promises later than a new owner could have an item",
        "SELECT COUNT(*) AS n FROM [$(schema)].worker_queue AS q
         LEFT JOIN [$(schema)].session_lanes AS l ON l.session_key = q.session_key AND l.tag_key = q.tag_key
         LEFT JOIN [$(schema)].sessions AS s ON s.session_key = q.session_key
         WHERE q.session_key <> N'' AND (l.lane_id IS NULL
            OR (l.not_before_ms > q.not_before_ms AND l.not_before_ms > COALESCE(s.locked_until_ms, 0)));",
    ),
];

/// What holds besides when the callers number events from 1 and write key-values in running
/// executions only, as the runtime does.
const STRICT: [(&str, &str); 3] = [
    (
        "every history is contiguous from 1",
        "SELECT COUNT(*) AS n FROM (SELECT h.instance_id FROM [$(schema)].history AS h
         JOIN [$(schema)].executions AS e ON e.instance_id = h.instance_id AND e.execution_id = h.execution_id AND e.status <> N'Deleting'
         GROUP BY h.instance_id, h.execution_id HAVING MAX(h.event_id) <> COUNT(*) OR MIN(h.event_id) <> 1) AS d;",
    ),
    (
        "an execution that ended has left its key-values to the store",
        "SELECT COUNT(*) AS n FROM [$(schema)].kv_delta AS d
         JOIN [$(schema)].instances AS i ON i.instance_id = d.instance_id
         WHERE i.status IN (N'Completed', N'Failed', N'ContinuedAsNew');",
    ),
    (
        "what belongs to an instance has its row to be locked by",
        "SELECT COUNT(*) AS n FROM [$(schema)].instances AS i
         LEFT JOIN [$(schema)].instance_locks AS l ON l.instance_id = i.instance_id
         WHERE l.instance_id IS NULL;",
    ),
];

/// The rules that do not hold now, and whether anybody still holds a lock.
pub async fn broken(session: &mut Session, controls: &Controls) -> Vec<String> {
    let mut broken = promises(session).await;
    for (rule, query) in &STRICT {
        broken.extend(violation(session, rule, query).await);
    }
    let locks = controls.locks();
    if !locks.is_empty() {
        broken.push(format!("locks are left: {locks:?}"));
    }
    if !broken.is_empty() {
        broken.extend(queues(session).await);
    }
    broken
}

/// What the queues hold, to be read with a rule that is broken.
async fn queues(session: &mut Session) -> Vec<String> {
    let query = "SELECT CONCAT('now ', DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())) AS line
        UNION ALL SELECT CONCAT('lane ', l.session_key, ' ', l.tag_key, ' ', l.not_before_ms) FROM [$(schema)].session_lanes AS l
        UNION ALL SELECT CONCAT('session ', s.session_key, ' ', s.owner_id, ' ', s.locked_until_ms) FROM [$(schema)].sessions AS s
        UNION ALL SELECT CONCAT('item ', q.session_key, ' ', q.tag_key, ' ', q.not_before_ms) FROM [$(schema)].worker_queue AS q
        UNION ALL SELECT CONCAT('instance ', l.instance_id, ' ', l.lane, ' ', l.not_before_ms) FROM [$(schema)].instance_locks AS l;";
    let sets = session.run(query).await.expect("the queues can be read");
    let lines = sets
        .iter()
        .flatten()
        .filter_map(|row| row.get::<&str, _>("line"));
    lines.map(str::to_owned).collect()
}

/// The rules that do not hold now, of those that hold whatever the callers do.
pub async fn promises(session: &mut Session) -> Vec<String> {
    let mut broken = Vec::new();
    for (rule, query) in &RULES {
        broken.extend(violation(session, rule, query).await);
    }
    broken
}

async fn violation(session: &mut Session, rule: &str, query: &str) -> Option<String> {
    let rows = session.number(query).await;
    (rows != 0).then(|| format!("{rows} rows break: {rule}"))
}
