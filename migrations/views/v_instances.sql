-- One row per orchestration instance: what it is, where it stands, and since when.
--
-- Readers   <schema>_observer
-- Units     ..._at_utc: UTC; ..._ms: milliseconds
--
-- status is duroxide's word for the current execution; state says what the instance does right now:
--   Executing      a worker holds its turn
--   LeaseExpired   the worker that held its turn has gone; the next fetch takes over
--   Ready          messages have arrived and nobody has fetched them yet
--   Waiting        it waits for an activity, a timer, an event or a child (see v_waiting)
--   Completed, Failed, ContinuedAsNew   as status says
--   Deleting       its deletion has begun and is not finished: the next purge goes on
-- failure_kind is Application, Configuration, Infrastructure or Poison; what the error says is a
-- payload, and in v_instance_payloads.
CREATE OR ALTER VIEW [$(schema)].v_instances
AS
SELECT i.instance_id,
       i.orchestration_name,
       i.orchestration_version,
       i.status,
       CASE WHEN i.status <> N'Running' THEN i.status
            WHEN l.lock_token IS NOT NULL AND l.not_before_ms > c.now_ms THEN N'Executing'
            WHEN l.lock_token IS NOT NULL THEN N'LeaseExpired'
            WHEN l.lane > -2 AND l.not_before_ms <= c.now_ms THEN N'Ready'
            ELSE N'Waiting' END AS state,
       f.failure_kind,
       i.parent_instance_id,
       i.current_execution_id,
       CASE WHEN e.pinned_version >= 0
                THEN CONCAT(e.pinned_version / 1000000 / 1000000, N'.', e.pinned_version / 1000000 % 1000000, N'.', e.pinned_version % 1000000) END AS duroxide_version,
       e.event_count,
       DATEADD(MILLISECOND, CAST(i.created_at_ms % 86400000 AS INT), DATEADD(DAY, CAST(i.created_at_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) AS created_at_utc,
       DATEADD(MILLISECOND, CAST(i.updated_at_ms % 86400000 AS INT), DATEADD(DAY, CAST(i.updated_at_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) AS updated_at_utc,
       DATEADD(MILLISECOND, CAST(e.completed_at_ms % 86400000 AS INT), DATEADD(DAY, CAST(e.completed_at_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) AS completed_at_utc,
       COALESCE(CASE WHEN i.status IN (N'Completed', N'Failed') THEN e.completed_at_ms END, c.now_ms) - i.created_at_ms
           AS duration_ms
FROM   [$(schema)].instances AS i
CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c
LEFT JOIN [$(schema)].executions AS e
       ON  e.instance_id = i.instance_id
      AND  e.execution_id = i.current_execution_id
LEFT JOIN [$(schema)].instance_locks AS l
       ON  l.instance_id = i.instance_id
OUTER APPLY
(
    SELECT TOP (1)
           CASE WHEN ISJSON(h.payload) = 0 THEN NULL
                WHEN JSON_QUERY(h.payload, '$.details.Poison') IS NOT NULL THEN N'Poison'
                WHEN JSON_QUERY(h.payload, '$.details.Configuration') IS NOT NULL THEN N'Configuration'
                WHEN JSON_QUERY(h.payload, '$.details.Infrastructure') IS NOT NULL THEN N'Infrastructure'
                WHEN JSON_QUERY(h.payload, '$.details.Application') IS NOT NULL THEN N'Application' END AS failure_kind
    FROM   [$(schema)].history AS h
    WHERE  h.instance_id = i.instance_id
      AND  h.execution_id = i.current_execution_id
      AND  i.status = N'Failed'
    ORDER BY h.event_id DESC
) AS f;
