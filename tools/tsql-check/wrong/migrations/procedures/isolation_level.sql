-- Shows a procedure that runs under whatever level the connection was left with.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].isolation_level
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SELECT 1 AS x; -- wrong: isolation-level: READ COMMITTED does not follow the SET options
END;
