-- Shows the three kinds of dynamic SQL.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].dynamic_sql
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @text NVARCHAR(MAX) = N'SELECT 1';
    EXEC (@text); -- wrong: dynamic-sql: EXEC of a string
    EXEC sys.sp_executesql @text; -- wrong: dynamic-sql: sp_executesql runs text -- wrong: binding: [sys].[sp_executesql]
    EXEC @text; -- wrong: dynamic-sql: the procedure's name comes from a variable
END;
