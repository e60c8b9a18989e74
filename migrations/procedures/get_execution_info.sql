-- Returns what is known about an execution. The instance itself may be unknown.
--
-- Callers   ProviderAdmin::get_execution_info
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--           51008 no such execution
CREATE OR ALTER PROCEDURE [$(schema)].get_execution_info
    @instance_id  NVARCHAR(4000),
    @execution_id BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    IF NOT EXISTS (SELECT 1
                   FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
                   WHERE  e.instance_id = @instance_id
                     AND  e.execution_id = @execution_id)
    BEGIN
        THROW 51008, N'execution not found', 1;
    END;

    SELECT e.execution_id, e.status, e.output, e.started_at_ms, e.completed_at_ms,
           (SELECT COUNT_BIG(*)
            FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
            WHERE  h.instance_id = e.instance_id
              AND  h.execution_id = e.execution_id) AS event_count
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id = @execution_id;
END;
