-- Frees an instance's row and queues it for the first message that is left.
--
-- Callers   fetch_orchestration_item, ack_orchestration_item, abandon_orchestration_item, _park_orphan, _erase_instance,
--           each inside its transaction and holding the row
-- Locks     instance_locks: the row, already held; orchestrator_queue: read only
-- Throws    nothing
--
-- Messages up to @after_ms do not count: fetch parks the ones that belong to no orchestration. The
-- next message for the instance queues the row again, and then all of them are fetched together.
-- Nobody can add a message meanwhile, because that takes the row's lock first.
--
-- No message is visible before @from_ms. It is the row's messages_from_ms, unless the caller has just put one in
-- that is earlier, and 0 from those who do not know. What is left says from where the next turn looks; where nothing is left that is
-- now, and whoever posts earlier, because the clock was set back, lowers it: see _post_message.
--
-- The row comes to lie a second back at most, however old its message is: fetches look from where claims have got to, and
-- look that far below it once a second (see fetch_orchestration_item).
CREATE OR ALTER PROCEDURE [$(schema)]._release_instance
    @instance_id    NVARCHAR(4000),
    @after_ms       BIGINT = -1,
    @pinned_version BIGINT = NULL,
    @from_ms        BIGINT = 0
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @next_ms BIGINT, @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()),
            @first_ms BIGINT = CASE WHEN @after_ms >= @from_ms THEN @after_ms + 1 ELSE @from_ms END, @oldest_ms BIGINT;

    SET @oldest_ms = @now_ms - 1000;

    SELECT TOP (1) @next_ms = q.visible_at_ms
    FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
    WHERE  q.instance_id = @instance_id
      AND  q.visible_at_ms >= @first_ms
    ORDER BY q.visible_at_ms
    OPTION (KEEPFIXED PLAN);

    UPDATE l
    SET    lock_token = NULL,
           messages_from_ms = CASE WHEN @after_ms >= 0 THEN @from_ms ELSE COALESCE(@next_ms, @now_ms) END,
           pinned_version = COALESCE(@pinned_version, pinned_version),
           lane = CASE WHEN @next_ms IS NULL THEN -2 ELSE COALESCE(@pinned_version, pinned_version) END,
           not_before_ms = CASE WHEN @next_ms < @oldest_ms THEN @oldest_ms ELSE COALESCE(@next_ms, 9223372036854775807) END
    FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
    WHERE  instance_id = @instance_id;
END;
