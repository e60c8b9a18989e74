-- Shows a call of a procedure that does not exist.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].binding_missing_procedure
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)].missing_procedure; -- wrong: binding: [dx].[missing_procedure]
END;
