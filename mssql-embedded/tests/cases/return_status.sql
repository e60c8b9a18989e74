-- A procedure called by RPC ends with its return status and its output parameters, after all results. RETURN
-- without a value is 0; an error that ends the procedure alone leaves a negative status.

-- case: return_without_value_is_zero
CREATE PROCEDURE [$(s)].p AS BEGIN SELECT 1 AS a; RETURN; END;
GO
EXEC [$(s)].p
-- expect columns: a int
-- expect row: 1
-- expect status 0

-- case: return_value
CREATE PROCEDURE [$(s)].p @n INT AS RETURN @n * 2;
GO
EXEC [$(s)].p @n = 21
-- expect status 42
GO
EXEC [$(s)].p -21
-- expect status -42

-- case: return_null_is_zero_with_a_message
CREATE PROCEDURE [$(s)].p AS DECLARE @n INT; RETURN @n;
GO
EXEC [$(s)].p
-- expect status 0
-- expect info The 'p' procedure attempted to return a status of NULL, which is not allowed. A status of 0 will be returned instead.

-- case: output_parameters
CREATE PROCEDURE [$(s)].p @in INT, @out INT OUTPUT, @text NVARCHAR(10) = N'none' OUTPUT AS
BEGIN SET @out = @in + ISNULL(@out, 0); SET @text = @text + N'!'; RETURN 7; END;
GO
EXEC [$(s)].p @in = 1, @out = 41 OUTPUT, @text = N'x' OUTPUT
-- expect output @out = 42
-- expect output @text = N'x!'
-- expect status 7

-- case: status_after_a_statement_error
CREATE PROCEDURE [$(s)].p AS BEGIN SELECT 1 / 0; RETURN 5; END;
GO
EXEC [$(s)].p
-- expect status 5
-- expect error 8134 16 1 Divide by zero error encountered.

-- case: exec_into_a_variable
CREATE PROCEDURE [$(s)].p AS RETURN 3;
GO
DECLARE @rc INT; EXEC @rc = [$(s)].p; SELECT @rc;
-- expect row: 3

-- case: missing_object_ends_the_procedure_with_minus_6
CREATE PROCEDURE [$(s)].p AS BEGIN SELECT 1 FROM [$(s)].missing; RETURN 5; END;
GO
DECLARE @rc INT = 99; EXEC @rc = [$(s)].p; SELECT @rc;
-- expect error 208 16 1 Invalid object name
-- expect row: -6

-- case: large_output_parameters_come_last
CREATE PROCEDURE [$(s)].p @long NVARCHAR(MAX) OUTPUT, @short INT OUTPUT AS
BEGIN SET @long = REPLICATE(CAST(@long AS NVARCHAR(MAX)), 3); SET @short = 5; END;
GO
EXEC [$(s)].p @long = N'ab' OUTPUT, @short = 0 OUTPUT
-- expect output @short = 5
-- expect output @long = N'ababab'
-- expect status 0
