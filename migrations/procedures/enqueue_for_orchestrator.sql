-- Puts a message for an instance into the queue, visible after the delay.
--
-- Callers   Provider::enqueue_for_orchestrator, cancel_instance, raise_event
-- Locks     instance_locks: the instance's row, then orchestrator_queue: the new row, both through _post_message
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id unusable
--
-- Never creates an instance. A call repeated after an unknown outcome may put the message in
-- twice: the first copy may be consumed before the second arrives, so no key could prevent it.
-- The client therefore repeats the call only after an error that says it was rolled back.
CREATE OR ALTER PROCEDURE [$(schema)].enqueue_for_orchestrator
    @instance_id   NVARCHAR(4000),
    @kind          NVARCHAR(100),
    @payload       NVARCHAR(MAX),
    @delay_ms      BIGINT = NULL,
    @visible_at_ms BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @attempt INT = 0, @posted BIT = 0;

    WHILE @posted = 0
    BEGIN
        BEGIN TRY
            SET @attempt = @attempt + 1;
            BEGIN TRANSACTION;
            EXEC [$(schema)]._post_message
                @instance_id = @instance_id, @kind = @kind, @payload = @payload, @attempt = @attempt,
                @posted = @posted OUTPUT, @delay_ms = @delay_ms, @visible_at_ms = @visible_at_ms;
            IF @posted = 1
            BEGIN
                COMMIT TRANSACTION;
            END
            ELSE
            BEGIN
                ROLLBACK TRANSACTION;
            END;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0
            BEGIN
                ROLLBACK TRANSACTION;
            END;
            -- 2627: another caller created the instance's row first. It is there now.
            IF ERROR_NUMBER() <> 2627
            BEGIN
                THROW;
            END;
        END CATCH;
    END;
END;
