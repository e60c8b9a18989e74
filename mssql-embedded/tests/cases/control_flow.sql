-- IF and WHILE govern one statement or one block. A variable that is declared in a block is known to the end of
-- the batch; a DECLARE without a value does not reset it.

-- case: if_and_else
IF 1 = 2 SELECT 'a' AS x ELSE IF 2 = 2 SELECT 'b' AS x ELSE SELECT 'c' AS x;
-- expect row: 'b'

-- case: unknown_takes_the_else
IF NULL = 1 SELECT 'then' AS x; ELSE SELECT 'else' AS x;
-- expect row: 'else'

-- case: while_with_break_and_continue
DECLARE @i INT = 0, @sum INT = 0;
WHILE 1 = 1
BEGIN
    SET @i += 1;
    IF @i > 10 BREAK;
    IF @i % 2 = 0 CONTINUE;
    SET @sum += @i;
END;
SELECT @i AS i, @sum AS s;
-- expect row: 11 | 25

-- case: nested_loops_break_one_level
DECLARE @i INT = 0, @n INT = 0;
WHILE @i < 3
BEGIN
    SET @i += 1;
    WHILE 1 = 1 BEGIN SET @n += 1; BREAK; END;
END;
SELECT @n AS n;
-- expect row: 3

-- case: goto_jumps
DECLARE @n INT = 0;
again: SET @n += 1;
IF @n < 3 GOTO again;
SELECT @n AS n;
-- expect row: 3

-- case: return_ends_the_batch
SELECT 1 AS a;
RETURN;
SELECT 2 AS a;
-- expect row: 1

-- case: if_exists
IF EXISTS (SELECT 1 WHERE 1 = 0) SELECT 'yes' AS a ELSE SELECT 'no' AS a;
-- expect row: 'no'

-- case: a_declaration_in_a_branch_not_taken_still_declares
IF 1 = 0
BEGIN
    DECLARE @a INT = 5;
END;
SELECT @a AS a;
-- expect row: NULL

-- case: declarations_may_build_on_each_other
DECLARE @a INT = 2, @b INT;
SET @b = @a * 3;
DECLARE @c INT = @b + 1;
SELECT @a AS a, @b AS b, @c AS c;
-- expect row: 2 | 6 | 7

-- case: a_variable_twice
DECLARE @a INT;
DECLARE @A INT;
-- expect error 134 15 * The variable name '@A' has already been declared.

-- case: an_undeclared_variable
SET @nope = 1;
-- expect error 137 15 * Must declare the scalar variable "@nope".

-- case: break_outside_a_loop
BREAK;
-- expect error 135 15 1 Cannot use a BREAK statement outside the scope of a WHILE statement.

-- case: return_with_a_value_outside_a_procedure
RETURN 1;
-- expect error 178 15 1 A RETURN statement with a return value cannot be used in this context.

-- case: goto_without_a_label
GOTO nowhere;
-- expect error 133 15 1 A GOTO statement references the label 'nowhere' but the label has not been declared.

-- case: waitfor_delay
WAITFOR DELAY '00:00:00.010';
SELECT 1 AS a;
-- expect row: 1

-- case: print_sends_a_message
PRINT N'hello ' + CAST(42 AS VARCHAR(5));
-- expect no result
-- expect info hello 42

-- case: set_from_a_subquery
DECLARE @a INT;
SET @a = (SELECT MAX(x) FROM (VALUES (3), (9)) v(x));
SELECT @a AS a;
SET @a = (SELECT x FROM (VALUES (3)) v(x) WHERE x = 0);
SELECT @a AS a;
-- expect row: 9
-- expect set
-- expect row: NULL

-- case: goto_leaves_try_and_does_not_enter_it
BEGIN TRY
    GOTO after;
    SELECT 1 AS a;
END TRY
BEGIN CATCH
    SELECT 2 AS a;
END CATCH;
after:
SELECT 3 AS a;
-- expect row: 3
GO
GOTO inside;
BEGIN TRY
inside:
    SELECT 1 AS a;
END TRY
BEGIN CATCH
    SELECT 2 AS a;
END CATCH;
-- expect error 1026 15 1 GOTO cannot be used to jump into a TRY or CATCH scope.

-- "time_to_pass can be specified either in a datetime data format, or as a local variable. Dates can't be specified" (WAITFOR). A
-- literal is looked at before anything of the batch runs. The types: github.com/mirek/msduck, seen on SQL Server 2025.
-- case: waitfor_takes_times
WAITFOR DELAY 5;
-- expect error 102 15 1 Incorrect syntax near '5'.
GO
PRINT N'not said';
WAITFOR DELAY '24:00';
-- expect error 148 15 1 Incorrect time syntax in time string '24:00' used with WAITFOR.
-- expect no result
GO
WAITFOR DELAY '2024-01-01 00:00:00';
-- expect error 148 15 1
GO
DECLARE @t TIME = '00:00:00.001';
WAITFOR DELAY @t;
-- expect error 9815 16 0 Waitfor delay and waitfor time cannot be of type time.
GO
DECLARE @t VARCHAR(20) = 'soon';
WAITFOR DELAY @t;
-- expect error 241 16 1
GO
DECLARE @t DATETIME = '00:00:00.010', @n VARCHAR(20) = NULL;
WAITFOR DELAY @t;
WAITFOR DELAY @n;
WAITFOR DELAY '';
WAITFOR DELAY '0:0:0:5';
