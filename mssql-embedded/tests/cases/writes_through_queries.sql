-- UPDATE and DELETE can name a common table expression or a derived table over one table: the rows that it
-- shows are changed in the table. Columns that the query computes cannot be set.

-- case: delete_duplicates
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, k VARCHAR(5));
INSERT [$(s)].t VALUES (1, 'a'), (2, 'b'), (3, 'a'), (4, 'a');
WITH d AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS n FROM [$(s)].t)
DELETE FROM d WHERE n > 1;
SELECT @@ROWCOUNT AS n;
SELECT id FROM [$(s)].t ORDER BY id;
-- expect row: 2
-- expect set
-- expect row: 1
-- expect row: 2

-- case: update_the_first_rows_in_order
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, state INT NOT NULL);
INSERT [$(s)].t VALUES (1, 0), (2, 0), (3, 0);
WITH c AS (SELECT TOP (2) id, state FROM [$(s)].t WITH (ROWLOCK, READPAST, UPDLOCK) WHERE state = 0 ORDER BY id DESC)
UPDATE c SET state = 1 OUTPUT inserted.id, deleted.state AS old, inserted.state AS new;
-- expect columns: id int, old int, new int
-- expect row: 3 | 0 | 1
-- expect row: 2 | 0 | 1

-- case: output_of_all_columns_is_that_of_the_query
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT, b INT);
INSERT [$(s)].t VALUES (1, 10, 100);
WITH c AS (SELECT b, id FROM [$(s)].t) DELETE c OUTPUT deleted.*;
-- expect columns: b int, id int
-- expect row: 100 | 1

-- case: columns_may_have_other_names
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10);
WITH c (x, y) AS (SELECT id, a FROM [$(s)].t) UPDATE c SET y += 5 WHERE x = 1;
SELECT a FROM [$(s)].t;
-- expect row: 15

-- case: a_derived_table
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
UPDATE d SET a = 0 FROM (SELECT id, a FROM [$(s)].t WHERE a > 10) AS d;
SELECT id, a FROM [$(s)].t ORDER BY id;
-- expect row: 1 | 10
-- expect row: 2 | 0

-- case: joined_with_another_table
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
WITH c AS (SELECT id, a FROM [$(s)].t)
UPDATE c SET a = v.x FROM c JOIN (VALUES (2, 99)) AS v (i, x) ON v.i = c.id;
SELECT id, a FROM [$(s)].t ORDER BY id;
-- expect row: 1 | 10
-- expect row: 2 | 99

-- case: through_two_queries
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
WITH c AS (SELECT id, a FROM [$(s)].t), d AS (SELECT a AS z FROM c WHERE id = 2)
UPDATE d SET z = 7;
SELECT id, a FROM [$(s)].t ORDER BY id;
-- expect row: 1 | 10
-- expect row: 2 | 7

-- case: a_table_variable
DECLARE @t TABLE (id INT, a INT);
INSERT @t VALUES (1, 10), (2, 20);
WITH c AS (SELECT TOP (1) id, a FROM @t ORDER BY a DESC) DELETE FROM c;
SELECT id FROM @t;
-- expect row: 1

-- case: a_computed_column_cannot_be_set
CREATE TABLE [$(s)].t (id INT, a INT);
GO
WITH c AS (SELECT id, a + 1 AS b FROM [$(s)].t) UPDATE c SET b = 1;
-- expect error 4406 16 1 failed because it contains a derived or constant field.

-- case: groups_cannot_be_changed
CREATE TABLE [$(s)].t (id INT, a INT);
GO
WITH c AS (SELECT a, COUNT(*) AS n FROM [$(s)].t GROUP BY a) DELETE FROM c;
-- expect error 4403 16 1 because it contains aggregates, or a DISTINCT or GROUP BY clause

-- case: a_column_that_the_query_does_not_show
CREATE TABLE [$(s)].t (id INT, a INT);
GO
WITH c AS (SELECT id FROM [$(s)].t) UPDATE c SET a = 1;
-- expect error 207 16 1 Invalid column name 'a'.
