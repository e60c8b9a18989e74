-- How much work is ready, by queue and tag: one row per tag, made for autoscalers.
--
-- Readers   <schema>_observer
-- Units     counts of instances (orchestrations) or of activities
--
-- tag is an empty text for work without a tag, and for orchestrations, which have none. A tag
-- without any work has no row, so sum what you ask for. ready_items wait for a worker now,
-- held_items are being worked on. Only narrow indexes are read, with NOLOCK: counting neither waits
-- for the queues nor holds them up, and may be off by what is being written at that moment.
CREATE OR ALTER VIEW [$(schema)].v_queue_depth
AS
SELECT CAST(N'orchestrations' AS NVARCHAR(20)) AS queue,
       CAST(N'' AS NVARCHAR(256)) AS tag,
       COUNT_BIG(CASE WHEN l.not_before_ms <= c.now_ms THEN 1 END) AS ready_items,
       COUNT_BIG(CASE WHEN l.not_before_ms > c.now_ms AND l.lock_token IS NOT NULL THEN 1 END) AS held_items
FROM   [$(schema)].instance_locks AS l WITH (NOLOCK, INDEX(ix_instance_locks_ready), FORCESEEK)
CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c
WHERE  l.lane > -2
UNION ALL
SELECT N'activities',
       COALESCE(t.tag, N''),
       COUNT_BIG(CASE WHEN w.not_before_ms <= c.now_ms THEN 1 END),
       COUNT_BIG(CASE WHEN w.not_before_ms > c.now_ms AND w.lock_token IS NOT NULL THEN 1 END)
FROM   [$(schema)].worker_queue AS w WITH (NOLOCK, INDEX(ix_worker_queue_ready))
CROSS JOIN (SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS now_ms) AS c
CROSS APPLY (SELECT CASE WHEN DATALENGTH(w.tag_key) >= 4 THEN SUBSTRING(w.tag_key, 2, DATALENGTH(w.tag_key) / 2 - 2) END AS tag) AS t
GROUP BY t.tag;
