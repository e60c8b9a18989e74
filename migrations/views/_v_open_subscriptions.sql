-- Subscriptions to external events that have neither been answered nor cancelled, of running instances.
--
-- Readers   nobody; v_waiting is built on it
-- Units     since_ms: milliseconds since 1970 by the clock of the process that subscribed
--
-- The n-th subscription to a name is answered by the n-th event of that name, so one is open when
-- fewer events than subscriptions up to it have been recorded. Cancelled ones do not count.
-- Names are the same when they are written the same, whatever the database's collation says.
CREATE OR ALTER VIEW [$(schema)]._v_open_subscriptions
AS
SELECT e.instance_id, e.execution_id, e.name, e.event_ms AS since_ms
FROM
(
    SELECT h.instance_id, h.execution_id, v.kind, v.name, v.event_ms,
           SUM(CASE WHEN v.is_subscription = 1 THEN 1 ELSE 0 END)
               OVER (PARTITION BY h.instance_id, h.execution_id, v.flavour, v.name COLLATE Latin1_General_100_BIN2 ORDER BY h.event_id
                     ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS asked,
           SUM(CASE WHEN v.is_subscription = 0 THEN 1 ELSE 0 END)
               OVER (PARTITION BY h.instance_id, h.execution_id, v.flavour, v.name COLLATE Latin1_General_100_BIN2) AS answered,
           v.is_subscription
    FROM   [$(schema)].instances AS i
    INNER JOIN [$(schema)].history AS h
           ON  h.instance_id = i.instance_id
          AND  h.execution_id = i.current_execution_id
    CROSS APPLY (SELECT CASE WHEN ISJSON(h.payload) = 1 THEN h.payload END AS payload) AS j
    CROSS APPLY (SELECT JSON_VALUE(j.payload, '$.type') AS kind) AS k
    CROSS APPLY
    (
        SELECT k.kind, JSON_VALUE(j.payload, '$.name') AS name,
               TRY_CAST(JSON_VALUE(j.payload, '$.timestamp_ms') AS BIGINT) AS event_ms,
               CASE WHEN k.kind IN (N'ExternalSubscribed', N'ExternalSubscribedPersistent') THEN 1 ELSE 0 END
                   AS is_subscription,
               CASE WHEN k.kind IN (N'ExternalSubscribed', N'ExternalEvent') THEN 1 ELSE 2 END AS flavour
        WHERE  k.kind IN (N'ExternalSubscribed', N'ExternalEvent', N'ExternalSubscribedPersistent',
                          N'ExternalEventPersistent')
          AND  NOT EXISTS (SELECT 1
                           FROM   [$(schema)].history AS n
                           WHERE  n.instance_id = h.instance_id
                             AND  n.execution_id = h.execution_id
                             AND  n.event_id > h.event_id
                             AND  k.kind IN (N'ExternalSubscribed', N'ExternalSubscribedPersistent')
                             AND  CASE WHEN ISJSON(n.payload) = 1 THEN JSON_VALUE(n.payload, '$.type') END
                                  IN (N'ExternalSubscribedCancelled', N'ExternalSubscribedPersistentCancelled')
                             AND  TRY_CAST(CASE WHEN ISJSON(n.payload) = 1
                                                THEN JSON_VALUE(n.payload, '$.source_event_id') END AS BIGINT) = h.event_id)
    ) AS v
    WHERE  i.status = N'Running'
) AS e
WHERE  e.is_subscription = 1
  AND  e.asked > e.answered;
