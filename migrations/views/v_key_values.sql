-- The key-values of every instance as a client sees them.
--
-- Readers   <schema>_inspector: payloads may hold personal data
-- Units     updated_at_utc: UTC; value_bytes: bytes in UTF-8
--
-- What the running execution wrote covers what earlier ones left; a cleared key has no row.
CREATE OR ALTER VIEW [$(schema)].v_key_values
AS
SELECT k.instance_id, k.kv_key, k.kv_value, k.value_bytes,
       CASE WHEN k.updated_at_ms BETWEEN 0 AND 253402300799999
                THEN DATEADD(MILLISECOND, CAST(k.updated_at_ms % 86400000 AS INT), DATEADD(DAY, CAST(k.updated_at_ms / 86400000 AS INT), CAST('19700101' AS DATETIME2(3)))) END AS updated_at_utc
FROM
(
    SELECT d.instance_id, d.kv_key, d.kv_value, d.value_bytes, d.updated_at_ms
    FROM   [$(schema)].kv_delta AS d
    WHERE  d.kv_value IS NOT NULL
    UNION ALL
    SELECT s.instance_id, s.kv_key, s.kv_value, s.value_bytes, s.updated_at_ms
    FROM   [$(schema)].kv_store AS s
    WHERE  NOT EXISTS (SELECT 1
                       FROM   [$(schema)].kv_delta AS d
                       WHERE  d.instance_id = s.instance_id
                         AND  d.kv_key = s.kv_key)
) AS k;
