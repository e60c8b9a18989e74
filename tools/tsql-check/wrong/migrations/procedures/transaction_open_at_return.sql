-- Shows a RETURN that forgets its transaction.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].transaction_open_at_return
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRANSACTION;
    IF @id = 1
    BEGIN
        RETURN; -- wrong: transaction: leaves its transaction open
    END;
    COMMIT TRANSACTION;
END;
