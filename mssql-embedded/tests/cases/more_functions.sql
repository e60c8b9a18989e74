-- Functions and settings beyond the everyday ones.

-- case: at_time_zone_utc
SELECT CONVERT(VARCHAR(40), CAST('2024-01-31 10:00:00' AS DATETIME2(0)) AT TIME ZONE 'UTC') AS a,
       CONVERT(VARCHAR(40), CAST('2024-01-31 10:00:00 +02:00' AS DATETIMEOFFSET(0)) AT TIME ZONE 'UTC') AS b;
-- expect row: '2024-01-31 10:00:00 +00:00' | '2024-01-31 08:00:00 +00:00'

-- case: at_time_zone_types
SELECT CAST('2024-01-31' AS DATETIME) AT TIME ZONE 'UTC' AS a;
-- expect columns: a datetimeoffset
-- expect row: *

-- case: an_unknown_time_zone
SELECT SYSUTCDATETIME() AT TIME ZONE 'Nowhere' AS a;
-- expect error 9820 16 1 The time zone parameter 'Nowhere' provided to AT TIME ZONE clause is invalid.

-- case: checksum_of_integers
SELECT CHECKSUM(7) AS a, CASE WHEN CHECKSUM(1, 2) = CHECKSUM(1, 2) THEN 1 END AS b, CASE WHEN ABS(CHECKSUM(NEWID()) % 10) BETWEEN 0 AND 9 THEN 1 END AS c;
-- expect columns: a int, b int, c int
-- expect row: 7 | 1 | 1

-- case: convert_style_22
SELECT CONVERT(VARCHAR(30), CAST('2024-01-31 13:14:15' AS DATETIME), 22) AS a;
-- expect row: '01/31/24  1:14:15 PM'

-- case: set_rowcount_limits_changes
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 0), (2, 0), (3, 0);
SET ROWCOUNT 2;
UPDATE [$(s)].t SET a = 1;
DELETE [$(s)].t WHERE a = 1;
SET ROWCOUNT 0;
SELECT id, a FROM [$(s)].t;
-- expect row: 3 | 0

-- case: context_info_is_128_bytes
SELECT CASE WHEN CONTEXT_INFO() IS NULL THEN 1 ELSE 0 END AS a;
SET CONTEXT_INFO 0xFF;
SELECT DATALENGTH(CONTEXT_INFO()) AS n, SUBSTRING(CONTEXT_INFO(), 1, 2) AS b;
-- expect row: 1
-- expect set
-- expect row: 128 | 0xFF00
