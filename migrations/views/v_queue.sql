-- One row per message for an instance and per activity to run, without what it carries.
--
-- Readers   <schema>_observer
-- Units     ..._at_utc, ..._until_utc: UTC
--
-- queue is orchestrations or activities. state:
--   Ready          visible, and nobody has taken it
--   Delayed        not visible before visible_at_utc (a timer, or a delayed retry)
--   Held           a worker has it until lease_until_utc
--   LeaseExpired   the worker that had it has gone; the next fetch takes it
-- worker_id and claimed_at_utc come from the lease's token; see v_workers. is_orphan marks messages
-- for an instance that has never been started.
CREATE OR ALTER VIEW [$(schema)].v_queue
AS
SELECT CAST(N'orchestrations' AS NVARCHAR(20)) AS queue,
       q.queue_id AS item_id,
       q.instance_id,
       CAST(NULL AS BIGINT) AS execution_id,
       q.kind,
       CAST(NULL AS NVARCHAR(4000)) AS activity_name,
       CAST(NULL AS NVARCHAR(256)) AS tag,
       CAST(NULL AS NVARCHAR(400)) AS session_id,
       CASE WHEN q.lock_token IS NOT NULL AND l.lock_token = q.lock_token AND l.not_before_ms > c.now_ms THEN N'Held'
            WHEN q.lock_token IS NOT NULL AND l.lock_token = q.lock_token THEN N'LeaseExpired'
            WHEN q.visible_at_ms > c.now_ms THEN N'Delayed'
            ELSE N'Ready' END AS state,
       CASE WHEN q.visible_at_ms BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(q.visible_at_ms % 86400000 AS INT), DATEADD(DAY, CAST(q.visible_at_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS visible_at_utc,
       CASE WHEN l.lock_token = q.lock_token AND l.not_before_ms BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(l.not_before_ms % 86400000 AS INT), DATEADD(DAY, CAST(l.not_before_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS lease_until_utc,
       CASE WHEN l.lock_token = q.lock_token THEN LOWER(RIGHT(CONVERT(NVARCHAR(36), q.lock_token), 12)) END AS worker_id,
       q.attempt_count,
       CAST(CASE WHEN NOT EXISTS (SELECT 1 FROM [$(schema)].instances AS i WHERE i.instance_id = q.instance_id)
                  AND NOT EXISTS (SELECT 1 FROM [$(schema)].history AS h WHERE h.instance_id = q.instance_id)
                  AND NOT EXISTS (SELECT 1
                                  FROM   [$(schema)].orchestrator_queue AS s
                                  WHERE  s.instance_id = q.instance_id
                                    AND  s.kind IN (N'StartOrchestration', N'ContinueAsNew'))
                 THEN 1 ELSE 0 END AS BIT) AS is_orphan
FROM   [$(schema)].orchestrator_queue AS q
CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c
LEFT JOIN [$(schema)].instance_locks AS l
       ON  l.instance_id = q.instance_id
UNION ALL
SELECT N'activities',
       w.work_id,
       w.instance_id,
       w.execution_id,
       N'ActivityExecute',
       CASE WHEN ISJSON(w.payload) = 1 THEN JSON_VALUE(w.payload, '$.ActivityExecute.name') END,
       CASE WHEN DATALENGTH(w.tag_key) >= 4 THEN SUBSTRING(w.tag_key, 2, DATALENGTH(w.tag_key) / 2 - 2) END,
       CASE WHEN DATALENGTH(w.session_key) >= 4 THEN SUBSTRING(w.session_key, 2, DATALENGTH(w.session_key) / 2 - 2) END,
       CASE WHEN w.lock_token IS NOT NULL AND w.not_before_ms > c.now_ms THEN N'Held'
            WHEN w.lock_token IS NOT NULL THEN N'LeaseExpired'
            WHEN w.not_before_ms > c.now_ms THEN N'Delayed'
            ELSE N'Ready' END,
       CASE WHEN w.lock_token IS NULL AND w.not_before_ms NOT BETWEEN 0 AND 253402300799999 THEN NULL
            WHEN w.lock_token IS NULL THEN DATEADD(MILLISECOND, CAST(w.not_before_ms % 86400000 AS INT), DATEADD(DAY, CAST(w.not_before_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3))))
            ELSE DATEADD(MILLISECOND, CAST(w.enqueued_at_ms % 86400000 AS INT), DATEADD(DAY, CAST(w.enqueued_at_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END,
       CASE WHEN w.lock_token IS NOT NULL AND w.not_before_ms BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(w.not_before_ms % 86400000 AS INT), DATEADD(DAY, CAST(w.not_before_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END,
       LOWER(RIGHT(CONVERT(NVARCHAR(36), w.lock_token), 12)),
       w.attempt_count,
       CAST(0 AS BIT)
FROM   [$(schema)].worker_queue AS w
CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c;
