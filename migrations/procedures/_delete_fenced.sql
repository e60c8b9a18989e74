-- Deletes what is left of a fenced instance, in as many transactions as it takes, until the time is over.
--
-- Callers   _finish_deletion, delete_instance_bulk, both outside any transaction
-- Locks     instance_locks: the instance's row, in every transaction; then one table's rows of the instance: worker_queue,
--           orchestrator_queue, history and executions through _delete_events, executions, kv_store or kv_delta;
--           in the last one all that is left, through _erase_instance
-- Order     in the first transaction everything is weighed before it is deleted; these reads keep no locks, and the
--           row of instance_locks keeps every writer out
-- Throws    51000 called inside a transaction
--
-- Every transaction makes sure that the instance is still fenced: somebody else may have finished it, and then the
-- id is free for another life, of which nothing may be touched. Cut off at any point, the next call goes on; calls at
-- the same time take turns. Activities go first, so that no worker begins one in vain. The counts are added to.
--
-- 1,000 rows and 1 MiB of history at a time, 500 rows of what has no known size. @is_gone = 0: the time was over.
CREATE OR ALTER PROCEDURE [$(schema)]._delete_fenced
    @instance_id            NVARCHAR(4000),
    @deadline_ms            BIGINT,
    @is_gone                BIT OUTPUT,
    @instances_deleted      BIGINT OUTPUT,
    @executions_deleted     BIGINT OUTPUT,
    @events_deleted         BIGINT OUTPUT,
    @queue_messages_deleted BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @last_queue_id BIGINT, @row_count BIGINT = 0, @byte_count BIGINT = 0, @rows BIGINT, @stage INT = 0,
            @is_over BIT = 0, @execution_id BIGINT = 0, @previous_id BIGINT, @event_id BIGINT = 0, @batch_rows BIGINT,
            @batch_bytes BIGINT;
    DECLARE @work TABLE (work_id BIGINT NOT NULL PRIMARY KEY);

    SET @is_gone = 0;

    WHILE @is_gone = 0 AND @is_over = 0
    BEGIN
        BEGIN TRANSACTION;

        SET @last_queue_id = NULL;
        SELECT @last_queue_id = l.pinned_version
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  l.instance_id = @instance_id
          AND  l.lane = -3;

        SET @rows = 0;
        IF @last_queue_id IS NULL
        BEGIN
            SET @is_gone = 1;
        END
        ELSE IF @stage = 0
        BEGIN
            EXEC [$(schema)]._weigh_instance
                @instance_id = @instance_id, @rows_max = 1000,
                @row_count = @row_count OUTPUT, @byte_count = @byte_count OUTPUT;
            IF @row_count <= 1000 AND @byte_count <= 1048576
            BEGIN
                EXEC [$(schema)]._erase_instance
                    @instance_id = @instance_id, @last_queue_id = @last_queue_id,
                    @instances_deleted = @instances_deleted OUTPUT, @executions_deleted = @executions_deleted OUTPUT,
                    @events_deleted = @events_deleted OUTPUT, @queue_messages_deleted = @queue_messages_deleted OUTPUT;
                SET @is_gone = 1;
            END;
        END
        ELSE IF @stage = 1
        BEGIN
            DELETE FROM @work;
            INSERT INTO @work (work_id)
            SELECT TOP (500) q.work_id
            FROM   [$(schema)].worker_queue AS q
                   WITH (INDEX(ix_worker_queue_activity), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
            WHERE  q.instance_id = @instance_id;
            DELETE d
            FROM   [$(schema)].worker_queue AS d WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
            WHERE  d.work_id IN (SELECT w.work_id FROM @work AS w);
            SET @rows = @@ROWCOUNT;
            SET @queue_messages_deleted = @queue_messages_deleted + @rows;
        END
        ELSE IF @stage = 2
        BEGIN
            DELETE TOP (500) d
            FROM   [$(schema)].orchestrator_queue AS d WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
            WHERE  d.instance_id = @instance_id
              AND  d.queue_id <= @last_queue_id;
            SET @rows = @@ROWCOUNT;
            SET @queue_messages_deleted = @queue_messages_deleted + @rows;
        END
        ELSE IF @stage = 3
        BEGIN
            SET @batch_rows = 0;
            SET @batch_bytes = 0;
            WHILE @execution_id IS NOT NULL AND @batch_rows < 1000 AND @batch_bytes < 1048576
            BEGIN
                EXEC [$(schema)]._delete_events
                    @instance_id = @instance_id, @execution_id = @execution_id, @event_id = @event_id OUTPUT,
                    @row_count = @row_count OUTPUT, @byte_count = @byte_count OUTPUT;
                SET @rows = @rows + @row_count;
                SET @events_deleted = @events_deleted + @row_count;
                SET @batch_rows = @batch_rows + @row_count + 1;
                SET @batch_bytes = @batch_bytes + @byte_count;
                IF @row_count = 0
                BEGIN
                    SET @previous_id = @execution_id;
                    SET @execution_id = NULL;
                    SET @event_id = 0;
                    SELECT TOP (1) @execution_id = h.execution_id
                    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
                    WHERE  h.instance_id = @instance_id
                      AND  h.execution_id > @previous_id
                    ORDER BY h.execution_id;
                END;
            END;
        END
        ELSE IF @stage = 4
        BEGIN
            -- The latest stays to the end: it tells readers that there is nothing to read.
            DELETE TOP (500) d
            FROM   [$(schema)].executions AS d WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
            WHERE  d.instance_id = @instance_id
              AND  d.execution_id < (SELECT MAX(e.execution_id)
                                     FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
                                     WHERE  e.instance_id = @instance_id);
            SET @rows = @@ROWCOUNT;
            SET @executions_deleted = @executions_deleted + @rows;
        END
        ELSE IF @stage = 5
        BEGIN
            DELETE TOP (500) d
            FROM   [$(schema)].kv_store AS d WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
            WHERE  d.instance_id = @instance_id;
            SET @rows = @@ROWCOUNT;
        END
        ELSE IF @stage = 6
        BEGIN
            DELETE TOP (500) d
            FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
            WHERE  d.instance_id = @instance_id;
            SET @rows = @@ROWCOUNT;
        END
        ELSE
        BEGIN
            EXEC [$(schema)]._erase_instance
                @instance_id = @instance_id, @last_queue_id = @last_queue_id,
                @instances_deleted = @instances_deleted OUTPUT, @executions_deleted = @executions_deleted OUTPUT,
                @events_deleted = @events_deleted OUTPUT, @queue_messages_deleted = @queue_messages_deleted OUTPUT;
            SET @is_gone = 1;
        END;

        COMMIT TRANSACTION;

        IF @rows = 0
        BEGIN
            SET @stage = @stage + 1;
        END
        -- Not before something is done: a call without any time must get on as well.
        ELSE IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) >= @deadline_ms
        BEGIN
            SET @is_over = 1;
        END;
    END;
END;
