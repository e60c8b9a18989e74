-- Counts instances by status, executions and events.
--
-- Callers   ProviderAdmin::get_system_metrics (at every start of a runtime, then once a minute)
-- Locks     none while counting: NOLOCK, so that it neither waits for the queues nor holds them up;
--           metrics_cache: one row for a moment, when a large count begins and ends
-- Throws    nothing
--
-- Two narrow indexes are read, one entry per instance and one per execution: instances carry the
-- status of their current execution, executions the number of their events. History is not touched.
-- A count may include work that is about to be rolled back, which a gauge can bear.
--
-- Up to 5,000 entries of each are counted at every call; where there is more, a count is kept and taken by
-- everybody for @max_age_ms. See get_queue_depths.
CREATE OR ALTER PROCEDURE [$(schema)].get_system_metrics
    @max_age_ms BIGINT = 30000
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @few BIGINT = 5000, @instances BIGINT, @running BIGINT, @completed BIGINT, @failed BIGINT,
            @executions BIGINT, @events BIGINT, @now_ms BIGINT, @counted_at_ms BIGINT, @age_ms BIGINT = 0, @is_mine BIT = 0;

    SELECT @instances = COUNT_BIG(*),
           @running = COALESCE(SUM(CASE WHEN c.status = N'Running' THEN CAST(1 AS BIGINT) ELSE 0 END), 0),
           @completed = COALESCE(SUM(CASE WHEN c.status = N'Completed' THEN CAST(1 AS BIGINT) ELSE 0 END), 0),
           @failed = COALESCE(SUM(CASE WHEN c.status = N'Failed' THEN CAST(1 AS BIGINT) ELSE 0 END), 0)
    FROM   (SELECT TOP (@few + 1) i.status
            FROM   [$(schema)].instances AS i WITH (NOLOCK, INDEX(ix_instances_status))) AS c;

    SELECT @executions = COUNT_BIG(*), @events = SUM(c.event_count)
    FROM   (SELECT TOP (@few + 1) e.event_count
            FROM   [$(schema)].executions AS e WITH (NOLOCK, INDEX(ix_executions_status))) AS c;

    IF @instances > @few OR @executions > @few
    BEGIN
        SELECT @counted_at_ms = m.counted_at_ms, @instances = m.total_instances, @executions = m.total_executions,
               @running = m.running_instances, @completed = m.completed_instances, @failed = m.failed_instances,
               @events = m.total_events
        FROM   [$(schema)].metrics_cache AS m WITH (NOLOCK, INDEX(pk_metrics_cache), FORCESEEK)
        WHERE  m.question = N'get_system_metrics';

        SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        SET @age_ms = ABS(@now_ms - @counted_at_ms);

        IF COALESCE(@counted_at_ms, 0) = 0 OR @age_ms >= @max_age_ms
        BEGIN
            IF @@TRANCOUNT = 0
            BEGIN
                UPDATE m
                SET    m.counting_until_ms = @now_ms + 30000
                FROM   [$(schema)].metrics_cache AS m WITH (INDEX(pk_metrics_cache), FORCESEEK, ROWLOCK)
                WHERE  m.question = N'get_system_metrics'
                  AND  m.counted_at_ms = @counted_at_ms
                  AND  m.counting_until_ms NOT BETWEEN @now_ms + 1 AND @now_ms + 30000;
                SET @is_mine = @@ROWCOUNT;
            END;

            IF @is_mine = 1 OR @@TRANCOUNT > 0 OR COALESCE(@counted_at_ms, 0) = 0 OR @max_age_ms <= 0
            BEGIN
                SELECT @instances = COUNT_BIG(*),
                       @running = COALESCE(SUM(CASE WHEN i.status = N'Running' THEN CAST(1 AS BIGINT) ELSE 0 END), 0),
                       @completed = COALESCE(SUM(CASE WHEN i.status = N'Completed' THEN CAST(1 AS BIGINT) ELSE 0 END), 0),
                       @failed = COALESCE(SUM(CASE WHEN i.status = N'Failed' THEN CAST(1 AS BIGINT) ELSE 0 END), 0)
                FROM   [$(schema)].instances AS i WITH (NOLOCK, INDEX(ix_instances_status));

                SELECT @executions = COUNT_BIG(*), @events = SUM(e.event_count)
                FROM   [$(schema)].executions AS e WITH (NOLOCK, INDEX(ix_executions_status));

                -- Not over what somebody else has counted meanwhile.
                IF @@TRANCOUNT = 0
                BEGIN
                    UPDATE m
                    SET    m.counted_at_ms = @now_ms,
                           m.counting_until_ms = 0,
                           m.total_instances = @instances,
                           m.total_executions = @executions,
                           m.running_instances = @running,
                           m.completed_instances = @completed,
                           m.failed_instances = @failed,
                           m.total_events = @events
                    FROM   [$(schema)].metrics_cache AS m WITH (INDEX(pk_metrics_cache), FORCESEEK, ROWLOCK)
                    WHERE  m.question = N'get_system_metrics'
                      AND  m.counted_at_ms = @counted_at_ms;
                END;
                SET @age_ms = 0;
            END;
        END;
    END;

    SELECT @instances AS total_instances,
           @executions AS total_executions,
           @running AS running_instances,
           @completed AS completed_instances,
           @failed AS failed_instances,
           COALESCE(@events, 0) AS total_events,
           @age_ms AS age_ms;
END;
