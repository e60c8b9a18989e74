-- Appends events to an execution's history outside a turn.
--
-- Callers   Provider::append_with_execution (tests and fault injection)
-- Locks     executions: one row; history: the new rows
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
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @event_count BIGINT = 0, @bad_events BIGINT = 0;

    IF @history IS NULL
    BEGIN
        RETURN;
    END;

    SELECT @event_count = COUNT_BIG(*),
           @bad_events = SUM(CASE WHEN j.event_id >= 1 THEN 0 ELSE 1 END)
    FROM   OPENJSON(@history) WITH (event_id BIGINT '$.event_id') AS j;

    IF @bad_events > 0
    BEGIN
        THROW 51005, N'an event has no event_id or one below 1; the runtime must number events from 1', 1;
    END;

    BEGIN TRY
        BEGIN TRANSACTION;

        UPDATE [$(schema)].executions
        SET    event_count = event_count + @event_count
        WHERE  instance_id = @instance_id
          AND  execution_id = @execution_id;

        INSERT INTO [$(schema)].history (instance_id, execution_id, event_id, payload_bytes, payload)
        SELECT @instance_id, @execution_id, j.event_id, j.payload_bytes, j.payload
        FROM   OPENJSON(@history)
               WITH (event_id BIGINT '$.event_id', payload_bytes BIGINT '$.payload_bytes',
                     payload NVARCHAR(MAX) '$.payload') AS j;

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
