-- Right: repeats its transaction until a flag says that it went through.
--
-- Callers   self-test
-- Locks     instances: the new row
-- Throws    51003 inside a transaction
CREATE OR ALTER PROCEDURE [$(schema)].right_retry
    @instance_id  NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51003, N'call it outside a transaction', 1;
    END;

    DECLARE @locked BIT = 0;

    WHILE @locked = 0
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;
            INSERT INTO [$(schema)].instances WITH (ROWLOCK) (instance_id) VALUES (LEFT(@instance_id, 200));
            SET @locked = 1;
        END TRY
        BEGIN CATCH
            IF XACT_STATE() <> 0
            BEGIN
                ROLLBACK TRANSACTION;
            END;
            IF @@TRANCOUNT > 0 OR ERROR_NUMBER() <> 2627
            BEGIN
                THROW;
            END;
        END CATCH;
    END;

    COMMIT TRANSACTION;
END;
