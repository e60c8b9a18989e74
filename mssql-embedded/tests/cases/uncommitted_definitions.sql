-- What an open transaction has defined, changed or dropped is under its schema-modification lock. Who names it must wait for
-- how that ends, also where only its absence would be noticed: "the Database Engine uses schema stability (Sch-S) locks when
-- compiling and executing queries", and no Sch-S lock is granted beside a Sch-M lock
-- (learn.microsoft.com/sql/relational-databases/sql-server-transaction-locking-and-row-versioning-guide).

-- case: a_called_procedure_that_was_altered_and_rolled_back
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS n;
GO
BEGIN TRANSACTION;
EXEC (N'ALTER PROCEDURE [$(s)].p AS SELECT 2 AS n');
GO
-- on b
-- blocks
EXEC [$(s)].p;
-- expect row: 1
GO
ROLLBACK;
GO
-- on b
EXEC [$(s)].p;
-- expect row: 1

-- case: a_called_procedure_that_was_altered_and_committed
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS n;
GO
BEGIN TRANSACTION;
EXEC (N'ALTER PROCEDURE [$(s)].p AS SELECT 2 AS n');
GO
-- on b
-- blocks
EXEC [$(s)].p;
-- expect row: 2
GO
COMMIT;

-- case: a_called_procedure_that_was_created_and_rolled_back
BEGIN TRANSACTION;
EXEC (N'CREATE PROCEDURE [$(s)].p AS SELECT 1 AS n');
GO
-- on b
-- blocks
EXEC [$(s)].p;
-- expect error 2812 16 62 Could not find stored procedure '$(s).p'.
GO
ROLLBACK;

-- case: a_called_procedure_with_other_parameters_meanwhile
CREATE PROCEDURE [$(s)].p @a INT AS SELECT @a AS n;
GO
BEGIN TRANSACTION;
EXEC (N'ALTER PROCEDURE [$(s)].p @a INT, @b INT AS SELECT @b AS n');
GO
-- on b
-- blocks
EXEC [$(s)].p 1;
-- expect row: 1
GO
-- on c
-- blocks
EXEC [$(s)].p 1, 2;
-- expect error 8144 16 2 too many arguments
GO
ROLLBACK;

-- case: a_table_that_is_being_dropped
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
GO
BEGIN TRANSACTION;
DROP TABLE [$(s)].t;
GO
-- on b
-- blocks
SELECT a FROM [$(s)].t;
-- expect row: 1
GO
-- on c
-- blocks
ALTER TABLE [$(s)].t ADD b INT;
GO
ROLLBACK;
GO
-- on b
SELECT a FROM [$(s)].t;
-- expect row: 1
GO
-- on c
SELECT * FROM [$(s)].t;
-- expect row: 1 | NULL
GO
BEGIN TRANSACTION;
SELECT COUNT(*) FROM [$(s)].t;
-- expect row: 1
DROP TABLE [$(s)].t;
SELECT a FROM [$(s)].t;
-- expect error 208 16 1
GO
-- on b
-- blocks
SELECT a FROM [$(s)].t;
-- expect error 208 16 1
GO
COMMIT;

-- case: a_dropped_table_is_not_waited_for_by_its_own_session
CREATE TABLE [$(s)].t (a INT);
GO
BEGIN TRANSACTION;
DROP TABLE [$(s)].t;
GO
SELECT a FROM [$(s)].t;
-- expect error 208 16 1
GO
CREATE TABLE [$(s)].t (b INT);
SELECT a FROM [$(s)].t;
-- expect error 207 16 1 'a'
GO
ROLLBACK;
GO
SELECT a FROM [$(s)].t;
-- expect rows: none

-- case: a_column_that_is_being_dropped
CREATE TABLE [$(s)].t (id INT NOT NULL, a INT);
INSERT [$(s)].t VALUES (1, 2);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t DROP COLUMN a;
GO
-- on b
-- blocks
SELECT a FROM [$(s)].t;
-- expect row: 2
GO
-- on c
-- blocks
EXEC sp_executesql N'SELECT a + @n FROM [$(s)].t', N'@n INT', 1;
-- expect row: 3
GO
-- on d
-- blocks
CREATE PROCEDURE [$(s)].p AS SELECT a FROM [$(s)].t;
GO
ROLLBACK;
GO
-- on b
SELECT a FROM [$(s)].t;
-- expect row: 2
GO
-- on c
SELECT a FROM [$(s)].t;
-- expect row: 2
GO
-- on d
EXEC [$(s)].p;
-- expect row: 2
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t DROP COLUMN a;
GO
-- on b
-- blocks
SELECT a FROM [$(s)].t;
-- expect error 207 16 1 'a'
GO
-- on c
-- blocks
CREATE VIEW [$(s)].v AS SELECT a FROM [$(s)].t;
-- expect error 207 16 1 'a'
GO
COMMIT;

-- case: a_view_over_a_table_that_is_being_dropped
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
GO
CREATE VIEW [$(s)].v AS SELECT a FROM [$(s)].t;
GO
BEGIN TRANSACTION;
DROP TABLE [$(s)].t;
GO
-- on b
-- blocks
SELECT a FROM [$(s)].v;
-- expect row: 1
GO
ROLLBACK;

-- case: a_procedure_that_is_being_dropped
CREATE PROCEDURE [$(s)].p AS SELECT 1;
GO
BEGIN TRANSACTION;
DROP PROCEDURE [$(s)].p;
GO
-- on b
-- blocks
EXEC [$(s)].p;
-- expect row: 1
GO
-- on c
EXEC [$(s)].q;
-- expect error 2812 16 62
GO
ROLLBACK;
GO
-- on b
EXEC [$(s)].p;
-- expect row: 1
GO
BEGIN TRANSACTION;
DROP PROCEDURE [$(s)].p;
GO
-- on b
-- blocks
EXEC [$(s)].p;
-- expect error 2812 16 62
GO
-- on c
-- blocks
DROP PROCEDURE [$(s)].p;
-- expect error 3701 11 5
GO
COMMIT;

-- case: a_table_under_the_name_of_one_that_is_being_dropped
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
GO
BEGIN TRANSACTION;
DROP TABLE [$(s)].t;
GO
-- on b
-- blocks
CREATE TABLE [$(s)].t (b INT);
-- expect error 2714 16 6 't'
GO
ROLLBACK;
GO
-- on b
SELECT * FROM [$(s)].t;
-- expect columns: a int
-- expect row: 1
GO
BEGIN TRANSACTION;
DROP TABLE [$(s)].t;
GO
-- on b
-- blocks
CREATE TABLE [$(s)].t (b INT);
GO
COMMIT;
GO
-- on b
SELECT * FROM [$(s)].t;
-- expect columns: b int
-- expect rows: none

-- case: a_table_under_the_name_of_one_that_is_being_created
BEGIN TRANSACTION;
CREATE TABLE [$(s)].t (a INT);
GO
-- on b
-- blocks
CREATE TABLE [$(s)].t (b INT);
GO
ROLLBACK;
GO
-- on b
SELECT * FROM [$(s)].t;
-- expect columns: b int
-- expect rows: none
GO
BEGIN TRANSACTION;
DROP TABLE [$(s)].t;
EXEC (N'CREATE VIEW [$(s)].t AS SELECT 1 AS v');
GO
-- on b
-- blocks
CREATE TABLE [$(s)].t (b INT);
-- expect error 2714 16 6 't'
GO
-- on c
-- blocks
EXEC (N'CREATE PROCEDURE [$(s)].t AS SELECT 1 AS v');
-- expect error 2714 16 3 't'
GO
COMMIT;

-- case: a_lock_timeout_ends_the_wait_for_a_definition
CREATE TABLE [$(s)].t (a INT, b INT);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t DROP COLUMN a;
GO
-- on b
SET LOCK_TIMEOUT 0;
GO
-- on b
SELECT a FROM [$(s)].t;
-- expect error 1222 16 *
GO
ROLLBACK;

-- case: a_deadlock_over_a_definition_ends_the_transaction
CREATE TABLE [$(s)].t (a INT, b INT);
CREATE TABLE [$(s)].u (a INT);
INSERT [$(s)].u VALUES (1);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t DROP COLUMN a;
GO
-- on b
SET DEADLOCK_PRIORITY LOW;
BEGIN TRANSACTION;
UPDATE [$(s)].u SET a = 2;
GO
-- on b
-- blocks
SELECT a FROM [$(s)].t;
-- expect error 1205 13 *
GO
UPDATE [$(s)].u SET a = 3;
GO
-- on b
SELECT @@TRANCOUNT;
-- expect row: 0
GO
ROLLBACK;

-- case: several_who_wait_for_the_same_definition
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS n;
GO
BEGIN TRANSACTION;
EXEC (N'ALTER PROCEDURE [$(s)].p AS SELECT 2 AS n');
GO
-- on b
-- blocks
CREATE OR ALTER PROCEDURE [$(s)].p AS SELECT 3 AS n;
GO
-- on c
-- blocks
CREATE OR ALTER PROCEDURE [$(s)].p AS SELECT 3 AS n;
GO
ROLLBACK;
GO
-- on b
SELECT 1;
GO
-- on c
EXEC [$(s)].p;
-- expect row: 3
GO
BEGIN TRANSACTION;
DROP PROCEDURE [$(s)].p;
GO
-- on b
-- blocks
DROP PROCEDURE IF EXISTS [$(s)].p;
GO
-- on c
-- blocks
DROP PROCEDURE IF EXISTS [$(s)].p;
GO
ROLLBACK;
GO
-- on b
SELECT 1;
GO
-- on c
EXEC [$(s)].p;
-- expect error 2812 16 62

-- case: a_parent_that_is_being_dropped
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].t (a INT);
GO
BEGIN TRANSACTION;
DROP TABLE [$(s)].p;
GO
-- on b
-- blocks
CREATE TABLE [$(s)].c (p_id INT CONSTRAINT fk_c REFERENCES [$(s)].p (id));
GO
-- on c
-- blocks
ALTER TABLE [$(s)].t ADD CONSTRAINT fk_t FOREIGN KEY (a) REFERENCES [$(s)].p (id);
GO
ROLLBACK;
GO
-- on b
INSERT [$(s)].c VALUES (1);
-- expect error 547 16 0 "fk_c"
GO
-- on c
INSERT [$(s)].t VALUES (1);
-- expect error 547 16 0 "fk_t"
GO
BEGIN TRANSACTION;
DROP TABLE [$(s)].c, [$(s)].t, [$(s)].p;
GO
-- on b
-- blocks
CREATE TABLE [$(s)].d (p_id INT CONSTRAINT fk_d REFERENCES [$(s)].p (id));
-- expect error 1767 16 0 Foreign key 'fk_d' references invalid table '$(s).p'.
-- expect error 1750 16 *
GO
COMMIT;
