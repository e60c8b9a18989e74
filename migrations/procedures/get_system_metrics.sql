-- Counts instances by status, executions and events.
--
-- Callers   ProviderAdmin::get_system_metrics (at every start of a runtime, then once a minute)
-- Locks     none: NOLOCK, so that counting neither waits for the queues nor holds them up
-- Throws    nothing
--
-- Two narrow indexes are read, one entry per instance and one per execution: instances carry the
-- status of their current execution, executions the number of their events. History is not touched.
-- A count may include work that is about to be rolled back, which a gauge can bear.
CREATE OR ALTER PROCEDURE [$(schema)].get_system_metrics
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @instances BIGINT, @running BIGINT, @completed BIGINT, @failed BIGINT, @executions BIGINT,
            @events BIGINT;

    SELECT @instances = COUNT_BIG(*),
           @running = SUM(CASE WHEN i.status = N'Running' THEN CAST(1 AS BIGINT) ELSE 0 END),
           @completed = SUM(CASE WHEN i.status = N'Completed' THEN CAST(1 AS BIGINT) ELSE 0 END),
           @failed = SUM(CASE WHEN i.status = N'Failed' THEN CAST(1 AS BIGINT) ELSE 0 END)
    FROM   [$(schema)].instances AS i WITH (NOLOCK, INDEX(ix_instances_status));

    SELECT @executions = COUNT_BIG(*), @events = SUM(e.event_count)
    FROM   [$(schema)].executions AS e WITH (NOLOCK, INDEX(ix_executions_status));

    SELECT @instances AS total_instances,
           @executions AS total_executions,
           COALESCE(@running, 0) AS running_instances,
           COALESCE(@completed, 0) AS completed_instances,
           COALESCE(@failed, 0) AS failed_instances,
           COALESCE(@events, 0) AS total_events;
END;
