-- Deals with visible messages that belong to no orchestration.
--
-- Callers   fetch_orchestration_item, inside its transaction and holding the instance's row
-- Locks     instance_locks: the row, already held; orchestrator_queue: the messages it drops
-- Throws    nothing
--
-- QueueMessages alone are dropped: nothing will ever ask for them. If anything else is among them
-- (a cancellation, a completion) its start may still be on the way, so all of them stay, and the
-- row is parked: it is not looked at again before another message becomes visible.
CREATE OR ALTER PROCEDURE [$(schema)]._park_orphan
    @instance_id NVARCHAR(4000),
    @now_ms      BIGINT,
    @dropped     INT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    SET @dropped = 0;

    IF NOT EXISTS (SELECT 1
                   FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
                   WHERE  q.instance_id = @instance_id
                     AND  q.visible_at_ms <= @now_ms
                     AND  q.kind <> N'QueueMessage')
    BEGIN
        DELETE q
        FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
        WHERE  q.instance_id = @instance_id
          AND  q.visible_at_ms <= @now_ms;
        SET @dropped = @@ROWCOUNT;
    END;

    IF EXISTS (SELECT 1
               FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
               WHERE  q.instance_id = @instance_id)
    BEGIN
        EXEC [$(schema)]._release_instance @instance_id = @instance_id, @after_ms = @now_ms;
    END
    ELSE
    BEGIN
        DELETE l
        FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
        WHERE  instance_id = @instance_id;
    END;
END;
