-- A comparison with NULL is unknown, and a WHERE keeps only what is true. Grouping, DISTINCT, UNION and
-- unique keys treat NULLs as equal to each other; aggregates leave them out.

-- case: null_equals_nothing
SELECT 1 AS a WHERE NULL = NULL;
-- expect rows: none

-- case: null_differs_from_nothing
SELECT 1 AS a WHERE NULL <> 1 OR NOT (NULL = 1);
-- expect rows: none

-- case: is_null
SELECT CASE WHEN NULL IS NULL THEN 1 ELSE 0 END AS a, CASE WHEN 1 IS NOT NULL THEN 1 ELSE 0 END AS b;
-- expect row: 1 | 1

-- case: not_in_with_a_null_finds_nothing
SELECT 1 AS a WHERE 1 NOT IN (2, NULL);
-- expect rows: none

-- case: in_with_a_null_still_finds_a_match
SELECT 1 AS a WHERE 1 IN (NULL, 1);
-- expect row: 1

-- case: unknown_and_false_is_false
SELECT 1 AS a WHERE NOT (NULL = 1 AND 1 = 0);
-- expect row: 1

-- case: unknown_or_true_is_true
SELECT 1 AS a WHERE NULL = 1 OR 1 = 1;
-- expect row: 1

-- case: isnull_takes_the_type_of_its_first_argument
SELECT ISNULL(CAST(NULL AS VARCHAR(2)), 'abcd') AS a, COALESCE(CAST(NULL AS VARCHAR(2)), 'abcd') AS b;
-- expect row: 'ab' | 'abcd'

-- case: coalesce_takes_the_highest_type
SELECT COALESCE(NULL, 1, 2.5) AS a, NULLIF(1, 1) AS b, NULLIF(1, 2) AS c;
-- expect columns: a decimal, b int, c int
-- expect row: 1.0 | NULL | 1

-- case: coalesce_of_nothing_but_null_is_refused
SELECT COALESCE(NULL, NULL) AS a;
-- expect error 4127 16 * At least one of the arguments to COALESCE must be an expression that is not the NULL constant.

-- case: aggregates_leave_nulls_out
SELECT COUNT(*) AS a, COUNT(x) AS b, SUM(x) AS c, AVG(x) AS d, MIN(x) AS e, MAX(x) AS f
FROM (VALUES (1), (NULL), (4)) v(x);
-- expect row: 3 | 2 | 5 | 2 | 1 | 4

-- case: aggregates_of_no_rows
SELECT COUNT(*) AS a, SUM(x) AS b, MAX(x) AS c FROM (VALUES (1)) v(x) WHERE 1 = 0;
-- expect row: 0 | NULL | NULL

-- case: nulls_form_one_group
SELECT x, COUNT(*) AS n FROM (VALUES (1), (NULL), (NULL)) v(x) GROUP BY x ORDER BY x;
-- expect row: NULL | 2
-- expect row: 1 | 1

-- case: nulls_sort_first
SELECT x FROM (VALUES (2), (NULL), (1)) v(x) ORDER BY x DESC;
-- expect row: 2
-- expect row: 1
-- expect row: NULL

-- case: union_treats_nulls_as_equal
SELECT NULL AS a UNION SELECT NULL;
-- expect row: NULL

-- case: a_unique_constraint_admits_one_null
CREATE TABLE [$(s)].t (a INT NULL CONSTRAINT uq_t UNIQUE);
INSERT [$(s)].t VALUES (NULL);
GO
INSERT [$(s)].t VALUES (NULL);
-- expect error 2627 14 1 The duplicate key value is (<NULL>).

-- case: case_without_a_match_is_null
SELECT CASE CAST(NULL AS INT) WHEN NULL THEN 1 END AS a, CASE WHEN NULL = NULL THEN 1 ELSE 2 END AS b;
-- expect row: NULL | 2

-- case: between_with_null_is_unknown
SELECT 1 AS a WHERE 5 BETWEEN NULL AND 10;
-- expect rows: none

-- case: exists_minds_rows_not_values
SELECT 1 AS a WHERE EXISTS (SELECT NULL);
-- expect row: 1

-- case: in_with_a_null_in_a_check
CREATE TABLE [$(s)].t (a INT CHECK (a NOT IN (1, NULL)), b INT CHECK (b IN (1, NULL)));
INSERT [$(s)].t VALUES (2, 2), (NULL, NULL);
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 2
GO
INSERT [$(s)].t VALUES (1, 1);
-- expect error 547 16 0 conflicted with the CHECK constraint

-- case: not_in_is_unknown_next_to_a_null
SELECT x, CASE WHEN x IN (1, NULL) THEN 'in' WHEN x NOT IN (1, NULL) THEN 'out' ELSE 'unknown' END AS r
FROM (VALUES (1), (2), (NULL)) v(x) ORDER BY x;
-- expect row: NULL | 'unknown'
-- expect row: 1 | 'in'
-- expect row: 2 | 'unknown'

-- case: not_in_is_unknown_next_to_a_null_of_a_subquery
SELECT x, CASE WHEN x IN (SELECT y FROM (VALUES (1), (NULL)) w(y)) THEN 'in'
    WHEN x NOT IN (SELECT y FROM (VALUES (1), (NULL)) w(y)) THEN 'out' ELSE 'unknown' END AS r
FROM (VALUES (1), (2), (NULL)) v(x) ORDER BY x;
-- expect row: NULL | 'unknown'
-- expect row: 1 | 'in'
-- expect row: 2 | 'unknown'

-- With ANSI_WARNINGS an aggregate says once for a statement, behind the rows, that it passes over NULL; COUNT(*) and STRING_AGG do
-- not: github.com/RyanLamansky/sql-server-simulator, its notes on errors, seen on SQL Server 2025.
-- case: aggregates_warn_of_null
CREATE TABLE [$(s)].t (k INT NOT NULL, v INT NULL);
INSERT [$(s)].t VALUES (1, 1), (1, NULL), (2, NULL);
GO
SELECT SUM(v) AS s FROM [$(s)].t;
-- expect row: 1
-- expect info Warning: Null value is eliminated by an aggregate or other SET operation.
GO
SELECT k, COUNT(v) AS n FROM [$(s)].t GROUP BY k ORDER BY k;
-- expect row: 1 | 1
-- expect row: 2 | 0
-- expect info Null value is eliminated
GO
SELECT DISTINCT SUM(v) OVER () AS s FROM [$(s)].t;
-- expect row: 1
-- expect info Null value is eliminated
GO
DECLARE @a INT;
SELECT @a = AVG(v) FROM [$(s)].t;
-- expect info Null value is eliminated
GO
DECLARE @a INT = (SELECT SUM(v) FROM [$(s)].t);
-- expect info Null value is eliminated
GO
IF (SELECT SUM(v) FROM [$(s)].t) = 1 PRINT 'body';
-- expect info Null value is eliminated
-- expect info body
GO
UPDATE [$(s)].t SET k = (SELECT SUM(v) FROM [$(s)].t);
-- expect info Null value is eliminated
