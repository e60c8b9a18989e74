-- Shows a COMMIT on one branch only.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].transaction_open_at_end
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRANSACTION;
    IF @id = 1
    BEGIN
        COMMIT TRANSACTION;
    END;
    SELECT 1 AS x; -- wrong: transaction: leaves its transaction open
END;
