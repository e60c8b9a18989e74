-- Right: the one procedure that may wait.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].wait_for_work
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    WAITFOR DELAY '00:00:00.015';
END;
