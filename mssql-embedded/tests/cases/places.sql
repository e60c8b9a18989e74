-- Where an error says it happened. Lines count from the start of the batch, or of the CREATE PROCEDURE that made the
-- module; an error inside a procedure names it with its schema on the wire and in ERROR_PROCEDURE().

-- case: the_line_of_the_statement
SELECT 1;
SELECT 2;

SELECT 1 / 0;
-- expect error 8134 16 1
-- expect at line 4

-- case: the_line_of_a_syntax_error
SELECT 1;
SELECT * FROM;
-- expect error 102 15 1
-- expect at line 2

-- case: the_line_of_an_invalid_name
SELECT 1;
SELECT 1 FROM [$(s)].missing;
-- expect error 208 16 1
-- expect at line 2

-- case: inside_a_procedure
CREATE PROCEDURE [$(s)].p AS
BEGIN
    SELECT 1;
    RAISERROR (N'inside', 16, 4);
END;
GO

EXEC [$(s)].p;
-- expect error 50000 16 4 inside
-- expect at line 4 in $(s).p

-- case: the_call_as_a_whole_is_line_0
CREATE PROCEDURE [$(s)].p @a INT AS SELECT @a;
GO

EXEC [$(s)].p;
-- expect error 201 16 4 Procedure or function 'p' expects parameter '@a', which was not supplied.
-- expect at line 0 in $(s).p
GO
CREATE PROCEDURE [$(s)].q AS BEGIN TRAN;
GO
EXEC [$(s)].q;
ROLLBACK;
-- expect error 266 16 2 Previous count = 0, current count = 1.
-- expect at line 0 in $(s).q

-- case: error_line_and_procedure
CREATE PROCEDURE [$(s)].p AS
BEGIN
    THROW 50001, N'inside', 3;
END;
GO
BEGIN TRY
    EXEC [$(s)].p;
END TRY
BEGIN CATCH
    SELECT ERROR_LINE(), ERROR_PROCEDURE(), ERROR_STATE();
END CATCH;
-- expect row: 3 | '$(s).p' | 3

-- case: outside_of_procedures_there_is_no_procedure
BEGIN TRY

    THROW 50001, N'here', 1;
END TRY
BEGIN CATCH
    SELECT ERROR_LINE(), ERROR_PROCEDURE();
END CATCH;
-- expect row: 3 | NULL

-- case: rethrown_errors_keep_their_place
CREATE PROCEDURE [$(s)].p AS
BEGIN
    BEGIN TRY
        SELECT 1 / 0;
    END TRY
    BEGIN CATCH
        THROW;
    END CATCH;
END;
GO
EXEC [$(s)].p;
-- expect error 8134 16 1
-- expect at line 4 in $(s).p

-- case: dynamic_text_counts_its_own_lines
EXEC (N'SELECT 1;

SELECT 1 / 0;');
-- expect error 8134 16 1
-- expect at line 3

-- case: undeclared_variables
SELECT 1;
SELECT @x;
-- expect error 137 15 2 Must declare the scalar variable "@x".
-- expect no result
-- expect at line 2
GO
SELECT 1;
SET @x = 1;
-- expect error 137 15 1 Must declare the scalar variable "@x".
-- expect no result
-- expect at line 2
GO
SELECT @x = 1;
-- expect error 137 15 1 Must declare the scalar variable "@x".
GO
PRINT @x;
-- expect error 137 15 2 Must declare the scalar variable "@x".

-- case: parameters_that_are_missing
EXEC sp_executesql N'SELECT @a, @b', N'@a int,@b int', @a = 1;
-- expect error 8178 16 1 The parameterized query '(@a int,@b int)SELECT @a, @b' expects the parameter '@b', which was not supplied.
GO
EXEC sp_executesql N'SELECT @first_parameter, @second_parameter, @third', N'@first_parameter int,@second_parameter int,@third int', @first_parameter = 1;
-- expect error 8178 16 1 The parameterized query '(@first_parameter int,@second_parameter int,@third int)SELECT @f' expects the parameter '@second_parameter', which was not supplied.

-- case: columns_named_with_schema_and_database
CREATE TABLE [$(s)].t (a INT);
GO
CREATE VIEW [$(s)].v AS SELECT a FROM [$(s)].t;
GO
INSERT [$(s)].t VALUES (1);
SELECT [$(s)].t.a FROM [$(s)].t;
SELECT [$(s)].v.a FROM [$(s)].v;
SELECT sys.schemas.name FROM sys.schemas WHERE sys.schemas.name = N'$(s)';
-- expect row: 1
-- expect set
-- expect row: 1
-- expect set
-- expect row: '$(s)'

-- case: an_alias_hides_the_schema
SELECT sys.schemas.name FROM sys.schemas AS s;
-- expect error 4104 16 1 The multi-part identifier "sys.schemas.name" could not be bound.

-- case: a_syntax_error_in_a_procedure
CREATE PROCEDURE perr AS
SELECT 1
FRM x y z
-- expect error 102 15 1
-- expect at line 3 in perr
