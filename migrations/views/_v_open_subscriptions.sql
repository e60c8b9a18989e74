-- Subscriptions to external events that have neither been answered nor cancelled, of running instances.
--
-- Readers   nobody; v_waiting is built on it
-- Units     since_ms: milliseconds since 1970 by the clock of the process that subscribed
--
-- The n-th subscription to a name is answered by the n-th event of that name, so one is open when
-- fewer events than subscriptions up to it have been recorded. Cancelled ones do not count.
-- Names are the same when they are written the same, whatever the database's collation says.
--
-- A history is read once: subscription and cancellation have one subject, by which they are brought together. A search
-- for the cancellation of each subscription would read, and parse, all that came after it.
CREATE OR ALTER VIEW [$(schema)]._v_open_subscriptions
AS
SELECT e.instance_id, e.execution_id, e.name, e.event_ms AS since_ms
FROM
(
    SELECT s.instance_id, s.execution_id, s.name, s.event_ms, s.is_subscription,
           SUM(CASE WHEN s.is_subscription = 1 THEN 1 ELSE 0 END)
               OVER (PARTITION BY s.instance_id, s.execution_id, s.flavour, s.name COLLATE Latin1_General_100_BIN2 ORDER BY s.event_id
                     ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS asked,
           SUM(CASE WHEN s.is_subscription = 0 THEN 1 ELSE 0 END)
               OVER (PARTITION BY s.instance_id, s.execution_id, s.flavour, s.name COLLATE Latin1_General_100_BIN2) AS answered
    FROM
    (
        SELECT h.instance_id, h.execution_id, h.event_id, v.name, v.event_ms, v.flavour, v.is_subscription, v.is_cancellation,
               MAX(v.is_cancellation) OVER (PARTITION BY h.instance_id, h.execution_id, v.subject_id) AS is_cancelled
        FROM   [$(schema)].instances AS i
        INNER JOIN [$(schema)].history AS h
               ON  h.instance_id = i.instance_id
              AND  h.execution_id = i.current_execution_id
        CROSS APPLY (SELECT CASE WHEN ISJSON(h.payload) = 1 THEN h.payload END AS payload) AS j
        CROSS APPLY (SELECT JSON_VALUE(j.payload, '$.type') AS kind) AS k
        CROSS APPLY
        (
            SELECT JSON_VALUE(j.payload, '$.name') AS name,
                   TRY_CAST(JSON_VALUE(j.payload, '$.timestamp_ms') AS BIGINT) AS event_ms,
                   CASE WHEN k.kind IN (N'ExternalSubscribed', N'ExternalEvent') THEN 1 ELSE 2 END AS flavour,
                   CASE WHEN k.kind IN (N'ExternalSubscribed', N'ExternalSubscribedPersistent') THEN 1 ELSE 0 END
                       AS is_subscription,
                   CASE WHEN k.kind IN (N'ExternalSubscribedCancelled', N'ExternalSubscribedPersistentCancelled')
                        THEN 1 ELSE 0 END AS is_cancellation,
                   CASE WHEN k.kind IN (N'ExternalSubscribed', N'ExternalSubscribedPersistent') THEN h.event_id
                        WHEN k.kind IN (N'ExternalSubscribedCancelled', N'ExternalSubscribedPersistentCancelled')
                        THEN TRY_CAST(JSON_VALUE(j.payload, '$.source_event_id') AS BIGINT) END AS subject_id
            WHERE  k.kind IN (N'ExternalSubscribed', N'ExternalEvent', N'ExternalSubscribedCancelled',
                              N'ExternalSubscribedPersistent', N'ExternalEventPersistent',
                              N'ExternalSubscribedPersistentCancelled')
        ) AS v
        WHERE  i.status = N'Running'
    ) AS s
    WHERE  s.is_cancellation = 0
      AND  (s.is_subscription = 0 OR s.is_cancelled = 0)
) AS e
WHERE  e.is_subscription = 1
  AND  e.asked > e.answered;
