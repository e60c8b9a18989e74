-- Shows COMMIT and ROLLBACK without a transaction.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].transaction_never_begun
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @id = 1
    BEGIN
        COMMIT TRANSACTION; -- wrong: transaction: COMMIT on a path with no open transaction
    END;
    ROLLBACK TRANSACTION; -- wrong: transaction: ROLLBACK on a path with no open transaction -- wrong: transaction: ended its caller's transaction
END;
