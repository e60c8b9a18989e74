-- Shows a table that the order does not know.
--
-- Callers   self-test
-- Locks     ledger: one row
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].lock_order_unknown_table -- wrong: lock-order: the table ledger has no place in the lock order
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRANSACTION;
    DELETE FROM [$(schema)].ledger WHERE number = 1;
    COMMIT TRANSACTION;
END;
