-- Shows a statement without its semicolon.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].semicolon_missing
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT 1 AS x -- wrong: semicolon: does not end with a semicolon
    SELECT 2 AS x;
END;
