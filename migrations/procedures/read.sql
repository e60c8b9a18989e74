-- Returns the history of an instance's latest execution.
--
-- Callers   Provider::read, ProviderAdmin::read_history (the two mean the same)
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--
-- Called by every waiting client, so it is a few seeks and sends what the caller says it does not
-- have: see _read_history. What it has of an older execution does not count. An unknown instance has
-- an empty history, and so has one that is being deleted, whatever is left of it.
--
-- The custom status comes along once the instance has ended, to a caller that remembers: whoever waits asks for it
-- next, and it cannot change any more. It is copied before it is sent, as in get_custom_status.
CREATE OR ALTER PROCEDURE [$(schema)].[read]
    @instance_id        NVARCHAR(4000),
    @known_execution_id BIGINT = NULL,
    @known_first_turn   UNIQUEIDENTIFIER = NULL,
    @known_event_id     BIGINT = NULL,
    @known_last_turn    UNIQUEIDENTIFIER = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @execution_id BIGINT = 1, @is_hidden BIT = 0, @has_ended BIT = 0,
            @custom_status NVARCHAR(MAX), @custom_status_version BIGINT;

    SELECT TOP (1) @execution_id = e.execution_id, @is_hidden = CASE WHEN e.status = N'Deleting' THEN 1 ELSE 0 END,
           @has_ended = CASE WHEN e.status IN (N'Completed', N'Failed') THEN 1 ELSE 0 END
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
    ORDER BY e.execution_id DESC;

    IF @known_execution_id <> @execution_id
    BEGIN
        SET @known_event_id = CASE WHEN @known_event_id IS NOT NULL THEN 0 END;
    END;

    EXEC [$(schema)]._read_history
        @instance_id = @instance_id, @execution_id = @execution_id,
        @known_first_turn = @known_first_turn, @known_event_id = @known_event_id,
        @known_last_turn = @known_last_turn, @is_hidden = @is_hidden;

    IF @has_ended = 1 AND @known_event_id IS NOT NULL
    BEGIN
        SELECT @custom_status = i.custom_status, @custom_status_version = i.custom_status_version
        FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
        WHERE  i.instance_id = @instance_id
          AND  i.current_execution_id = @execution_id
          AND  i.status IN (N'Completed', N'Failed');

        SELECT @custom_status AS custom_status, @custom_status_version AS custom_status_version
        WHERE  @custom_status_version IS NOT NULL;
    END;
END;
