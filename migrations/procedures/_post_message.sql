-- Puts one message into an instance's queue and makes the instance ready for it.
--
-- Callers   enqueue_for_orchestrator, ack_work_item, both inside their transaction
-- Locks     instance_locks: the instance's row (shared or exclusive), held to the caller's commit
--           orchestrator_queue: the new row
-- Throws    2627 when another caller created the instance's row at the same moment; the caller
--           rolls back and starts again, and then finds the row
--
-- The row of instance_locks is locked before the message goes in. The turn that is about to end on
-- this instance therefore either sees the message when it looks for what is left, or ends before
-- the message arrives and leaves a free row behind; the message is forgotten in neither case.
-- A held row is left alone: its ack or abandon looks for messages, and its lease ends by itself. So is a free one
-- that queues for an earlier message. Unless the clock was set back: turns look for messages from messages_from_ms on, and the
-- one that comes to lie before it lowers it.
--
-- Whoever leaves the row alone shares it, so that any number of completions for one instance become durable in one
-- flush of the log. REPEATABLEREAD takes a shared lock whatever the database's options and keeps it to the commit
-- (table hints; optimized locking, which honours it), also where a READ COMMITTED reader would save itself the lock
-- (https://sql.kiwi/2010/11/read-committed-shared-locks-and-rollbacks). Everybody else who writes to the row, or
-- looks for messages that may be left, has it exclusively before touching anything more: a turn that came with
-- an update lock would share the row too, miss the message in flight, or wait at its end for a poster that waits for it.
--
-- Nobody goes from shared to exclusive in one transaction; two who did would wait for each other. @posted = 0 asks the
-- caller to roll back and call again with the next @attempt. Odd ones share the row, even ones take it for themselves.
-- The second hands back a row that needs no change any more, because others want to share it; the fourth does not.
CREATE OR ALTER PROCEDURE [$(schema)]._post_message
    @instance_id   NVARCHAR(4000),
    @kind          NVARCHAR(100),
    @payload       NVARCHAR(MAX),
    @attempt       INT,
    @posted        BIT OUTPUT,
    @delay_ms      BIGINT = NULL,
    @visible_at_ms BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @shared BIT = @attempt % 2, @ready_ms BIGINT, @now_ms BIGINT, @visible_ms BIGINT, @in_time BIT = 0;

    SET @posted = 0;

    -- A held row is in time for every message that its turns can find.
    IF @shared = 1
    BEGIN
        SELECT @ready_ms = CASE WHEN l.lock_token IS NULL THEN l.not_before_ms ELSE l.messages_from_ms END
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK, REPEATABLEREAD)
        WHERE  l.instance_id = @instance_id;
    END
    ELSE
    BEGIN
        SELECT @ready_ms = CASE WHEN l.lock_token IS NULL THEN l.not_before_ms ELSE l.messages_from_ms END
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  l.instance_id = @instance_id;
    END;

    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    SET @visible_ms = @now_ms + COALESCE(@delay_ms, 0);
    IF @visible_at_ms > @visible_ms
    BEGIN
        SET @visible_ms = @visible_at_ms;
    END;
    IF @ready_ms <= @visible_ms
    BEGIN
        SET @in_time = 1;
    END;

    IF @in_time <> @shared AND (@shared = 1 OR @attempt < 4)
    BEGIN
        RETURN;
    END;

    IF @ready_ms IS NULL
    BEGIN
        INSERT INTO [$(schema)].instance_locks WITH (ROWLOCK)
            (instance_id, lane, not_before_ms, pinned_version)
        VALUES (@instance_id, -1, @visible_ms, -1);
    END
    ELSE IF @in_time = 0
    BEGIN
        UPDATE l
        SET    lane = CASE WHEN lock_token IS NULL THEN pinned_version ELSE lane END,
               not_before_ms = CASE WHEN lock_token IS NULL THEN @visible_ms ELSE not_before_ms END,
               messages_from_ms = CASE WHEN messages_from_ms > @visible_ms THEN @visible_ms ELSE messages_from_ms END
        FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
        WHERE  instance_id = @instance_id;
    END;

    INSERT INTO [$(schema)].orchestrator_queue WITH (ROWLOCK)
        (instance_id, visible_at_ms, kind, attempt_count, payload)
    VALUES (@instance_id, @visible_ms, @kind, 0, @payload);

    SET @posted = 1;
END;
