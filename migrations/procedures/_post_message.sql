-- Puts one message into an instance's queue and makes the instance ready for it.
--
-- Callers   enqueue_for_orchestrator, ack_work_item, both inside their transaction
-- Locks     instance_locks: the instance's row (update), held to the caller's commit
--           orchestrator_queue: the new row
-- Throws    2627 when another caller created the instance's row at the same moment; the caller
--           rolls back and starts again, and then finds the row
--
-- The row of instance_locks is locked before the message goes in. The turn that is about to end on
-- this instance therefore either sees the message when it looks for what is left, or ends before
-- the message arrives and leaves a free row behind; the message is forgotten in neither case.
-- A held row is left alone: its ack or abandon looks for messages, and its lease ends by itself.
CREATE OR ALTER PROCEDURE [$(schema)]._post_message
    @instance_id   NVARCHAR(4000),
    @kind          NVARCHAR(100),
    @payload       NVARCHAR(MAX),
    @delay_ms      BIGINT = NULL,
    @visible_at_ms BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @lane BIGINT, @now_ms BIGINT, @visible_ms BIGINT;

    SELECT @lane = l.lane
    FROM   [$(schema)].instance_locks AS l
           WITH (INDEX(pk_instance_locks), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  l.instance_id = @instance_id;

    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    SET @visible_ms = @now_ms + COALESCE(@delay_ms, 0);
    IF @visible_at_ms > @visible_ms
    BEGIN
        SET @visible_ms = @visible_at_ms;
    END;

    IF @lane IS NULL
    BEGIN
        INSERT INTO [$(schema)].instance_locks WITH (ROWLOCK)
            (instance_id, lane, not_before_ms, lock_token, pinned_version)
        VALUES (@instance_id, -1, @visible_ms, NULL, -1);
    END
    ELSE
    BEGIN
        UPDATE l
        SET    lane = pinned_version,
               not_before_ms = @visible_ms
        FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
        WHERE  instance_id = @instance_id
          AND  lock_token IS NULL
          AND  not_before_ms > @visible_ms;
    END;

    INSERT INTO [$(schema)].orchestrator_queue WITH (ROWLOCK)
        (instance_id, visible_at_ms, kind, lock_token, attempt_count, payload)
    VALUES (@instance_id, @visible_ms, @kind, NULL, 0, @payload);
END;
