-- EXEC of text and sp_executesql run in a scope of their own: variables are not shared, SET options end with
-- it, but transactions and @@ROWCOUNT go through.

-- case: exec_of_pieces
DECLARE @n NVARCHAR(10) = N'42';
EXEC (N'SELECT ' + @n + N' AS a');
-- expect row: 42

-- case: variables_are_not_shared
DECLARE @a INT = 1;
EXEC (N'SELECT @a AS a');
-- expect error 137 15 2 Must declare the scalar variable "@a".

-- case: sp_executesql_with_parameters
DECLARE @out INT;
EXEC sp_executesql N'SELECT @a + @b AS c; SET @r = @a * @b', N'@a INT, @b INT, @r INT OUTPUT', @a = 3, @b = 4, @r = @out OUTPUT;
SELECT @out AS out;
-- expect row: 7
-- expect set
-- expect row: 12

-- case: sp_executesql_by_position
EXEC sp_executesql N'SELECT @a AS a', N'@a NVARCHAR(10)', N'x';
-- expect columns: a nvarchar
-- expect row: 'x'

-- case: sp_executesql_without_its_argument
EXEC sp_executesql N'SELECT @a AS a', N'@a INT';
-- expect error 8178 16 1 expects the parameter '@a', which was not supplied.

-- case: sp_executesql_wants_national_text
EXEC sp_executesql 'SELECT 1 AS a';
-- expect error 214 16 2 Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.

-- case: options_end_with_the_text
SET XACT_ABORT OFF;
EXEC (N'SET XACT_ABORT ON');
SELECT CASE WHEN @@OPTIONS & 16384 = 0 THEN 'off' ELSE 'on' END AS a;
-- expect row: 'off'

-- case: an_error_inside_can_be_caught_outside
BEGIN TRY
    EXEC (N'SELECT * FROM [$(s)].nope');
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n;
END CATCH;
-- expect row: 208

-- case: a_misspelt_keyword_is_a_procedure_call
BEGIN TRY
    EXEC (N'SELEC 1');
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n, ERROR_SEVERITY() AS s;
END CATCH;
-- expect row: 2812 | 16

-- case: a_syntax_error_inside_can_be_caught_outside
BEGIN TRY
    EXEC (N'SELECT 1 FROM');
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n, ERROR_SEVERITY() AS s;
END CATCH;
-- expect row: 102 | 15

-- case: a_transaction_goes_through
CREATE TABLE [$(s)].t (a INT);
BEGIN TRAN;
EXEC (N'INSERT [$(s)].t VALUES (1)');
ROLLBACK;
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 0

-- case: rowcount_goes_through
EXEC (N'SELECT x FROM (VALUES (1), (2), (3)) v(x) ORDER BY x');
SELECT @@ROWCOUNT AS n;
-- expect row: 1
-- expect row: 2
-- expect row: 3
-- expect set
-- expect row: 3

-- case: insert_exec_cannot_roll_back
CREATE TABLE [$(s)].t (a INT);
GO
BEGIN TRAN;
INSERT [$(s)].t EXEC (N'SELECT 1; ROLLBACK;');
-- expect error 3915 16 0 Cannot use the ROLLBACK statement within an INSERT-EXEC statement.

-- case: output_parameters_by_position
DECLARE @a INT, @b INT;
EXEC sp_executesql N'SET @o = @i * 2', N'@i INT, @o INT OUTPUT', 21, @a OUTPUT;
EXEC sp_executesql N'SET @o = @i * 2', N'@i INT, @o INT OUTPUT', @i = 4, @o = @b OUTPUT;
SELECT @a, @b;
-- expect row: 42 | 8

-- case: prepared_statements
DECLARE @h INT, @x INT;
EXEC sp_prepexec @h OUTPUT, N'@a INT, @b INT OUTPUT', N'SET @b = @a * 2', 4, @x OUTPUT;
SELECT @x;
EXEC sp_execute @h, 5, @x OUTPUT;
SELECT @x;
EXEC sp_unprepare @h;
EXEC sp_execute @h, 5, @x OUTPUT;
-- expect row: 8
-- expect set
-- expect row: 10
-- expect error 8179 16 2 Could not find prepared statement with handle

-- "Changes in database context last only until the end of the EXECUTE statement."
-- case: a_database_is_used_until_the_end_of_the_text
DECLARE @home sysname = DB_NAME();
EXEC ('USE master; SELECT DB_NAME()');
SELECT CASE WHEN DB_NAME() = @home THEN 1 ELSE 0 END;
EXEC sp_executesql N'USE master; SELECT DB_NAME()';
SELECT CASE WHEN DB_NAME() = @home THEN 1 ELSE 0 END;
-- expect row: 'master'
-- expect set
-- expect row: 1
-- expect set
-- expect row: 'master'
-- expect set
-- expect row: 1

-- case: sp_executesql_output_of_an_input_parameter
DECLARE @o INT;
EXEC sp_executesql N'SET @a = 5', N'@a INT', @a = @o OUTPUT;
-- expect error 8162 16 * The formal parameter "@a" was not declared as an OUTPUT parameter

-- case: sp_executesql_with_too_many_arguments
EXEC sp_executesql N'SELECT @a', N'@a INT', 1, 2;
-- expect error 8144 16 * has too many arguments specified

-- Its status is @@ERROR as the text leaves it.
-- case: sp_executesql_returns_the_error
DECLARE @r INT;
EXEC @r = sp_executesql N'SELECT 1; RAISERROR (N''x'', 10, 1) WITH SETERROR;';
SELECT @r AS r;
EXEC @r = sp_executesql N'SELECT 1';
SELECT @r AS r;
-- expect set
-- expect row: 1
-- expect set
-- expect row: 50000
-- expect set
-- expect row: 1
-- expect set
-- expect row: 0

-- Its arguments convert as those of any procedure, and fail as they do.
-- case: sp_executesql_with_a_value_of_the_wrong_type
EXEC sp_executesql N'SELECT @a AS a', N'@a INT', @a = N'x';
-- expect error 8114 16 * Error converting data type nvarchar to int.
GO
DECLARE @d DATETIME = '20240101';
EXEC sp_executesql N'SELECT @a AS a', N'@a INT', @a = @d;
-- expect error 257 16 3 Implicit conversion from data type datetime to int is not allowed.
