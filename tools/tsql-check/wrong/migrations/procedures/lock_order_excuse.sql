-- Shows an excuse for nothing.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
-- Order     there is a reason somewhere -- wrong: lock-order: but there is none
CREATE OR ALTER PROCEDURE [$(schema)].lock_order_excuse
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT 1 AS x;
END;
