-- Shows a flag that lets a path reach COMMIT without a transaction.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].transaction_flag
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @begun BIT = 0;
    IF @id = 1
    BEGIN
        BEGIN TRANSACTION;
        SET @begun = 1;
    END;
    IF @begun = 0
    BEGIN
        COMMIT TRANSACTION; -- wrong: transaction: COMMIT on a path with no open transaction
        RETURN; -- wrong: transaction: ended its caller's transaction
    END;
    COMMIT TRANSACTION;
END;
