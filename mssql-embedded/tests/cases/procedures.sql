-- Arguments are matched by position, then by name, then by default; a missing one is 201, one too many 8144, or 8146
-- where there are no parameters, an unknown name 8145. Longer values are cut to the parameter's type without a word. A procedure that does
-- not say otherwise returns 0.

-- case: positions_names_and_defaults
CREATE PROCEDURE [$(s)].p @a INT, @b INT = 2, @c VARCHAR(5) = 'x' AS SELECT @a AS a, @b AS b, @c AS c;
GO
EXEC [$(s)].p 1;
EXEC [$(s)].p 1, 5;
EXEC [$(s)].p @c = 'y', @a = 7;
EXEC [$(s)].p 1, DEFAULT, 'z';
-- expect columns: a int, b int, c varchar
-- expect row: 1 | 2 | 'x'
-- expect set
-- expect row: 1 | 5 | 'x'
-- expect set
-- expect row: 7 | 2 | 'y'
-- expect set
-- expect row: 1 | 2 | 'z'

-- case: a_missing_argument
CREATE PROCEDURE [$(s)].p @a INT AS SELECT @a AS a;
GO
EXEC [$(s)].p;
-- expect error 201 16 4 Procedure or function 'p' expects parameter '@a', which was not supplied.

-- case: too_many_arguments
CREATE PROCEDURE [$(s)].p @a INT AS SELECT @a AS a;
GO
EXEC [$(s)].p 1, 2;
-- expect error 8144 16 2 Procedure or function p has too many arguments specified.

-- The states of 8146: github.com/RyanLamansky/sql-server-simulator, SimulatedSqlException, seen on SQL Server 2025.
-- case: arguments_without_parameters
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS a;
GO
EXEC [$(s)].p 1;
-- expect error 8146 16 2 Procedure p has no parameters and arguments were supplied.
GO
EXEC [$(s)].p @z = 1;
-- expect error 8146 16 2
GO
EXEC sp_executesql N'SELECT 1', N'', 1;
-- expect error 8146 16 1 Procedure  has no parameters and arguments were supplied.

-- case: an_unknown_argument
CREATE PROCEDURE [$(s)].p @a INT = 1 AS SELECT @a AS a;
GO
EXEC [$(s)].p @z = 1;
-- expect error 8145 16 * @z is not a parameter for procedure p.

-- case: a_position_after_a_name
CREATE PROCEDURE [$(s)].p @a INT, @b INT AS SELECT @a AS a;
GO
EXEC [$(s)].p @a = 1, 2;
-- expect error 119 15 1 Must pass parameter number 2 and subsequent parameters as '@name = value'.

-- case: an_unknown_procedure
EXEC [$(s)].nope;
-- expect error 2812 16 62 Could not find stored procedure '$(s).nope'.

-- case: output_parameters
CREATE PROCEDURE [$(s)].p @a INT, @b INT OUTPUT, @c INT = NULL OUTPUT AS SET @b = @a + ISNULL(@b, 0); SET @c = 9;
GO
DECLARE @x INT = 10, @y INT;
EXEC [$(s)].p 5, @x OUTPUT, @c = @y OUT;
SELECT @x AS x, @y AS y;
EXEC [$(s)].p 5, @x;
SELECT @x AS x;
-- expect row: 15 | 9
-- expect set
-- expect row: 15

-- case: output_of_an_input_parameter
CREATE PROCEDURE [$(s)].p @a INT AS SET @a = 2;
GO
DECLARE @x INT = 1;
EXEC [$(s)].p @x OUTPUT;
-- expect error 8162 16 2 The formal parameter "@a" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output.

-- case: return_values
CREATE PROCEDURE [$(s)].seven AS RETURN 7;
GO
CREATE PROCEDURE [$(s)].plain AS SELECT 1 AS a WHERE 1 = 0;
GO
CREATE PROCEDURE [$(s)].early AS BEGIN IF 1 = 1 RETURN; SELECT 1 AS never; END;
GO
DECLARE @a INT, @b INT, @c INT;
EXEC @a = [$(s)].seven; EXEC @b = [$(s)].plain; EXEC @c = [$(s)].early;
SELECT @a AS a, @b AS b, @c AS c;
-- expect rows: none
-- expect set
-- expect row: 7 | 0 | 0

-- case: values_are_cut_to_the_parameter
CREATE PROCEDURE [$(s)].p @a VARCHAR(3), @b DECIMAL(5, 1) AS SELECT @a AS a, @b AS b;
GO
EXEC [$(s)].p 'abcdef', 1.25;
-- expect row: 'abc' | 1.3

-- case: a_value_of_the_wrong_type
CREATE PROCEDURE [$(s)].p @a INT AS SELECT @a AS a;
GO
EXEC [$(s)].p 'abc';
-- expect error 8114 16 * Error converting data type varchar to int.

-- case: bare_words_are_strings
CREATE PROCEDURE [$(s)].p @a VARCHAR(10), @b INT = -1 AS SELECT @a AS a, @b AS b;
GO
EXEC [$(s)].p hello, -5;
-- expect row: 'hello' | -5

-- case: several_result_sets
CREATE PROCEDURE [$(s)].p AS BEGIN SET NOCOUNT ON; SELECT 1 AS a; SELECT N'x' AS b, 2 AS c; END;
GO
EXEC [$(s)].p;
-- expect columns: a int
-- expect row: 1
-- expect columns: b nvarchar, c int
-- expect row: 'x' | 2

-- case: create_or_alter_replaces
CREATE OR ALTER PROCEDURE [$(s)].p AS SELECT 1 AS a;
GO
CREATE OR ALTER PROCEDURE [$(s)].p AS SELECT 2 AS a;
GO
EXEC [$(s)].p;
-- expect row: 2
GO
ALTER PROCEDURE [$(s)].p AS SELECT 3 AS a;
GO
EXEC [$(s)].p;
-- expect row: 3

-- case: create_of_an_existing_one
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS a;
GO
CREATE PROCEDURE [$(s)].p AS SELECT 2 AS a;
-- expect error 2714 16 3 There is already an object named 'p' in the database.

-- case: alter_of_a_missing_one
ALTER PROCEDURE [$(s)].p AS SELECT 1 AS a;
-- expect error 208 16 6 Invalid object name

-- case: drop_of_a_missing_one
DROP PROCEDURE [$(s)].p;
-- expect error 3701 11 5 Cannot drop the procedure '$(s).p', because it does not exist or you do not have permission.
GO
DROP PROCEDURE IF EXISTS [$(s)].p;

-- case: not_first_in_its_batch
SELECT 1 AS a;
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS a;
-- expect error 111 15 1 'CREATE/ALTER PROCEDURE' must be the first statement in a query batch.

-- case: calls_nest
CREATE PROCEDURE [$(s)].inner_one @n INT AS SELECT @n AS n, @@NESTLEVEL AS level;
GO
CREATE PROCEDURE [$(s)].outer_one AS EXEC [$(s)].inner_one 4;
GO
EXEC [$(s)].outer_one;
-- expect row: 4 | 2

-- case: recursion_ends_at_32
CREATE PROCEDURE [$(s)].p AS EXEC [$(s)].p;
GO
EXEC [$(s)].p;
-- expect error 217 16 1 Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).

-- case: recursion_with_an_end
CREATE PROCEDURE [$(s)].fact @n INT, @r BIGINT OUTPUT AS
IF @n <= 1 BEGIN SET @r = 1; RETURN; END;
DECLARE @m INT = @n - 1;
EXEC [$(s)].fact @m, @r OUTPUT;
SET @r = @r * @n;
GO
DECLARE @r BIGINT;
EXEC [$(s)].fact 10, @r OUTPUT;
SELECT @r AS r;
-- expect row: 3628800

-- case: variables_are_local
CREATE PROCEDURE [$(s)].p AS SELECT @outside AS a;
-- expect error 137 15 2 Must declare the scalar variable "@outside".

-- case: the_name_may_be_in_a_variable
CREATE PROCEDURE [$(s)].p @a INT AS SELECT @a AS a;
GO
DECLARE @name NVARCHAR(200) = N'[$(s)].p';
EXEC @name 3;
-- expect row: 3

-- case: a_duplicate_parameter
CREATE PROCEDURE [$(s)].p @a INT, @A INT AS SELECT 1 AS a;
-- expect error 134 15 * The variable name '@A' has already been declared. Variable names must be unique within a query batch or stored procedure.

-- case: a_procedure_is_looked_for_when_it_is_called
CREATE PROCEDURE [$(s)].p @show BIT AS
IF @show = 1 EXEC sp_helptext N'[$(s)].p';
ELSE SELECT 7 AS a;
GO
EXEC [$(s)].p @show = 0;
-- expect row: 7

-- case: use_is_not_allowed
CREATE PROCEDURE [$(s)].p AS
USE master;
-- expect error 154 15 1 a USE database statement is not allowed in a procedure, function or trigger.

-- "Parameters per stored procedure: 2,100" (Maximum capacity specifications for SQL Server).
-- case: at_most_2100_parameters
DECLARE @s NVARCHAR(MAX) = N'CREATE PROCEDURE $(s).many @p1 INT', @i INT = 2;
WHILE @i <= 2101 BEGIN SET @s += N', @p' + CAST(@i AS NVARCHAR(4)) + N' INT'; SET @i += 1 END
SET @s += N' AS SELECT 1'; EXEC (@s);
-- expect error 180 15 * There are too many parameters in this CREATE PROCEDURE statement. The maximum number is 2100.

-- Only a variable can take what comes out.
-- case: a_constant_takes_no_output
CREATE PROCEDURE [$(s)].p @a INT OUTPUT AS SET @a = 5;
GO
EXEC [$(s)].p 5 OUTPUT;
-- expect error 179 15 1 Cannot use the OUTPUT option when passing a constant to a stored procedure.
