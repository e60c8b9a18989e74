-- Deletes everything of an instance, in the caller's transaction.
--
-- Callers   _delete_instances, _delete_fenced, both inside their transaction and holding the instance's row
-- Locks     what the instance has in orchestrator_queue, instances, executions, history, kv_store, kv_delta and
--           worker_queue, then its row in instance_locks, which the caller has
-- Order     instance_locks comes last: the row is kept as long as anything of the instance is left
-- Throws    nothing
--
-- For what is small enough for one transaction. Messages after @last_queue_id were sent when this life of the id was
-- over: they stay for the next one, and the row is set free for them. Completions among them are of activities
-- that this life had begun, and go with it. NULL: there are none.
CREATE OR ALTER PROCEDURE [$(schema)]._erase_instance
    @instance_id            NVARCHAR(4000),
    @last_queue_id          BIGINT,
    @instances_deleted      BIGINT OUTPUT,
    @executions_deleted     BIGINT OUTPUT,
    @events_deleted         BIGINT OUTPUT,
    @queue_messages_deleted BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @work TABLE (work_id BIGINT NOT NULL PRIMARY KEY);

    DELETE d
    FROM   [$(schema)].orchestrator_queue AS d WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
    WHERE  d.instance_id = @instance_id
      AND  (@last_queue_id IS NULL OR d.queue_id <= @last_queue_id
            OR d.kind NOT IN (N'StartOrchestration', N'ExternalRaised', N'CancelInstance', N'QueueMessage'));
    SET @queue_messages_deleted = @queue_messages_deleted + @@ROWCOUNT;

    DELETE d
    FROM   [$(schema)].instances AS d WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  d.instance_id = @instance_id;
    SET @instances_deleted = @instances_deleted + @@ROWCOUNT;

    DELETE d
    FROM   [$(schema)].executions AS d WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  d.instance_id = @instance_id;
    SET @executions_deleted = @executions_deleted + @@ROWCOUNT;

    DELETE d
    FROM   [$(schema)].history AS d WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  d.instance_id = @instance_id;
    SET @events_deleted = @events_deleted + @@ROWCOUNT;

    DELETE d
    FROM   [$(schema)].kv_store AS d WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
    WHERE  d.instance_id = @instance_id;

    DELETE d
    FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
    WHERE  d.instance_id = @instance_id;

    -- Activities are looked up first and deleted by their key: writers of worker_queue lock the row
    -- before its index entries, and this one must not come the other way.
    INSERT INTO @work (work_id)
    SELECT q.work_id
    FROM   [$(schema)].worker_queue AS q
           WITH (INDEX(ix_worker_queue_activity), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  q.instance_id = @instance_id;

    DELETE d
    FROM   [$(schema)].worker_queue AS d WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
    WHERE  d.work_id IN (SELECT w.work_id FROM @work AS w);
    SET @queue_messages_deleted = @queue_messages_deleted + @@ROWCOUNT;

    IF @last_queue_id IS NOT NULL
       AND EXISTS (SELECT 1
                   FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
                   WHERE  q.instance_id = @instance_id)
    BEGIN
        EXEC [$(schema)]._release_instance @instance_id = @instance_id, @pinned_version = -1;
    END
    ELSE
    BEGIN
        DELETE l
        FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
        WHERE  l.instance_id = @instance_id;
    END;
END;
