-- Shows a THROW before the rollback.
--
-- Callers   self-test
-- Locks     none
-- Throws    51003 too early
CREATE OR ALTER PROCEDURE [$(schema)].transaction_open_at_throw
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRANSACTION;
    IF @id = 1
    BEGIN
        THROW 51003, N'too early', 1; -- wrong: transaction: THROW on a path that leaves the transaction open
    END;
    COMMIT TRANSACTION;
END;
