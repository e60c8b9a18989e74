-- A procedure may refer to a table that does not exist yet: names are looked up when a statement first runs
-- (208). The columns of a table that does exist are checked at once (207). A batch runs up to the bad name.

-- case: a_procedure_on_a_missing_table_can_be_created
CREATE PROCEDURE [$(s)].p AS SELECT a FROM [$(s)].later;
GO
EXEC [$(s)].p;
-- expect error 208 16 1 Invalid object name '$(s).later'.
GO
CREATE TABLE [$(s)].later (a INT);
INSERT [$(s)].later VALUES (4);
GO
EXEC [$(s)].p;
-- expect row: 4

-- case: a_procedure_on_a_missing_column_cannot
CREATE TABLE [$(s)].t (a INT);
GO
CREATE PROCEDURE [$(s)].p AS SELECT b FROM [$(s)].t;
-- expect error 207 16 1 Invalid column name 'b'.

-- case: a_procedure_may_call_a_missing_one
CREATE PROCEDURE [$(s)].p AS EXEC [$(s)].later;
GO
EXEC [$(s)].p;
-- expect error 2812 16 62 Could not find stored procedure '$(s).later'.

-- case: the_batch_runs_up_to_the_missing_table
SELECT 1 AS a;
SELECT * FROM [$(s)].nope;
SELECT 2 AS a;
-- expect error 208 16 1 Invalid object name '$(s).nope'.
-- expect row: 1

-- case: a_table_made_in_the_same_batch_is_found
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
SELECT a FROM [$(s)].t;
-- expect row: 1

-- case: a_branch_that_is_not_taken_is_not_looked_up
IF 1 = 0 SELECT * FROM [$(s)].nope;
SELECT 'fine' AS a;
-- expect row: 'fine'

-- case: a_missing_table_in_dml
INSERT [$(s)].nope VALUES (1);
-- expect error 208 16 1 Invalid object name '$(s).nope'.
GO
UPDATE [$(s)].nope SET a = 1;
-- expect error 208 16 1
GO
DELETE FROM [$(s)].nope;
-- expect error 208 16 1

-- case: an_unknown_schema
CREATE TABLE [$(s)_nope].t (a INT);
-- expect error 2760 16 1 The specified schema name "$(s)_nope" either does not exist or you do not have permission to use it.

-- case: an_unknown_function
SELECT FROBNICATE(1) AS a;
-- expect error 195 15 10 'FROBNICATE' is not a recognized built-in function name.

-- case: an_unknown_function_in_a_schema
SELECT [$(s)].f(1) AS a;
-- expect error 4121 16 1 or the user-defined function or aggregate "$(s).f", or the name is ambiguous.

-- case: the_wrong_number_of_arguments
SELECT LEN('a', 'b') AS a;
-- expect error 174 15 1 The len function requires 1 argument(s).

-- case: an_unknown_type_of_a_variable
DECLARE @a NOSUCHTYPE;
-- expect error 2715 16 * Column, parameter, or variable #1: Cannot find data type NOSUCHTYPE.

-- case: names_are_not_case_sensitive
DECLARE @Value INT = 3;
SELECT @VALUE AS a, Tables.NAME AS b FROM SYS.TABLES WHERE 1 = 0;
-- expect columns: a int, b nvarchar
-- expect rows: none

-- case: delimited_names
CREATE TABLE [$(s)].[a table] ([a b] INT, [b]]c] INT, "d""e" INT, [select] INT);
INSERT [$(s)].[a table] VALUES (1, 2, 3, 4);
SELECT [a b], [b]]c], "d""e", [select] FROM [$(s)].[a table];
-- expect row: 1 | 2 | 3 | 4

-- case: names_of_three_parts
DECLARE @sql NVARCHAR(400) = N'SELECT COUNT(*) AS n FROM ' + QUOTENAME(DB_NAME()) + N'.[$(s)].t';
CREATE TABLE [$(s)].t (a INT);
EXEC (@sql);
-- expect row: 0

-- case: object_id_and_its_kin
CREATE TABLE [$(s)].t (a INT, b INT);
SELECT OBJECT_NAME(OBJECT_ID(N'[$(s)].t')) AS a, OBJECT_ID(N'[$(s)].nope') AS b, SCHEMA_NAME(SCHEMA_ID(N'$(s)')) AS c, OBJECT_ID(N'[$(s)].t', N'P') AS d, COL_NAME(OBJECT_ID(N'[$(s)].t'), 2) AS e;
-- expect row: 't' | NULL | * | NULL | 'b'

-- case: an_identifier_longer_than_128
SELECT 1 AS aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
-- expect error 103 15 4 is too long. Maximum length is 128.

-- case: every_unknown_column_is_told
CREATE TABLE [$(s)].t (a INT);
GO
SELECT x1, a, x2 FROM [$(s)].t;
SELECT x3 FROM [$(s)].t;
-- expect error 207 16 1 Invalid column name 'x1'.
-- expect error 207 16 1
-- expect error 207 16 1

-- case: every_unknown_variable_is_told
SELECT @x1;
SELECT @x2;
-- expect error 137 15 2 Must declare the scalar variable "@x1".
-- expect error 137 15 2

-- case: an_unknown_global_variable_as_it_is_written
SELECT @@noSuch;
-- expect error 137 15 2 Must declare the scalar variable "@@noSuch".

-- case: drop_of_another_kind
CREATE PROCEDURE [$(s)].p AS SELECT 1;
GO
CREATE TABLE [$(s)].t (a INT);
GO
DROP TABLE [$(s)].p;
-- expect error 3705 16 1 Cannot use DROP TABLE with '$(s).p' because '$(s).p' is a procedure. Use DROP PROCEDURE.
GO
DROP VIEW IF EXISTS [$(s)].t;
-- expect error 3705 16 1 because '$(s).t' is a table. Use DROP TABLE.

-- case: a_schema_that_exists
EXEC ('CREATE SCHEMA [$(s)]');
-- expect error 2714 16 6 There is already an object named '$(s)' in the database.
-- expect error 2759 16 0

-- case: a_prefix_that_is_no_table
SELECT w.* FROM sys.tables;
-- expect error 107 15 1 The column prefix 'w' does not match with a table name or alias name used in the query.

-- The marks that are doubled count once; an alias that is a string is an identifier, too.
-- case: names_of_128_characters
SELECT 1 AS []]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]];
-- expect columns: ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] int
-- expect row: 1
GO
SELECT 1 AS []]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]];
-- expect error 103 15 * is too long. Maximum length is 128.
GO
SELECT 1 AS 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
-- expect columns: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa int
-- expect row: 1
