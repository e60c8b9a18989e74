-- Returns what is known about an execution. The instance itself may be unknown.
--
-- Callers   ProviderAdmin::get_execution_info
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--           51008 no such execution
--
-- The output is copied before it is sent, as in get_custom_status. The events are counted in the same statement, so that
-- their number belongs to the status; executions come before history in everybody's order.
CREATE OR ALTER PROCEDURE [$(schema)].get_execution_info
    @instance_id  NVARCHAR(4000),
    @execution_id BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @status NVARCHAR(50), @output NVARCHAR(MAX), @started_at_ms BIGINT, @completed_at_ms BIGINT, @event_count BIGINT;

    SELECT @status = e.status, @output = e.output, @started_at_ms = e.started_at_ms, @completed_at_ms = e.completed_at_ms,
           @event_count = (SELECT COUNT_BIG(*)
                           FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
                           WHERE  h.instance_id = e.instance_id
                             AND  h.execution_id = e.execution_id)
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id = @execution_id;

    IF @status IS NULL
    BEGIN
        THROW 51008, N'execution not found', 1;
    END;

    SELECT @execution_id AS execution_id, @status AS status, @output AS output, @started_at_ms AS started_at_ms,
           @completed_at_ms AS completed_at_ms, @event_count AS event_count;
END;
