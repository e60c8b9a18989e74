-- A local temporary table belongs to the session and is named with one #. It lives in tempdb, is seen by what
-- its scope calls, is dropped when the procedure or dynamic text that made it ends, and takes part in
-- transactions, unlike a table variable.

-- case: made_filled_and_read
CREATE TABLE #t (id INT NOT NULL PRIMARY KEY, v VARCHAR(10) NOT NULL DEFAULT 'x');
INSERT #t (id) VALUES (2), (1);
INSERT INTO #t VALUES (3, 'y');
UPDATE #t SET v = 'z' WHERE id = 2;
DELETE FROM #t WHERE #t.id = 1;
SELECT id, v FROM #t ORDER BY id;
-- expect columns: id int, v varchar
-- expect row: 2 | 'z'
-- expect row: 3 | 'y'

-- case: it_outlives_the_batch
CREATE TABLE #t (a INT);
INSERT #t VALUES (1);
GO
SELECT a FROM #t;
-- expect row: 1

-- case: another_connection_does_not_see_it
CREATE TABLE #t (a INT);
INSERT #t VALUES (1);
GO
-- on b
SELECT a FROM #t;
-- expect error 208 16 0 Invalid object name '#t'.
GO
-- on b
CREATE TABLE #t (b VARCHAR(5));
INSERT #t VALUES ('mine');
SELECT b FROM #t;
-- expect row: 'mine'
GO
SELECT a FROM #t;
-- expect row: 1

-- case: it_is_found_in_tempdb
CREATE TABLE #t (a INT);
SELECT CASE WHEN OBJECT_ID(N'tempdb..#t') IS NULL THEN 0 ELSE 1 END AS a, CASE WHEN OBJECT_ID(N'#t') IS NULL THEN 0 ELSE 1 END AS b,
       CASE WHEN OBJECT_ID(N'tempdb..#other') IS NULL THEN 0 ELSE 1 END AS c;
-- expect row: 1 | 0 | 0
GO
IF OBJECT_ID(N'tempdb..#t') IS NOT NULL DROP TABLE #t;
DROP TABLE IF EXISTS #t;
GO
SELECT a FROM #t;
-- expect error 208 16 0 Invalid object name '#t'.

-- case: twice_in_one_scope
CREATE TABLE #t (a INT);
GO
CREATE TABLE #t (a INT);
-- expect error 2714 16 6 There is already an object named '#t' in the database.

-- case: a_procedure_drops_its_own
CREATE PROCEDURE [$(s)].p AS
CREATE TABLE #t (a INT);
INSERT #t VALUES (7);
SELECT a FROM #t;
GO
EXEC [$(s)].p;
EXEC [$(s)].p;
-- expect row: 7
-- expect set
-- expect row: 7
GO
SELECT a FROM #t;
-- expect error 208 16 0 Invalid object name '#t'.

-- case: a_procedure_sees_the_callers
CREATE PROCEDURE [$(s)].p AS INSERT #t VALUES (2);
GO
CREATE TABLE #t (a INT);
EXEC [$(s)].p;
EXEC (N'INSERT #t VALUES (3)');
SELECT a FROM #t ORDER BY a;
-- expect row: 2
-- expect row: 3

-- case: an_inner_one_hides_an_outer_one
CREATE PROCEDURE [$(s)].p AS CREATE TABLE #t (b VARCHAR(5)); INSERT #t VALUES ('inner'); SELECT b FROM #t;
GO
CREATE TABLE #t (a INT);
INSERT #t VALUES (1);
EXEC [$(s)].p;
SELECT a FROM #t;
-- expect row: 'inner'
-- expect set
-- expect row: 1

-- case: dynamic_sql_drops_its_own
EXEC (N'CREATE TABLE #t (a INT)');
SELECT a FROM #t;
-- expect error 208 16 0 Invalid object name '#t'.

-- case: a_rollback_takes_rows_back
CREATE TABLE #t (a INT);
INSERT #t VALUES (1);
BEGIN TRANSACTION;
INSERT #t VALUES (2);
ROLLBACK;
SELECT a FROM #t;
-- expect row: 1

-- case: a_rollback_takes_the_table_back
BEGIN TRANSACTION;
CREATE TABLE #t (a INT);
ROLLBACK;
GO
SELECT a FROM #t;
-- expect error 208 16 0 Invalid object name '#t'.

-- case: a_rollback_brings_a_dropped_one_back
CREATE TABLE #t (a INT);
INSERT #t VALUES (1);
GO
BEGIN TRANSACTION;
DROP TABLE #t;
ROLLBACK;
GO
SELECT a FROM #t;
-- expect row: 1

-- case: constraints_and_indexes
CREATE TABLE #t (id INT CONSTRAINT pk_tmp PRIMARY KEY, a INT CHECK (a > 0));
CREATE UNIQUE INDEX ux_tmp ON #t (a);
INSERT #t VALUES (1, 1);
GO
INSERT #t VALUES (1, 2);
-- expect error 2627 14 1 Cannot insert duplicate key in object 'dbo.#t'. The duplicate key value is (1).
GO
INSERT #t VALUES (2, 1);
-- expect error 2601 14 1 Cannot insert duplicate key row in object 'dbo.#t' with unique index 'ux_tmp'.
GO
INSERT #t VALUES (3, 0);
-- expect error 547 16 0
GO
ALTER TABLE #t ADD b INT NOT NULL DEFAULT 5;
GO
SELECT id, a, b FROM #t;
-- expect row: 1 | 1 | 5
GO
TRUNCATE TABLE #t;
SELECT COUNT(*) AS n FROM #t;
-- expect row: 0

-- case: select_into
SELECT x AS a, CAST('b' AS VARCHAR(9)) AS b INTO #t FROM (VALUES (1), (2)) v (x);
SELECT @@ROWCOUNT AS n;
SELECT a, b FROM #t ORDER BY a;
-- expect row: 2
-- expect columns: a int, b varchar
-- expect row: 1 | 'b'
-- expect row: 2 | 'b'

-- case: select_into_without_rows_makes_the_table
SELECT 1 AS a INTO #t WHERE 1 = 0;
INSERT #t VALUES (5);
SELECT a FROM #t;
-- expect row: 5

-- case: select_into_needs_names
SELECT 1 AS a, 2 INTO #t;
-- expect error 1038 15 5 An object or column name is missing or empty.

-- case: select_into_keeps_the_identity_property
CREATE TABLE [$(s)].t (id INT IDENTITY(10, 5), a INT NOT NULL);
INSERT [$(s)].t VALUES (1), (2);
SELECT id, a INTO #t FROM [$(s)].t;
INSERT #t (a) VALUES (3);
SELECT id, a FROM #t ORDER BY id;
-- expect row: 10 | 1
-- expect row: 15 | 2
-- expect row: 20 | 3
GO
INSERT #t (a) VALUES (NULL);
-- expect error 515 16 2 Cannot insert the value NULL into column 'a'

-- case: select_into_an_expression_is_no_identity
CREATE TABLE [$(s)].t (id INT IDENTITY, a INT);
INSERT [$(s)].t VALUES (1);
SELECT id + 0 AS id, a INTO #t FROM [$(s)].t;
INSERT #t VALUES (7, 7);
SELECT id FROM #t ORDER BY id;
-- expect row: 1
-- expect row: 7

-- case: output_into_a_temporary_table
CREATE TABLE [$(s)].t (id INT);
CREATE TABLE #log (id INT);
INSERT [$(s)].t OUTPUT inserted.id INTO #log VALUES (1), (2);
DELETE [$(s)].t OUTPUT deleted.id INTO #log (id) WHERE id = 1;
SELECT id FROM #log ORDER BY id;
-- expect row: 1
-- expect row: 1
-- expect row: 2

-- Whoever made a temporary table may do everything with it: "no permission is needed to create or to use
-- a local temporary table" (CREATE TABLE, Permissions).
-- case: a_user_without_permissions_uses_its_own
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
EXECUTE AS USER = '$(s)_u';
CREATE TABLE #x (a INT, b INT);
INSERT #x VALUES (1, 1), (2, 2);
UPDATE #x SET b = a + 1 WHERE a = 1;
DELETE #x WHERE a = 2;
SELECT a, b FROM #x;
SELECT a INTO #y FROM #x;
SELECT a FROM #y;
REVERT;
-- expect row: 1 | 2
-- expect set
-- expect row: 1
GO
DROP USER [$(s)_u];
