-- Session options hold until they are changed or, when set in a procedure or in dynamic SQL, until that ends.

-- case: lock_timeout
SELECT @@LOCK_TIMEOUT AS a;
SET LOCK_TIMEOUT 250;
SELECT @@LOCK_TIMEOUT AS a;
-- expect columns: a int
-- expect row: -1
-- expect set
-- expect row: 250

-- case: datefirst
SELECT @@DATEFIRST AS a, DATEPART(WEEKDAY, '2024-01-01') AS b;
SET DATEFIRST 1;
SELECT @@DATEFIRST AS a, DATEPART(WEEKDAY, '2024-01-01') AS b;
-- expect columns: a tinyint, b int
-- expect row: 7 | 2
-- expect set
-- expect row: 1 | 1

-- case: several_at_once
SET NOCOUNT, XACT_ABORT ON;
SELECT CASE WHEN @@OPTIONS & 512 <> 0 THEN 1 ELSE 0 END AS nocount, CASE WHEN @@OPTIONS & 16384 <> 0 THEN 1 ELSE 0 END AS xact_abort;
-- expect row: 1 | 1

-- case: nocount_in_a_procedure_ends_with_it
CREATE PROCEDURE [$(s)].p AS SET NOCOUNT ON;
GO
SET NOCOUNT OFF;
EXEC [$(s)].p;
SELECT CASE WHEN @@OPTIONS & 512 <> 0 THEN 1 ELSE 0 END AS a;
-- expect row: 0

-- case: quoted_identifier_decides_what_double_quotes_are
SET QUOTED_IDENTIFIER OFF;
GO
SELECT "text" AS a;
-- expect row: 'text'
GO
SET QUOTED_IDENTIFIER ON;
GO
SELECT "text" AS a;
-- expect error 207 16 1 Invalid column name 'text'.

-- case: isolation_levels_are_accepted
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET DEADLOCK_PRIORITY LOW;
SET DEADLOCK_PRIORITY -7;
SELECT 1 AS a;
-- expect row: 1

-- case: context_info
SET CONTEXT_INFO 0x010203;
GO
SELECT CAST(CONTEXT_INFO() AS VARBINARY(3)) AS a;
-- expect row: 0x010203

-- case: ansi_nulls_off_makes_null_equal_null
-- embedded refuses SET ANSI_NULLS OFF
SET ANSI_NULLS OFF;
GO
SELECT COUNT(*) AS n FROM (VALUES (1)) AS v (a) WHERE CAST(NULL AS INT) = NULL;
-- expect row: 1

-- case: textsize_cuts_large_values
-- embedded refuses SET TEXTSIZE 4
SET TEXTSIZE 4;
GO
SELECT CAST('abcdef' AS VARCHAR(MAX)) AS a;
-- expect row: 'abcd'

-- case: context_info_is_128_bytes
SELECT CASE WHEN CONTEXT_INFO() IS NULL THEN 1 ELSE 0 END AS a;
SET CONTEXT_INFO 0xFF;
SELECT DATALENGTH(CONTEXT_INFO()) AS n, SUBSTRING(CONTEXT_INFO(), 1, 2) AS b;
-- expect row: 1
-- expect set
-- expect row: 128 | 0xFF00

-- "As the batch is parsed, any occurrence of SET QUOTED_IDENTIFIER will change the parsing behavior from
-- that point on" (SET QUOTED_IDENTIFIER).
-- case: quoted_identifier_changes_within_the_batch
SET NUMERIC_ROUNDABORT, QUOTED_IDENTIFIER OFF;
SELECT "it's" AS a;
SET QUOTED_IDENTIFIER ON;
SELECT 1 AS "a b";
SET QUOTED_IDENTIFIER OFF;
SELECT "" AS e;
-- expect row: 'it''s'
-- expect columns: a b int
-- expect row: 1
-- expect set
-- expect row: ''

-- "SET LOCK_TIMEOUT timeout_period", "SET TEXTSIZE { number }": a number, where "SET ROWCOUNT { number | @number_var }" takes a variable, too.
-- ROWCOUNT has no place for a sign. Seen on SQL Server 2025: github.com/RyanLamansky/sql-server-simulator, docs/claude/session-options.md.
-- case: options_that_take_no_variable
DECLARE @n INT = 5;
SET LOCK_TIMEOUT @n;
-- expect error 102 15 3 Incorrect syntax near 'LOCK_TIMEOUT'.
GO
SET LOCK_TIMEOUT '5';
-- expect error 102 15 3 Incorrect syntax near 'LOCK_TIMEOUT'.
GO
SET LOCK_TIMEOUT 2147483648;
-- expect error 102 15 3 Incorrect syntax near 'LOCK_TIMEOUT'.
GO
DECLARE @n INT = -1;
SET TEXTSIZE @n;
-- expect error 102 15 1 Incorrect syntax near '@n'.
GO
SET ROWCOUNT -1;
-- expect error 102 15 1 Incorrect syntax near '-'.
GO
DECLARE @n INT = -1;
SET ROWCOUNT @n;
-- expect error 507 16 2 Invalid argument for SET ROWCOUNT. Must be a non-null non-negative integer.

-- "If a SET statement runs in a stored procedure or trigger, the value of the SET option gets restored after the stored procedure
-- or trigger returns control. Also, if you specify a SET statement in a dynamic SQL string" (SET statements).
-- case: lock_timeout_ends_with_the_procedure
CREATE PROCEDURE [$(s)].p AS SET LOCK_TIMEOUT 7;
GO
SET LOCK_TIMEOUT 77;
EXEC [$(s)].p;
EXEC (N'SET LOCK_TIMEOUT 5');
SELECT @@LOCK_TIMEOUT AS a;
-- expect row: 77
