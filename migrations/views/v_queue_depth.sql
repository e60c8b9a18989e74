-- How much work is ready, by queue and tag: one row per tag, made for autoscalers.
--
-- Readers   <schema>_observer
-- Units     counts of instances (orchestrations) or of activities
--
-- tag is an empty text for work without a tag, and for orchestrations, which have none. A tag
-- without any work has no row, so sum what you ask for. ready_items wait for a worker now,
-- held_items are being worked on. Only narrow indexes are read, with NOLOCK: counting neither waits
-- for the queues nor holds them up, and may be off by what is being written at that moment. They are sums, because the
-- server warns (8153) of a COUNT that leaves rows out by a NULL.
CREATE OR ALTER VIEW [$(schema)].v_queue_depth
AS
SELECT CAST(N'orchestrations' AS NVARCHAR(20)) AS queue,
       CAST(N'' AS NVARCHAR(256)) AS tag,
       COALESCE(SUM(CASE WHEN l.not_before_ms <= c.now_ms THEN CAST(1 AS BIGINT) ELSE 0 END), 0) AS ready_items,
       COALESCE(SUM(CASE WHEN l.not_before_ms > c.now_ms AND l.lock_token IS NOT NULL THEN CAST(1 AS BIGINT) ELSE 0 END), 0) AS held_items
FROM   [$(schema)].instance_locks AS l WITH (NOLOCK, INDEX(ix_instance_locks_ready), FORCESEEK)
CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c
WHERE  l.lane > -2
UNION ALL
SELECT N'activities',
       COALESCE(t.tag, N''),
       COALESCE(SUM(CASE WHEN w.not_before_ms <= c.now_ms THEN CAST(1 AS BIGINT) ELSE 0 END), 0),
       COALESCE(SUM(CASE WHEN w.not_before_ms > c.now_ms AND w.lock_token IS NOT NULL THEN CAST(1 AS BIGINT) ELSE 0 END), 0)
FROM   [$(schema)].worker_queue AS w WITH (NOLOCK, INDEX(ix_worker_queue_ready))
CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c
CROSS APPLY (SELECT CASE WHEN DATALENGTH(w.tag_key) >= 4 THEN SUBSTRING(w.tag_key, 2, DATALENGTH(w.tag_key) / 2 - 2) END AS tag) AS t
GROUP BY t.tag;
