-- CATCH sees errors of severity 11 to 19 raised in its TRY, but not those found while its own batch is
-- compiled (a table that does not exist). THROW rethrows or raises with severity 16 and ends the batch;
-- RAISERROR does not end it.

-- case: error_functions
DECLARE @a INT;
BEGIN TRY
    SET @a = 1 / 0;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n, ERROR_SEVERITY() AS s, ERROR_STATE() AS st, ERROR_LINE() AS l, ERROR_PROCEDURE() AS p, ERROR_MESSAGE() AS m;
END CATCH;
-- expect columns: n int, s int, st int, l int, p nvarchar, m nvarchar
-- expect row: 8134 | 16 | 1 | 3 | NULL | 'Divide by zero error encountered.'

-- case: error_functions_outside_catch_are_null
SELECT ERROR_NUMBER() AS n, ERROR_MESSAGE() AS m;
-- expect row: NULL | NULL

-- case: the_procedure_and_its_line
CREATE PROCEDURE [$(s)].p AS
BEGIN
    SELECT 1 WHERE 1 = 0;
    THROW 50001, N'boom', 3;
END;
GO
BEGIN TRY
    EXEC [$(s)].p;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n, ERROR_STATE() AS st, ERROR_LINE() AS l, ERROR_PROCEDURE() AS p, ERROR_MESSAGE() AS m;
END CATCH;
-- expect rows: none
-- expect set
-- expect row: 50001 | 3 | 4 | * | 'boom'

-- case: throw_raises_severity_16
THROW 51000, N'my message', 7;
-- expect error 51000 16 7 my message

-- case: throw_ends_the_batch
SELECT 1 AS a;
THROW 51000, N'stop', 1;
SELECT 2 AS a;
-- expect error 51000 16 1 stop
-- expect row: 1

-- case: throw_takes_variables
DECLARE @n INT = 51001, @m NVARCHAR(50) = N'from a variable', @s TINYINT = 2;
THROW @n, @m, @s;
-- expect error 51001 16 2 from a variable

-- case: throw_below_50000_is_refused
THROW 49999, N'x', 1;
-- expect error 35100 16 10 Error number 49999 in the THROW statement is outside the valid range.

-- case: rethrow_keeps_number_state_and_text
BEGIN TRY
    THROW 51000, N'original', 9;
END TRY
BEGIN CATCH
    THROW;
END CATCH;
-- expect error 51000 16 9 original

-- case: rethrow_of_a_system_error
BEGIN TRY
    SELECT 1 / 0 AS a;
END TRY
BEGIN CATCH
    THROW;
END CATCH;
-- expect error 8134 16 1 Divide by zero error encountered.

-- case: rethrow_outside_catch_is_refused
THROW;
-- expect error 10704 15 1 To rethrow an error, a THROW statement must be used inside a CATCH block.

-- case: rollback_throw_without_semicolon
BEGIN TRAN;
ROLLBACK TRAN THROW;
-- expect error 6401 16 1 Cannot roll back THROW. No transaction or savepoint of that name was found.

-- case: throw_after_an_unterminated_statement
PRINT 'x'
THROW 50000, 'y', 1;
-- expect error 102 15 1 Incorrect syntax near 'THROW'.

-- case: raiserror_goes_on
RAISERROR(N'problem %d of %s', 16, 2, 5, N'ten');
SELECT 1 AS a;
-- expect error 50000 16 2 problem 5 of ten
-- expect row: 1

-- case: raiserror_below_11_is_a_message
BEGIN TRY
    RAISERROR(N'only information', 10, 1);
    SELECT 'not caught' AS a;
END TRY
BEGIN CATCH
    SELECT 'caught' AS a;
END CATCH;
-- expect info only information
-- expect row: 'not caught'

-- case: raiserror_is_caught_from_11
BEGIN TRY
    RAISERROR(N'eleven', 11, 4);
    SELECT 'not caught' AS a;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n, ERROR_SEVERITY() AS s, ERROR_STATE() AS st, ERROR_MESSAGE() AS m;
END CATCH;
-- expect row: 50000 | 11 | 4 | 'eleven'

-- case: raiserror_formats
RAISERROR(N'[%5d] [%-5d] [%s] [%x] [%%]', 16, 1, 42, 42, N'x', 255);
-- expect error 50000 16 1 [   42] [42   ] [x] [ff] [%]

-- "# ... prefaces any nonzero value with 0, 0x, or 0X", "for integer values, precision is the minimum number of digits
-- printed", a blank goes before positive numbers, and "when 0 and the minus sign appear, 0 is ignored" (RAISERROR).
-- case: raiserror_flags
DECLARE @b BIGINT = 9999999999;
RAISERROR(N'[%#x] [%#X] [%#o] [%#x] [% d] [%+d] [%05d] [%-05d] [%.4d] [%#06x] [%I64d]', 16, 1, 255, 255, 8, 0, 5, 5, -42, 42, 7, 255, @b);
-- expect error 50000 16 1 [0xff] [0XFF] [010] [0] [ 5] [+5] [-0042] [42   ] [0007] [0x00ff] [9999999999]

-- A message may be named by its number in sys.messages; those of one's own have numbers above 50000, and there are none.
-- case: raiserror_of_an_unknown_number
RAISERROR(50001, 16, 3);
-- expect error 18054 16 1 Error 50001, severity 16, state 3 was raised, but no message with that error number was found in sys.messages.
GO
DECLARE @n INT = 70000;
RAISERROR(@n, 11, 1);
SELECT @@ERROR AS e;
-- expect error 18054 16 1 Error 70000, severity 11, state 1 was raised
-- expect row: 18054
GO
RAISERROR(12999, 16, 1);
-- expect error 2732 16 1 Error number 12999 is invalid. The number must be from 13000 through 2147483647 and it cannot be 50000.
GO
RAISERROR(50000, 16, 1);
-- expect error 2732 16 1 Error number 50000 is invalid.

-- "BEGIN TRY { sql_statement | statement_block } END TRY BEGIN CATCH [ { sql_statement | statement_block } ] END CATCH".
-- case: nothing_to_try
BEGIN TRY
END TRY
BEGIN CATCH
    SELECT 1;
END CATCH;
-- expect error 102 15 1 Incorrect syntax near 'TRY'.
GO
BEGIN TRY
    SELECT 1 AS a;
END TRY
BEGIN CATCH
END CATCH;
-- expect row: 1

-- case: nested_try
BEGIN TRY
    BEGIN TRY
        THROW 51000, N'inner', 1;
    END TRY
    BEGIN CATCH
        THROW 51001, N'outer', 1;
    END CATCH;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n, ERROR_MESSAGE() AS m;
END CATCH;
-- expect row: 51001 | 'outer'

-- case: after_catch_the_batch_goes_on
DECLARE @a INT;
BEGIN TRY
    SET @a = CAST('x' AS INT);
END TRY
BEGIN CATCH
END CATCH;
SELECT 'went on' AS a, ERROR_NUMBER() AS n;
-- expect row: 'went on' | NULL

-- case: a_missing_table_is_not_caught_at_its_own_level
BEGIN TRY
    SELECT * FROM [$(s)].nope;
END TRY
BEGIN CATCH
    SELECT 'caught' AS a;
END CATCH;
-- expect error 208 16 1 Invalid object name '$(s).nope'.

-- case: a_missing_table_is_caught_one_level_up
CREATE PROCEDURE [$(s)].p AS SELECT * FROM [$(s)].nope;
GO
BEGIN TRY
    EXEC [$(s)].p;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n;
END CATCH;
-- expect row: 208

-- case: at_at_error_lasts_one_statement
CREATE TABLE [$(s)].t (a INT PRIMARY KEY);
INSERT [$(s)].t VALUES (1);
GO
INSERT [$(s)].t VALUES (1);
SELECT @@ERROR AS a;
SELECT @@ERROR AS b;
-- expect error 2627 14 1
-- expect row: 2627
-- expect set
-- expect row: 0

-- case: a_conversion_error_ends_the_batch
DECLARE @a INT;
SELECT 'reached' AS a;
SET @a = CAST('x' AS INT);
SELECT 'not reached' AS a;
-- expect error 245 16 1
-- expect row: 'reached'

-- case: division_by_zero_does_not_end_the_batch
DECLARE @a INT = 5;
SET @a = 1 / 0;
SELECT @a AS a;
-- expect error 8134 16 1
-- expect row: 5

-- case: a_procedure_error_without_try_lets_the_caller_go_on
CREATE PROCEDURE [$(s)].p AS BEGIN RAISERROR(N'inside', 16, 1); SELECT 'still inside' AS a; RETURN 5; END;
GO
DECLARE @r INT;
EXEC @r = [$(s)].p;
SELECT @r AS r;
-- expect error 50000 16 1 inside
-- expect row: 'still inside'
-- expect set
-- expect row: 5

-- case: catch_in_the_procedure_hides_the_error
CREATE PROCEDURE [$(s)].p AS
BEGIN TRY
    THROW 51000, N'hidden', 1;
END TRY
BEGIN CATCH
    RETURN ERROR_NUMBER();
END CATCH;
GO
DECLARE @r INT;
EXEC @r = [$(s)].p;
SELECT @r AS r;
-- expect row: 51000

-- "The width (or precision) is specified by the associated argument" (RAISERROR, type specifications; the
-- two messages of its example B are the same).
-- case: raiserror_takes_width_and_precision_from_arguments
RAISERROR (N'<<%*.*s>>', 10, 1, 7, 3, N'abcde');
RAISERROR (N'<<%7.3s>>', 10, 1, N'abcde');
-- expect info <<    abc>>

-- A statement that writes and fails by its rows is taken back, and a message says so. @@ERROR stays that of
-- the error. With XACT_ABORT ON the batch ends instead, and in TRY the error is caught: no message.
-- case: the_statement_has_been_terminated
CREATE TABLE [$(s)].t (a INT NOT NULL PRIMARY KEY, b VARCHAR(2), CHECK (a < 10));
INSERT [$(s)].t VALUES (1, 'a');
GO
INSERT [$(s)].t VALUES (1, 'b');
SELECT @@ERROR;
-- expect error 2627 14 1
-- expect info The statement has been terminated.
GO
UPDATE [$(s)].t SET a = 1 / 0;
-- expect error 8134 16 1
-- expect info The statement has been terminated.
GO
UPDATE [$(s)].t SET a = 10;
-- expect error 547 16 0
-- expect info The statement has been terminated.
GO
INSERT [$(s)].t (b) VALUES ('x');
-- expect error 515 16 2
-- expect info The statement has been terminated.

-- case: at_at_error_after_a_terminated_statement
CREATE TABLE [$(s)].t (a INT NOT NULL PRIMARY KEY);
INSERT [$(s)].t VALUES (1);
DECLARE @e INT;
INSERT [$(s)].t VALUES (1);
SET @e = @@ERROR;
IF @e <> 2627 THROW 50001, N'another number', 1;
-- expect error 2627 14 1

-- case: kill_of_the_own_session
DECLARE @kill NVARCHAR(20) = CONCAT(N'KILL ', @@SPID);
EXEC (@kill);
-- expect error 6104 16 1 Cannot use KILL to kill your own process.

-- case: kill_of_what_is_no_session
KILL 0;
-- expect error 6101 16 1
GO
KILL 50;
-- expect error 6107 16 1 Only user processes can be killed.
GO
KILL 32000;
-- expect error 6106 16 2
GO
BEGIN TRAN;
KILL 32000;
-- expect error 6115 16 1 KILL command cannot be used inside user transactions.

-- case: a_message_has_2047_characters
SELECT LEN(FORMATMESSAGE('%s', REPLICATE('x', 5000))) AS n, RIGHT(FORMATMESSAGE('%s', REPLICATE('x', 5000)), 4) AS e,
       LEN(FORMATMESSAGE('%s', REPLICATE('x', 2047))) AS whole;
-- expect row: 2047 | 'x...' | 2047
GO
DECLARE @long NVARCHAR(MAX) = REPLICATE(CAST('y' AS NVARCHAR(MAX)), 5000);
BEGIN TRY
    RAISERROR('%s', 16, 1, @long);
END TRY
BEGIN CATCH
    SELECT LEN(ERROR_MESSAGE()) AS n, RIGHT(ERROR_MESSAGE(), 4) AS e;
END CATCH;
-- expect row: 2047 | 'y...'

-- case: a_message_about_a_long_value_can_be_read
BEGIN TRY
    SELECT CAST(REPLICATE('z', 8000) AS INT) AS n;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS e, CASE WHEN LEN(ERROR_MESSAGE()) <= 4000 THEN 1 ELSE 0 END AS fits;
END CATCH;
-- expect set
-- expect rows: none
-- expect row: 245 | 1
