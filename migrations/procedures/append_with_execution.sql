-- Appends events to an execution's history outside a turn.
--
-- Callers   Provider::append_with_execution (tests and fault injection)
-- Locks     executions: one row; history: the new rows and the first one
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id unusable
--           51005 an event has no id or an id below 1
--           51006 an event with this id is already stored
--
-- Creates neither an instance nor an execution. Not repeatable without harm being noticed: the
-- second call ends with 51006.
CREATE OR ALTER PROCEDURE [$(schema)].append_with_execution
    @instance_id  NVARCHAR(4000),
    @execution_id BIGINT,
    @history      NVARCHAR(MAX) = NULL
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

    DECLARE @event_count BIGINT = 0, @first_event_id BIGINT,
            @appended_by UNIQUEIDENTIFIER = NEWID();

    IF @history IS NULL
    BEGIN
        RETURN;
    END;

    EXEC [$(schema)]._check_history
        @history = @history, @event_count = @event_count OUTPUT, @first_event_id = @first_event_id OUTPUT;

    BEGIN TRY
        BEGIN TRANSACTION;

        UPDATE e
        SET    e.event_count = e.event_count + @event_count
        FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
        WHERE  e.instance_id = @instance_id
          AND  e.execution_id = @execution_id;

        EXEC [$(schema)]._append_history
            @instance_id = @instance_id, @execution_id = @execution_id, @history = @history,
            @appended_by = @appended_by, @is_turn = 0, @first_event_id = @first_event_id;

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0
        BEGIN
            ROLLBACK TRANSACTION;
        END;
        IF ERROR_NUMBER() = 2627
        BEGIN
            THROW 51006, N'duplicate event: this execution already has an event with this event_id', 1;
        END;
        THROW;
    END CATCH;
END;
