-- Answers that are easily got wrong: how LIKE treats trailing spaces, which numbers follow each other, what a
-- message names.

-- case: like_ignores_trailing_spaces_of_ansi_text
SELECT CASE WHEN 'abc  ' LIKE 'abc' THEN 1 ELSE 0 END AS a, CASE WHEN 'abc' LIKE 'abc ' THEN 1 ELSE 0 END AS b,
       CASE WHEN N'abc  ' LIKE N'abc' THEN 1 ELSE 0 END AS c, CASE WHEN CAST('ab' AS CHAR(5)) LIKE 'a_' THEN 1 ELSE 0 END AS d,
       CASE WHEN CAST(N'ab' AS NCHAR(5)) LIKE N'a_' THEN 1 ELSE 0 END AS e;
-- expect row: 1 | 0 | 0 | 1 | 0

-- case: count_of_a_null_constant
SELECT COUNT(NULL);
-- expect error 8117 16 1 Operand data type NULL is invalid for count operator.

-- case: a_negative_top
SELECT TOP (-1) x FROM (VALUES (1)) v (x);
-- expect error 127 15 1 may not be negative.

-- case: recursion_limit_above_the_maximum
WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n OPTION (MAXRECURSION 32768);
-- expect error 310 15 1 The value 32768 specified for the MAXRECURSION option exceeds the allowed maximum of 32767.

-- case: raiserror_checks_the_types_of_its_arguments
RAISERROR ('%d rows', 16, 1, 'x');
-- expect error 2786 16 1 The data type of substitution parameter 1 does not match the expected type of the format specification.
GO
RAISERROR ('%s %s', 16, 1, 'x', 5);
-- expect error 2786 16 1 substitution parameter 2
GO
DECLARE @d DATETIME = '20240101';
RAISERROR ('%s', 16, 1, @d);
-- expect error 2748 16 1 Cannot specify datetime data type (parameter 4) as a substitution parameter.

-- case: adding_a_check_that_rows_break
CREATE TABLE [$(s)].t (a INT, b INT);
INSERT [$(s)].t VALUES (1, 2);
GO
ALTER TABLE [$(s)].t ADD CONSTRAINT ck_a CHECK (a > 5);
-- expect error 547 16 0 The ALTER TABLE statement conflicted with the CHECK constraint "ck_a".

-- case: a_check_of_one_column_names_it
CREATE TABLE [$(s)].t (a INT, b INT, CONSTRAINT ck_a CHECK (a > 5));
GO
INSERT [$(s)].t VALUES (1, 2);
-- expect error 547 16 0 table "$(s).t", column 'a'.

-- case: a_second_primary_key
CREATE TABLE [$(s)].t (a INT NOT NULL PRIMARY KEY, b INT NOT NULL);
GO
ALTER TABLE [$(s)].t ADD CONSTRAINT pk_2 PRIMARY KEY (b);
-- expect error 1779 16 0 Table 't' already has a primary key defined on it.
-- expect error 1750 16 0

-- case: a_unique_constraint_over_duplicates
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1), (1);
GO
ALTER TABLE [$(s)].t ADD CONSTRAINT uq_a UNIQUE (a);
-- expect error 1505 16 1 a duplicate key was found
-- expect error 1750 16 0

-- case: catch_sees_the_last_of_two_errors
CREATE TABLE [$(s)].t (a INT NOT NULL PRIMARY KEY, b INT NOT NULL);
GO
BEGIN TRY
    EXEC (N'ALTER TABLE [$(s)].t ADD CONSTRAINT pk_2 PRIMARY KEY (b)');
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n, ERROR_MESSAGE() AS m;
END CATCH;
-- expect row: 1750 | 'Could not create constraint or index. See previous errors.'

-- case: dropping_an_unknown_constraint
CREATE TABLE [$(s)].t (a INT);
GO
ALTER TABLE [$(s)].t DROP CONSTRAINT nowhere;
-- expect error 3728 16 1 'nowhere' is not a constraint.
-- expect error 3727 16 0

-- case: nest_levels_of_dynamic_sql
CREATE PROCEDURE [$(s)].p AS
SELECT @@NESTLEVEL AS n;
EXEC (N'SELECT @@NESTLEVEL AS n');
EXEC sp_executesql N'SELECT @@NESTLEVEL AS n';
GO
EXEC [$(s)].p;
-- expect row: 1
-- expect set
-- expect row: 2
-- expect set
-- expect row: 3

-- case: a_missing_parameter_of_sp_executesql
EXEC sp_executesql N'SELECT @a AS a', N'@a INT';
-- expect error 8178 16 1 The parameterized query '(@a INT)SELECT @a AS a' expects the parameter '@a', which was not supplied.

-- case: exec_of_a_variable_takes_a_name
DECLARE @text NVARCHAR(50) = N'SELECT 5';
EXEC @text;
-- expect error 2812 16 62 Could not find stored procedure 'SELECT 5'.
