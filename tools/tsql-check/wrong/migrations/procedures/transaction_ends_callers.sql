-- Shows a rollback that takes the caller's transaction with it.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].transaction_ends_callers
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRANSACTION;
    IF @id = 1
    BEGIN
        ROLLBACK TRANSACTION;
        RETURN; -- wrong: transaction: ended its caller's transaction
    END;
    COMMIT TRANSACTION;
END;
