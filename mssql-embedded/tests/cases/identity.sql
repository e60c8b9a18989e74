-- IDENTITY numbers are handed out once and never taken back: a failed or rolled-back INSERT leaves a gap.
-- SCOPE_IDENTITY is a NUMERIC(38) and belongs to the current scope.

-- case: numbers_by_seed_and_increment
CREATE TABLE [$(s)].t (id INT IDENTITY(100, 10), v INT);
INSERT [$(s)].t (v) VALUES (1), (2);
SELECT id FROM [$(s)].t ORDER BY id;
SELECT SCOPE_IDENTITY() AS a, @@IDENTITY AS b, IDENT_CURRENT(N'[$(s)].t') AS c;
-- expect row: 100
-- expect row: 110
-- expect columns: a decimal, b decimal, c decimal
-- expect row: 110 | 110 | 110

-- case: rollback_leaves_a_gap
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
BEGIN TRAN; INSERT [$(s)].t (v) VALUES (1); ROLLBACK;
INSERT [$(s)].t (v) VALUES (2);
SELECT id FROM [$(s)].t;
-- expect row: 2

-- case: a_failed_insert_leaves_a_gap
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT CHECK (v > 0));
BEGIN TRY INSERT [$(s)].t (v) VALUES (0); END TRY BEGIN CATCH END CATCH;
INSERT [$(s)].t (v) VALUES (1);
SELECT id FROM [$(s)].t;
-- expect row: 2

-- case: an_explicit_value_is_refused
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
GO
INSERT [$(s)].t (id, v) VALUES (5, 1);
-- expect error 544 16 1 Cannot insert explicit value for identity column in table 't' when IDENTITY_INSERT is set to OFF.

-- case: identity_insert_allows_it_and_moves_the_seed
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
SET IDENTITY_INSERT [$(s)].t ON;
INSERT [$(s)].t (id, v) VALUES (50, 1);
SET IDENTITY_INSERT [$(s)].t OFF;
INSERT [$(s)].t (v) VALUES (2);
SELECT id FROM [$(s)].t ORDER BY id;
-- expect row: 50
-- expect row: 51

-- case: identity_insert_then_needs_a_value
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
SET IDENTITY_INSERT [$(s)].t ON;
GO
INSERT [$(s)].t (v) VALUES (1);
-- expect error 545 16 1 Explicit value must be specified for identity column in table 't' either when IDENTITY_INSERT is set to ON

-- case: updating_it_is_refused
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
GO
UPDATE [$(s)].t SET id = 1;
-- expect error 8102 16 1 Cannot update identity column 'id'.

-- case: two_in_one_table
CREATE TABLE [$(s)].t (a INT IDENTITY, b INT IDENTITY);
-- expect error 2744 16 2 Multiple identity columns specified for table 't'. Only one identity column per table is allowed.

-- case: truncate_starts_over_and_delete_does_not
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
INSERT [$(s)].t (v) VALUES (1), (2);
DELETE FROM [$(s)].t;
INSERT [$(s)].t (v) VALUES (3);
SELECT id FROM [$(s)].t;
TRUNCATE TABLE [$(s)].t;
INSERT [$(s)].t (v) VALUES (4);
SELECT id FROM [$(s)].t;
-- expect row: 3
-- expect set
-- expect row: 1

-- case: scope_identity_belongs_to_the_scope
CREATE TABLE [$(s)].t (id INT IDENTITY(7, 1), v INT);
GO
CREATE PROCEDURE [$(s)].p AS INSERT [$(s)].t (v) VALUES (1);
GO
DECLARE @before NUMERIC(38, 0) = SCOPE_IDENTITY();
EXEC [$(s)].p;
SELECT CASE WHEN SCOPE_IDENTITY() IS NULL THEN 'null' ELSE 'set' END AS a, @@IDENTITY AS b;
-- expect row: 'null' | 7

-- case: values_follow_the_order_of_insert_select
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
INSERT [$(s)].t (v) SELECT x FROM (VALUES (3), (1), (2)) q(x) ORDER BY x;
SELECT id, v FROM [$(s)].t ORDER BY id;
-- expect row: 1 | 1
-- expect row: 2 | 2
-- expect row: 3 | 3

-- The batches of a session are one scope: "SCOPE_IDENTITY", example B, has GO between INSERT and SELECT.
-- case: scope_identity_outlives_the_batch
CREATE TABLE [$(s)].t (id INT IDENTITY (7, 1), a INT);
INSERT [$(s)].t (a) VALUES (1);
GO
SELECT SCOPE_IDENTITY(), @@IDENTITY;
-- expect row: 7 | 7
GO
EXEC ('INSERT [$(s)].t (a) VALUES (2)');
SELECT SCOPE_IDENTITY(), @@IDENTITY;
-- expect row: 7 | 8

-- case: counting_down_ends_with_the_type
CREATE TABLE $(s).t (id TINYINT IDENTITY(1, -1), v INT);
CREATE TABLE $(s).d (id DECIMAL(1, 0) IDENTITY(9, 1), v INT);
INSERT $(s).t (v) VALUES (1), (2);
INSERT $(s).d (v) VALUES (1);
GO
INSERT $(s).t (v) VALUES (3);
-- expect error 8115 16 1 Arithmetic overflow error converting IDENTITY to data type tinyint.
GO
INSERT $(s).d (v) VALUES (2);
-- expect error 8115 16 1
GO
SELECT id FROM $(s).t ORDER BY id;
-- expect row: 0
-- expect row: 1

-- "@@IDENTITY": "If the statement didn't affect any tables with identity columns, @@IDENTITY returns NULL." That holds for
-- SCOPE_IDENTITY, for no rows, for table variables and for SELECT INTO, too, and a procedure resets only @@IDENTITY of its
-- caller: github.com/mirek/bitsql, harness/corpus, seen on SQL Server 2025.
-- case: a_table_without_identity_resets_both
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
CREATE TABLE [$(s)].u (v INT);
INSERT [$(s)].t (v) VALUES (1);
INSERT [$(s)].t (v) SELECT 2 WHERE 1 = 0;
SELECT SCOPE_IDENTITY(), @@IDENTITY;
INSERT [$(s)].u (v) SELECT 2 WHERE 1 = 0;
SELECT SCOPE_IDENTITY(), @@IDENTITY;
-- expect row: 1 | 1
-- expect set
-- expect row: NULL | NULL
GO
DECLARE @t TABLE (v INT);
INSERT [$(s)].t (v) VALUES (3);
UPDATE [$(s)].u SET v = 1;
SELECT SCOPE_IDENTITY(), @@IDENTITY;
INSERT @t (v) VALUES (1);
SELECT SCOPE_IDENTITY(), @@IDENTITY;
-- expect row: 2 | 2
-- expect set
-- expect row: NULL | NULL
GO
INSERT [$(s)].t (v) VALUES (4);
SELECT v INTO [$(s)].w FROM [$(s)].u;
SELECT SCOPE_IDENTITY(), @@IDENTITY;
-- expect row: NULL | NULL

-- case: a_procedure_resets_the_session_and_not_its_callers_scope
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
CREATE TABLE [$(s)].u (v INT);
GO
CREATE PROCEDURE [$(s)].p AS INSERT [$(s)].u (v) VALUES (1);
GO
INSERT [$(s)].t (v) VALUES (1);
EXEC [$(s)].p;
SELECT SCOPE_IDENTITY(), @@IDENTITY;
-- expect row: 1 | NULL

-- case: the_numbers_of_a_table_variable_count
-- github.com/RyanLamansky/sql-server-simulator, its notes on table variables.
DECLARE @t TABLE (id INT IDENTITY(5, 1), v INT);
INSERT @t (v) VALUES (1), (2);
SELECT SCOPE_IDENTITY(), @@IDENTITY;
-- expect row: 6 | 6
