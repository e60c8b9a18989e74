-- One row per process that holds work or a session right now.
--
-- Readers   <schema>_observer
-- Units     ..._at_utc, ..._until_utc: UTC
--
-- worker_id names a process of the library: it is the last part of the tokens of its leases, and the
-- library logs it at its start. Sessions belong to owners with names of duroxide's, which have rows
-- of their own, with the owner in session_owner. An idle process has no row: it holds nothing.
-- Sessions have no time of a claim, and count as the latest there is rather than as NULL, of which the server would warn (8153).
-- oldest_claim_at_utc is by that process's clock, everything else by the database's.
CREATE OR ALTER VIEW [$(schema)].v_workers
AS
SELECT h.worker_id,
       h.session_owner,
       SUM(h.turns) AS turns_held,
       SUM(h.activities) AS activities_held,
       SUM(h.sessions) AS sessions_held,
       SUM(CASE WHEN h.until_ms <= DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) THEN 1 ELSE 0 END) AS leases_expired,
       CASE WHEN MIN(k.claimed_ms) BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(MIN(k.claimed_ms) % 86400000 AS INT), DATEADD(DAY, CAST(MIN(k.claimed_ms) / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS oldest_claim_at_utc,
       CASE WHEN MIN(h.until_ms) BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(MIN(h.until_ms) % 86400000 AS INT), DATEADD(DAY, CAST(MIN(h.until_ms) / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS first_lease_until_utc,
       CASE WHEN MAX(h.until_ms) BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(MAX(h.until_ms) % 86400000 AS INT), DATEADD(DAY, CAST(MAX(h.until_ms) / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS last_lease_until_utc
FROM
(
    SELECT LOWER(RIGHT(CONVERT(NVARCHAR(36), l.lock_token), 12)) AS worker_id, CAST(NULL AS NVARCHAR(400)) AS session_owner,
           1 AS turns, 0 AS activities, 0 AS sessions, l.not_before_ms AS until_ms,
           CASE WHEN SUBSTRING(CONVERT(NVARCHAR(36), l.lock_token), 15, 1) = N'8'
                     THEN CAST(TRY_CONVERT(VARBINARY(6), STUFF(LEFT(CONVERT(NVARCHAR(36), l.lock_token), 13), 9, 1, N''), 2) AS BIGINT) END AS claimed_ms
    FROM   [$(schema)].instance_locks AS l WITH (INDEX(ix_instance_locks_ready), FORCESEEK)
    WHERE  l.lock_token IS NOT NULL
      AND  l.lane > -2
    UNION ALL
    SELECT LOWER(RIGHT(CONVERT(NVARCHAR(36), w.lock_token), 12)), NULL, 0, 1, 0, w.not_before_ms,
           CASE WHEN SUBSTRING(CONVERT(NVARCHAR(36), w.lock_token), 15, 1) = N'8'
                     THEN CAST(TRY_CONVERT(VARBINARY(6), STUFF(LEFT(CONVERT(NVARCHAR(36), w.lock_token), 13), 9, 1, N''), 2) AS BIGINT) END
    FROM   [$(schema)].worker_queue AS w
    WHERE  w.lock_token IS NOT NULL
    UNION ALL
    SELECT NULL, s.owner_id, 0, 0, 1, s.locked_until_ms, NULL
    FROM   [$(schema)].sessions AS s
    WHERE  s.owner_id <> N''
) AS h
CROSS APPLY (SELECT COALESCE(h.claimed_ms, CAST(9223372036854775807 AS BIGINT)) AS claimed_ms) AS k
GROUP BY h.worker_id, h.session_owner;
