-- Shows a header that leaves out what its helper locks.
--
-- Callers   self-test
-- Locks     none -- wrong: header: Locks names neither _forgotten_helper nor instances
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].header_forgets_helper
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._forgotten_helper @instance_id = N'x';
END;
