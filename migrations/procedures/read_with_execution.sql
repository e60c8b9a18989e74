-- Returns the history of one execution.
--
-- Callers   Provider::read_with_execution, ProviderAdmin::read_history_with_execution_id (the two
--           mean the same)
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
CREATE OR ALTER PROCEDURE [$(schema)].read_with_execution
    @instance_id  NVARCHAR(4000),
    @execution_id BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    SELECT h.event_id, h.payload
    FROM   [$(schema)].history AS h
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
    ORDER BY h.event_id;
END;
