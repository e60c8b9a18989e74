-- Shows a loop that opens more transactions than it ends.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].transaction_in_loop
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    WHILE @id < 10
    BEGIN
        BEGIN TRANSACTION; -- wrong: transaction: repeats in a loop
        SET @id = @id + 1;
    END;
    SELECT 1 AS x; -- wrong: transaction: leaves its transaction open
END;
