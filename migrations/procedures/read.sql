-- Returns the history of an instance's latest execution.
--
-- Callers   Provider::read, ProviderAdmin::read_history (the two mean the same)
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--
-- Called for every activity and by every waiting client, so it is two seeks. An unknown instance
-- has an empty history.
CREATE OR ALTER PROCEDURE [$(schema)].[read]
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @execution_id BIGINT = 1;

    SELECT TOP (1) @execution_id = e.execution_id
    FROM   [$(schema)].executions AS e
    WHERE  e.instance_id = @instance_id
    ORDER BY e.execution_id DESC;

    SELECT h.event_id, h.payload
    FROM   [$(schema)].history AS h
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
    ORDER BY h.event_id;
END;
