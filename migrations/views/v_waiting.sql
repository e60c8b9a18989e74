-- What every unfinished instance waits for, since when, and why it has not come yet.
--
-- Readers   <schema>_observer
-- Units     ..._at_utc, ..._until_utc: UTC; waiting_ms: milliseconds
--
-- waits_for is activity, turn, timer, event, child or start. reason:
--   running            a worker has it (worker_id, until_utc)
--   lease_expired      the worker that had it has gone; the next fetch takes over
--   not_taken          ready, but nobody has taken it
--   tag_without_worker ready with a tag, and nobody has a lease on any work of that tag
--   version_without_runtime   ready but pinned to a duroxide version of which nobody has a lease on a turn
--   delayed            not before until_utc (a retry, or a timer)
--   not_raised         nobody has raised the event of that name
--   child_running      the child of that id has not finished
--   never_started      messages for an instance that was never started
-- attempt_count counts how often it was taken; the runtime gives up after ten and the instance fails
-- as poisoned. name is a text in the database's collation: ids and kinds have another, and a server resolves no such conflict
-- in a UNION ALL by itself (451). scheduled_by_event_id of an activity is the event of v_history that asked for it. since_utc of an event is the clock of the process that subscribed.
CREATE OR ALTER VIEW [$(schema)].v_waiting
AS
SELECT x.instance_id, x.execution_id, x.waits_for, x.name, x.tag, x.duroxide_version, x.reason, x.worker_id,
       CASE WHEN x.since_ms BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(x.since_ms % 86400000 AS INT), DATEADD(DAY, CAST(x.since_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS since_utc,
       CASE WHEN x.until_ms BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(x.until_ms % 86400000 AS INT), DATEADD(DAY, CAST(x.until_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS until_utc,
       DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - x.since_ms AS waiting_ms,
       x.attempt_count,
       x.scheduled_by_event_id
FROM
(
    SELECT w.instance_id, w.execution_id, CAST(N'activity' AS NVARCHAR(20)) AS waits_for,
           CASE WHEN ISJSON(w.payload) = 1 THEN JSON_VALUE(w.payload, '$.ActivityExecute.name') END AS name,
           CASE WHEN DATALENGTH(w.tag_key) >= 4 THEN SUBSTRING(w.tag_key, 2, DATALENGTH(w.tag_key) / 2 - 2) END AS tag,
           CAST(NULL AS NVARCHAR(64)) AS duroxide_version,
           CAST(CASE WHEN w.lock_token IS NOT NULL AND w.not_before_ms > c.now_ms THEN N'running'
                     WHEN w.lock_token IS NOT NULL THEN N'lease_expired'
                     WHEN w.not_before_ms > c.now_ms THEN N'delayed'
                     WHEN w.tag_key <> N''
                          AND NOT EXISTS (SELECT 1
                                          FROM   [$(schema)].worker_queue AS o
                                          WHERE  o.session_key = N''
                                            AND  o.tag_key = w.tag_key
                                            AND  o.not_before_ms > c.now_ms
                                            AND  o.lock_token IS NOT NULL)
                          AND NOT EXISTS (SELECT 1
                                          FROM   [$(schema)].session_lanes AS n
                                          INNER JOIN [$(schema)].worker_queue AS o
                                                 ON  o.session_key = n.session_key
                                                AND  o.tag_key = n.tag_key
                                          WHERE  n.tag_key = w.tag_key
                                            AND  o.not_before_ms > c.now_ms
                                            AND  o.lock_token IS NOT NULL) THEN N'tag_without_worker'
                     ELSE N'not_taken' END AS NVARCHAR(30)) AS reason,
           CASE WHEN w.lock_token IS NOT NULL THEN LOWER(RIGHT(CONVERT(NVARCHAR(36), w.lock_token), 12)) END AS worker_id,
           CASE WHEN w.lock_token IS NULL THEN w.enqueued_at_ms
                ELSE COALESCE(CASE WHEN SUBSTRING(CONVERT(NVARCHAR(36), w.lock_token), 15, 1) = N'8'
                     THEN CAST(TRY_CONVERT(VARBINARY(6), STUFF(LEFT(CONVERT(NVARCHAR(36), w.lock_token), 13), 9, 1, N''), 2) AS BIGINT) END, w.enqueued_at_ms) END AS since_ms,
           CASE WHEN w.lock_token IS NOT NULL OR w.not_before_ms > c.now_ms THEN w.not_before_ms END AS until_ms,
           w.attempt_count, w.activity_id AS scheduled_by_event_id
    FROM   [$(schema)].worker_queue AS w
    CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c
    UNION ALL
    SELECT l.instance_id, i.current_execution_id, CASE WHEN i.instance_id IS NULL THEN N'start' ELSE N'turn' END,
           i.orchestration_name, NULL,
           CASE WHEN l.pinned_version >= 0
                THEN CONCAT(l.pinned_version / 1000000 / 1000000, N'.', l.pinned_version / 1000000 % 1000000, N'.', l.pinned_version % 1000000) END,
           CASE WHEN l.lock_token IS NOT NULL AND l.not_before_ms > c.now_ms THEN N'running'
                WHEN l.lock_token IS NOT NULL THEN N'lease_expired'
                WHEN l.pinned_version >= 0 AND NOT EXISTS (SELECT 1
                                                           FROM   [$(schema)].instance_locks AS o
                                                           WHERE  o.lane = l.lane
                                                             AND  o.not_before_ms > c.now_ms
                                                             AND  o.lock_token IS NOT NULL) THEN N'version_without_runtime'
                ELSE N'not_taken' END,
           CASE WHEN l.lock_token IS NOT NULL THEN LOWER(RIGHT(CONVERT(NVARCHAR(36), l.lock_token), 12)) END,
           CASE WHEN l.lock_token IS NULL THEN l.not_before_ms
                ELSE COALESCE(CASE WHEN SUBSTRING(CONVERT(NVARCHAR(36), l.lock_token), 15, 1) = N'8'
                     THEN CAST(TRY_CONVERT(VARBINARY(6), STUFF(LEFT(CONVERT(NVARCHAR(36), l.lock_token), 13), 9, 1, N''), 2) AS BIGINT) END, l.not_before_ms) END,
           CASE WHEN l.lock_token IS NOT NULL THEN l.not_before_ms END,
           (SELECT MAX(q.attempt_count) FROM [$(schema)].orchestrator_queue AS q WHERE q.instance_id = l.instance_id), NULL
    FROM   [$(schema)].instance_locks AS l
    CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c
    LEFT JOIN [$(schema)].instances AS i
           ON  i.instance_id = l.instance_id
    WHERE  l.lane > -2
      AND  (l.lock_token IS NOT NULL OR l.not_before_ms <= c.now_ms)
    UNION ALL
    SELECT q.instance_id, i.current_execution_id, N'timer', NULL, NULL, NULL, N'delayed', NULL,
           i.updated_at_ms, q.visible_at_ms, q.attempt_count, NULL
    FROM   [$(schema)].orchestrator_queue AS q
    INNER JOIN [$(schema)].instances AS i
           ON  i.instance_id = q.instance_id
    WHERE  q.kind = N'TimerFired'
      AND  i.status = N'Running'
      AND  q.visible_at_ms > DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())
    UNION ALL
    SELECT n.parent_instance_id, p.current_execution_id, N'child', n.instance_id COLLATE DATABASE_DEFAULT, NULL, NULL, N'child_running', NULL,
           n.created_at_ms, NULL, NULL, NULL
    FROM   [$(schema)].instances AS n
    INNER JOIN [$(schema)].instances AS p
           ON  p.instance_id = n.parent_instance_id
    WHERE  n.status = N'Running'
      AND  p.status = N'Running'
    UNION ALL
    SELECT q.instance_id, NULL, N'start', q.kind COLLATE DATABASE_DEFAULT, NULL, NULL, N'never_started', NULL, q.visible_at_ms, NULL,
           q.attempt_count, NULL
    FROM   [$(schema)].orchestrator_queue AS q
    WHERE  q.visible_at_ms <= DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())
      AND  NOT EXISTS (SELECT 1 FROM [$(schema)].instances AS i WHERE i.instance_id = q.instance_id)
      AND  NOT EXISTS (SELECT 1 FROM [$(schema)].history AS h WHERE h.instance_id = q.instance_id)
      AND  NOT EXISTS (SELECT 1
                       FROM   [$(schema)].orchestrator_queue AS s
                       WHERE  s.instance_id = q.instance_id
                         AND  s.kind IN (N'StartOrchestration', N'ContinueAsNew'))
    UNION ALL
    SELECT s.instance_id, s.execution_id, N'event', s.name, NULL, NULL, N'not_raised', NULL, s.since_ms, NULL, NULL, NULL
    FROM   [$(schema)]._v_open_subscriptions AS s
) AS x;
