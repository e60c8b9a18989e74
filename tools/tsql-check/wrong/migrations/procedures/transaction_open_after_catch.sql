-- Shows a CATCH that swallows the error and keeps the transaction.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].transaction_open_after_catch
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRY -- wrong: transaction: leaves its transaction open
        BEGIN TRANSACTION;
        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        SELECT 1 AS x;
    END CATCH;
END;
