-- Shows a helper that ends its caller's transaction.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)]._transaction_of_caller
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF @@TRANCOUNT > 0
    BEGIN
        ROLLBACK TRANSACTION;
    END;
    SELECT 1 AS x; -- wrong: transaction: ended its caller's transaction
END;
