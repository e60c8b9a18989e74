-- Counts the messages and activities that nobody holds.
--
-- Callers   ProviderAdmin::get_queue_depths (at every start of a runtime, then once a minute)
-- Locks     none while counting: NOLOCK, so that it neither waits for the queues nor holds them up;
--           metrics_cache: one row for a moment, when a large count begins and ends
-- Throws    nothing
--
-- Up to 5,000 entries of each queue are counted at every call, and if that is all the answer is exact. Where there
-- is more, every process would count it once a minute; so a count is kept, and taken by everybody for @max_age_ms.
-- Whoever finds it older counts anew, one at a time: the others are content with the old one, and age_ms says how
-- old it is. One who dies over it is waited for half a minute. @max_age_ms = 0 counts in any case.
-- Within a caller's transaction it counts and keeps nothing: others would wait for that row until the transaction ends.
--
-- Both queues are counted in narrow indexes, without what the messages carry. The cost grows with the backlog, and
-- that is the cheapest there is: a counter would be one row that every enqueue, fetch and ack must write, and so a
-- queue of its own; the server's own row counts need the right to view the database's state, and know nothing of
-- rows that are held.
CREATE OR ALTER PROCEDURE [$(schema)].get_queue_depths
    @max_age_ms BIGINT = 30000
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @few BIGINT = 5000, @messages BIGINT, @activities BIGINT, @message_rows BIGINT, @activity_rows BIGINT,
            @now_ms BIGINT, @counted_at_ms BIGINT, @age_ms BIGINT = 0, @is_mine BIT = 0;

    SELECT @message_rows = COUNT_BIG(*), @messages = COALESCE(SUM(CASE WHEN c.lock_token IS NULL THEN CAST(1 AS BIGINT) ELSE 0 END), 0)
    FROM   (SELECT TOP (@few + 1) q.lock_token
            FROM   [$(schema)].orchestrator_queue AS q WITH (NOLOCK, INDEX(ix_orchestrator_queue_depth))) AS c;

    SELECT @activity_rows = COUNT_BIG(*), @activities = COALESCE(SUM(CASE WHEN c.lock_token IS NULL THEN CAST(1 AS BIGINT) ELSE 0 END), 0)
    FROM   (SELECT TOP (@few + 1) w.lock_token
            FROM   [$(schema)].worker_queue AS w WITH (NOLOCK, INDEX(ix_worker_queue_ready))) AS c;

    IF @message_rows > @few OR @activity_rows > @few
    BEGIN
        SELECT @counted_at_ms = m.counted_at_ms, @messages = m.orchestrator_queue, @activities = m.worker_queue
        FROM   [$(schema)].metrics_cache AS m WITH (NOLOCK, INDEX(pk_metrics_cache), FORCESEEK)
        WHERE  m.question = N'get_queue_depths';

        SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        SET @age_ms = ABS(@now_ms - @counted_at_ms);

        IF @messages IS NULL OR @age_ms >= @max_age_ms
        BEGIN
            IF @@TRANCOUNT = 0
            BEGIN
                UPDATE m
                SET    m.counting_until_ms = @now_ms + 30000
                FROM   [$(schema)].metrics_cache AS m WITH (INDEX(pk_metrics_cache), FORCESEEK, ROWLOCK)
                WHERE  m.question = N'get_queue_depths'
                  AND  m.counted_at_ms = @counted_at_ms
                  AND  m.counting_until_ms NOT BETWEEN @now_ms + 1 AND @now_ms + 30000;
                SET @is_mine = @@ROWCOUNT;
            END;

            IF @is_mine = 1 OR @@TRANCOUNT > 0 OR @messages IS NULL OR @max_age_ms <= 0
            BEGIN
                SELECT @messages = COUNT_BIG(*)
                FROM   [$(schema)].orchestrator_queue AS q WITH (NOLOCK, INDEX(ix_orchestrator_queue_depth))
                WHERE  q.lock_token IS NULL;

                SELECT @activities = COUNT_BIG(*)
                FROM   [$(schema)].worker_queue AS w WITH (NOLOCK, INDEX(ix_worker_queue_ready))
                WHERE  w.lock_token IS NULL;

                -- Not over what somebody else has counted meanwhile.
                IF @@TRANCOUNT = 0
                BEGIN
                    UPDATE m
                    SET    m.counted_at_ms = @now_ms,
                           m.counting_until_ms = 0,
                           m.orchestrator_queue = @messages,
                           m.worker_queue = @activities
                    FROM   [$(schema)].metrics_cache AS m WITH (INDEX(pk_metrics_cache), FORCESEEK, ROWLOCK)
                    WHERE  m.question = N'get_queue_depths'
                      AND  m.counted_at_ms = @counted_at_ms;
                END;
                SET @age_ms = 0;
            END;
        END;
    END;

    SELECT @messages AS orchestrator_queue, @activities AS worker_queue, @age_ms AS age_ms;
END;
