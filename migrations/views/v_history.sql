-- One row per recorded event of an execution, without what the event carries.
--
-- Readers   <schema>_observer
-- Units     ..._at_utc: UTC; payload_bytes: bytes in UTF-8
--
-- name is that of the orchestration, activity, event or key; child_instance_id, fires_at_utc,
-- tag and session_id are there for the kinds of events that have them. scheduled_by_event_id of a
-- completion is the event that asked for it. event_at_utc is the clock of the process that recorded
-- the event. JSON_VALUE gives NULL for what is longer than 4,000 characters, which for a name is
-- better than an error. Events with one turn_id were recorded by one turn, and its last 12 characters are
-- the worker_id of v_workers; the first event gets a new one when events arrive outside of a turn. What
-- events carry is in v_history_payloads.
CREATE OR ALTER VIEW [$(schema)].v_history
AS
SELECT h.instance_id,
       h.execution_id,
       h.event_id,
       JSON_VALUE(j.payload, '$.type') AS event_kind,
       COALESCE(JSON_VALUE(j.payload, '$.name'), JSON_VALUE(j.payload, '$.key')) AS name,
       TRY_CAST(JSON_VALUE(j.payload, '$.source_event_id') AS BIGINT) AS scheduled_by_event_id,
       JSON_VALUE(j.payload, '$.instance') AS child_instance_id,
       JSON_VALUE(j.payload, '$.tag') AS tag,
       JSON_VALUE(j.payload, '$.session_id') AS session_id,
       CASE WHEN t.event_ms BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(t.event_ms % 86400000 AS INT), DATEADD(DAY, CAST(t.event_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS event_at_utc,
       CASE WHEN t.fires_ms BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(t.fires_ms % 86400000 AS INT), DATEADD(DAY, CAST(t.fires_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS fires_at_utc,
       h.payload_bytes,
       LOWER(CAST(h.appended_by AS NVARCHAR(36))) AS turn_id
FROM   [$(schema)].history AS h
CROSS APPLY (SELECT CASE WHEN ISJSON(h.payload) = 1 THEN h.payload END AS payload) AS j
CROSS APPLY (SELECT TRY_CAST(JSON_VALUE(j.payload, '$.timestamp_ms') AS BIGINT) AS event_ms,
                    TRY_CAST(JSON_VALUE(j.payload, '$.fire_at_ms') AS BIGINT) AS fires_ms) AS t;
