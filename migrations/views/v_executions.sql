-- One row per execution of an instance; an instance that continues as new has several.
--
-- Readers   <schema>_observer
-- Units     ..._at_utc: UTC; ..._ms: milliseconds
CREATE OR ALTER VIEW [$(schema)].v_executions
AS
SELECT e.instance_id,
       e.execution_id,
       e.status,
       CAST(CASE WHEN i.current_execution_id = e.execution_id THEN 1 ELSE 0 END AS BIT) AS is_current,
       CASE WHEN e.pinned_version >= 0
                THEN CONCAT(e.pinned_version / 1000000 / 1000000, N'.', e.pinned_version / 1000000 % 1000000, N'.', e.pinned_version % 1000000) END AS duroxide_version,
       e.event_count,
       DATEADD(MILLISECOND, CAST(e.started_at_ms % 86400000 AS INT), DATEADD(DAY, CAST(e.started_at_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) AS started_at_utc,
       DATEADD(MILLISECOND, CAST(e.completed_at_ms % 86400000 AS INT), DATEADD(DAY, CAST(e.completed_at_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) AS completed_at_utc,
       COALESCE(e.completed_at_ms, DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())) - e.started_at_ms
           AS duration_ms
FROM   [$(schema)].executions AS e
LEFT JOIN [$(schema)].instances AS i
       ON  i.instance_id = e.instance_id;
