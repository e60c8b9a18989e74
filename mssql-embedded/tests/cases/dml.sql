-- INSERT, UPDATE and DELETE are atomic statements: one bad row undoes the statement and nothing else. OUTPUT
-- shows the rows before (deleted) and after (inserted); an UPDATE reads all old values before it writes.

-- case: insert_forms
CREATE TABLE [$(s)].t (a INT NOT NULL, b INT NULL DEFAULT 5, c VARCHAR(5) NULL);
INSERT INTO [$(s)].t (a) VALUES (1);
INSERT [$(s)].t VALUES (2, DEFAULT, 'x'), (3, NULL, NULL);
INSERT [$(s)].t (c, a) SELECT 'y', 4;
SELECT a, b, c FROM [$(s)].t ORDER BY a;
-- expect row: 1 | 5 | NULL
-- expect row: 2 | 5 | 'x'
-- expect row: 3 | NULL | NULL
-- expect row: 4 | 5 | 'y'

-- case: insert_default_values
CREATE TABLE [$(s)].t (a INT NOT NULL DEFAULT 1, b INT NULL);
INSERT [$(s)].t DEFAULT VALUES;
SELECT a, b FROM [$(s)].t;
-- expect row: 1 | NULL

-- case: insert_more_columns_than_values
CREATE TABLE [$(s)].t (a INT, b INT);
GO
INSERT [$(s)].t (a, b) VALUES (1);
-- expect error 109 15 1 There are more columns in the INSERT statement than values specified in the VALUES clause.

-- case: insert_fewer_columns_than_values
CREATE TABLE [$(s)].t (a INT, b INT);
GO
INSERT [$(s)].t (a) VALUES (1, 2);
-- expect error 110 15 1 There are fewer columns in the INSERT statement than values specified in the VALUES clause.

-- case: insert_without_list_must_fit_the_table
CREATE TABLE [$(s)].t (a INT, b INT);
GO
INSERT [$(s)].t VALUES (1);
-- expect error 213 16 1 Column name or number of supplied values does not match table definition.

-- case: insert_select_with_too_few_columns
CREATE TABLE [$(s)].t (a INT, b INT);
GO
INSERT [$(s)].t (a, b) SELECT 1;
-- expect error 120 15 1 The select list for the INSERT statement contains fewer items than the insert list.

-- case: insert_names_a_column_twice
CREATE TABLE [$(s)].t (a INT, b INT);
GO
INSERT [$(s)].t (a, a) VALUES (1, 2);
-- expect error 264 16 1 The column name 'a' is specified more than once in the SET clause or column list of an INSERT.

-- case: insert_names_an_unknown_column
CREATE TABLE [$(s)].t (a INT);
GO
INSERT [$(s)].t (z) VALUES (1);
-- expect error 207 16 1 Invalid column name 'z'.

-- case: insert_output
CREATE TABLE [$(s)].t (id INT IDENTITY(10, 5), v VARCHAR(5));
INSERT [$(s)].t (v) OUTPUT inserted.id, inserted.v VALUES ('a'), ('b');
-- expect columns: id int, v varchar
-- expect row: 10 | 'a'
-- expect row: 15 | 'b'

-- case: update_reads_before_it_writes
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT, b INT);
INSERT [$(s)].t VALUES (1, 1, 2);
UPDATE [$(s)].t SET a = b, b = a;
SELECT a, b FROM [$(s)].t;
-- expect row: 2 | 1

-- case: update_shifts_a_key_without_colliding
CREATE TABLE [$(s)].t (id INT PRIMARY KEY);
INSERT [$(s)].t VALUES (1), (2), (3);
UPDATE [$(s)].t SET id = id + 1;
SELECT id FROM [$(s)].t ORDER BY id;
-- expect row: 2
-- expect row: 3
-- expect row: 4

-- case: update_output_old_and_new
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
UPDATE [$(s)].t SET v += 1 OUTPUT deleted.v AS before, inserted.v AS after WHERE id = 2;
-- expect columns: before int, after int
-- expect row: 20 | 21

-- case: update_from_a_join
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0), (2, 0);
UPDATE x SET v = s.n FROM [$(s)].t AS x JOIN (VALUES (2, 22)) s(id, n) ON s.id = x.id;
SELECT id, v FROM [$(s)].t ORDER BY id;
-- expect row: 1 | 0
-- expect row: 2 | 22

-- case: update_assigns_variables
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 5);
DECLARE @old INT, @new INT;
UPDATE [$(s)].t SET @old = v, @new = v = v * 2 WHERE id = 1;
SELECT @old AS old, @new AS new, v FROM [$(s)].t;
-- expect row: 5 | 10 | 10

-- case: update_to_default
CREATE TABLE [$(s)].t (id INT, v INT DEFAULT 7);
INSERT [$(s)].t VALUES (1, 1);
UPDATE [$(s)].t SET v = DEFAULT;
SELECT v FROM [$(s)].t;
-- expect row: 7

-- case: update_top_limits_the_rows
CREATE TABLE [$(s)].t (id INT, v INT);
INSERT [$(s)].t VALUES (1, 0), (2, 0), (3, 0);
UPDATE TOP (2) [$(s)].t SET v = 1;
SELECT SUM(v) AS n FROM [$(s)].t;
-- expect row: 2

-- case: update_names_a_column_twice
CREATE TABLE [$(s)].t (a INT);
GO
UPDATE [$(s)].t SET a = 1, a = 2;
-- expect error 264 16 1 The column name 'a' is specified more than once in the SET clause

-- case: delete_forms
CREATE TABLE [$(s)].t (id INT);
INSERT [$(s)].t VALUES (1), (2), (3), (4), (5);
DELETE FROM [$(s)].t WHERE id = 1;
DELETE [$(s)].t WHERE id = 2;
DELETE x FROM [$(s)].t x JOIN (VALUES (3)) d(id) ON d.id = x.id;
DELETE TOP (1) FROM [$(s)].t OUTPUT deleted.id WHERE id >= 5;
SELECT id FROM [$(s)].t;
-- expect row: 5
-- expect set
-- expect row: 4

-- case: output_into_a_table_variable
CREATE TABLE [$(s)].t (id INT IDENTITY, v INT);
DECLARE @ids TABLE (id INT, twice INT);
INSERT [$(s)].t (v) OUTPUT inserted.id, inserted.v * 2 INTO @ids (id, twice) SELECT x FROM (VALUES (7), (8)) v(x);
SELECT id, twice FROM @ids ORDER BY id;
-- expect row: 1 | 14
-- expect row: 2 | 16

-- case: output_into_a_table
CREATE TABLE [$(s)].t (id INT); CREATE TABLE [$(s)].log (id INT);
INSERT [$(s)].t VALUES (1), (2);
DELETE FROM [$(s)].t OUTPUT deleted.id INTO [$(s)].log WHERE id = 2;
SELECT id FROM [$(s)].log;
-- expect row: 2

-- case: one_bad_row_undoes_the_statement
CREATE TABLE [$(s)].t (id INT PRIMARY KEY);
INSERT [$(s)].t VALUES (1);
GO
INSERT [$(s)].t VALUES (2), (1), (3);
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect error 2627 14 1
-- expect row: 1

-- case: truncate_removes_everything
CREATE TABLE [$(s)].t (id INT);
INSERT [$(s)].t VALUES (1), (2);
TRUNCATE TABLE [$(s)].t;
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 0

-- case: insert_exec
CREATE TABLE [$(s)].t (a INT, b VARCHAR(5));
GO
CREATE PROCEDURE [$(s)].p AS SELECT 1, 'x'; SELECT 2, 'y';
GO
INSERT [$(s)].t EXEC [$(s)].p;
SELECT a, b FROM [$(s)].t ORDER BY a;
-- expect row: 1 | 'x'
-- expect row: 2 | 'y'

-- case: insert_exec_must_fit
CREATE TABLE [$(s)].t (a INT);
GO
INSERT [$(s)].t EXEC (N'SELECT 1, 2');
-- expect error 213 16 7 Column name or number of supplied values does not match table definition.

-- case: select_into_makes_a_table
SELECT 1 AS a, CAST(N'x' AS NVARCHAR(9)) AS b INTO [$(s)].made;
SELECT a, b FROM [$(s)].made;
-- expect columns: a int, b nvarchar
-- expect row: 1 | 'x'

-- case: select_into_an_existing_table
CREATE TABLE [$(s)].t (a INT);
GO
SELECT 1 AS a INTO [$(s)].t;
-- expect error 2714 16 6 There is already an object named 't' in the database.

-- case: more_than_a_thousand_rows
DECLARE @sql NVARCHAR(MAX) = N'INSERT [$(s)].t VALUES (0)' + REPLICATE(CAST(N',(1)' AS NVARCHAR(MAX)), 1000);
EXEC (N'CREATE TABLE [$(s)].t (a INT)');
EXEC (@sql);
-- expect error 10738 15 * The number of row value expressions in the INSERT statement exceeds the maximum allowed number of 1000 row values.

-- SET names columns of the target as UPDATE or FROM name it. An alias hides the name of its table
-- (github.com/RyanLamansky/sql-server-simulator, docs/claude/dml.md, seen on SQL Server 2025).
-- case: set_names_the_target_as_it_is_written
CREATE TABLE [$(s)].t (id INT, v INT);
INSERT [$(s)].t VALUES (1, 10);
UPDATE a SET a.v = 11 FROM [$(s)].t AS a;
UPDATE [$(s)].t SET t.v = t.v + 1 FROM [$(s)].t;
SELECT v FROM [$(s)].t;
-- expect row: 12
GO
UPDATE a SET t.v = 13 FROM [$(s)].t AS a;
-- expect error 4104 16 1 The multi-part identifier "t.v" could not be bound.
