-- Returns the history of one execution, or what of it the caller does not have yet: see _read_history.
--
-- Callers   Provider::read_with_execution, ProviderAdmin::read_history_with_execution_id (the two
--           mean the same)
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--
-- Nothing of an execution that is being deleted, whatever is left of it.
CREATE OR ALTER PROCEDURE [$(schema)].read_with_execution
    @instance_id      NVARCHAR(4000),
    @execution_id     BIGINT,
    @known_first_turn UNIQUEIDENTIFIER = NULL,
    @known_event_id   BIGINT = NULL,
    @known_last_turn  UNIQUEIDENTIFIER = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @is_hidden BIT = 0;

    SELECT @is_hidden = CASE WHEN e.status = N'Deleting' THEN 1 ELSE 0 END
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id = @execution_id;

    EXEC [$(schema)]._read_history
        @instance_id = @instance_id, @execution_id = @execution_id,
        @known_first_turn = @known_first_turn, @known_event_id = @known_event_id,
        @known_last_turn = @known_last_turn, @is_hidden = @is_hidden;
END;
