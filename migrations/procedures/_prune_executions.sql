-- Deletes an instance's old executions with their history, all or none.
--
-- Callers   prune_executions, prune_executions_bulk, outside any transaction
-- Locks     instance_locks: the instance's row, then executions and history: the rows deleted, some of them through
--           _delete_events
-- Throws    51000 called inside a transaction
--
-- Never the current execution, never one that is running. Key-values belong to the instance and stay. An instance
-- that does not exist has nothing to prune. Executions go before their history, as everybody locks them in that
-- order: a reader of an execution may go on to its events.
--
-- Up to 4,000 rows and 4 MiB go in one transaction. Of what is larger any 4,000 executions get the status Deleting,
-- all in one transaction, and nobody is shown their history any more; then the rows go in short ones, because the
-- instance is alive and its turns wait for this row, until @deadline_ms. @has_more = 1: something is left. Executions
-- that a call before this one has left behind go in any case.
CREATE OR ALTER PROCEDURE [$(schema)]._prune_executions
    @instance_id         NVARCHAR(4000),
    @keep_last           BIGINT,
    @completed_before_ms BIGINT,
    @deadline_ms         BIGINT,
    @has_more            BIT OUTPUT,
    @executions_deleted  BIGINT OUTPUT,
    @events_deleted      BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @lane BIGINT, @current_execution_id BIGINT, @old_count BIGINT, @row_count BIGINT, @byte_count BIGINT,
            @execution_id BIGINT, @event_id BIGINT = 0, @batch_rows BIGINT, @batch_bytes BIGINT, @is_over BIT = 0,
            @kept_from BIGINT;
    DECLARE @old TABLE (execution_id BIGINT NOT NULL PRIMARY KEY);

    SET @has_more = 0;
    SET @executions_deleted = 0;
    SET @events_deleted = 0;

    BEGIN TRANSACTION;

    SELECT @lane = l.lane
    FROM   [$(schema)].instance_locks AS l
           WITH (INDEX(pk_instance_locks), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  l.instance_id = @instance_id;

    SELECT @current_execution_id = i.current_execution_id
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;

    -- The newest ones have ids from here on. Fewer than @keep_last: from the oldest one on. None to keep: NULL.
    SELECT @kept_from = MIN(k.execution_id)
    FROM   (SELECT TOP (COALESCE(@keep_last, 0)) n.execution_id
            FROM   [$(schema)].executions AS n WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
            WHERE  n.instance_id = @instance_id
            ORDER BY n.execution_id DESC) AS k;

    INSERT INTO @old (execution_id)
    SELECT TOP (4000) e.execution_id
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id <> @current_execution_id
      AND  e.status <> N'Running'
      AND  (e.status = N'Deleting' OR @completed_before_ms IS NULL OR e.completed_at_ms < @completed_before_ms)
      AND  (e.status = N'Deleting' OR @kept_from IS NULL OR e.execution_id < @kept_from);
    SET @old_count = @@ROWCOUNT;

    SELECT @row_count = COUNT_BIG(*), @byte_count = COALESCE(SUM(c.payload_bytes), 0)
    FROM   (SELECT TOP (4001) h.payload_bytes
            FROM   @old AS o
            INNER JOIN [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
                   ON  h.instance_id = @instance_id
                  AND  h.execution_id = o.execution_id) AS c;

    IF @old_count + @row_count <= 4000 AND @byte_count <= 4194304
    BEGIN
        DELETE e
        FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
        WHERE  e.instance_id = @instance_id
          AND  e.execution_id IN (SELECT o.execution_id FROM @old AS o);
        SET @executions_deleted = @@ROWCOUNT;

        DELETE h
        FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  h.instance_id = @instance_id
          AND  h.execution_id IN (SELECT o.execution_id FROM @old AS o);
        SET @events_deleted = @@ROWCOUNT;

        DELETE FROM @old;
    END
    ELSE
    BEGIN
        UPDATE e
        SET    e.status = N'Deleting'
        FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
        WHERE  e.instance_id = @instance_id
          AND  e.execution_id IN (SELECT o.execution_id FROM @old AS o);
    END;

    COMMIT TRANSACTION;

    SELECT @execution_id = MIN(o.execution_id) FROM @old AS o;

    WHILE @execution_id IS NOT NULL AND @is_over = 0
    BEGIN
        SET @batch_rows = 0;
        SET @batch_bytes = 0;
        BEGIN TRANSACTION;

        -- The instance may have been deleted and made again since; what is not marked is not ours.
        SELECT @lane = l.lane
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(pk_instance_locks), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  l.instance_id = @instance_id;

        WHILE @execution_id IS NOT NULL AND @batch_rows < 1000 AND @batch_bytes < 1048576
        BEGIN
            SET @row_count = 0;
            SET @byte_count = 0;
            -- Before its events, although it goes after them and need not be marked any more: see get_execution_info.
            IF EXISTS (SELECT 1
                       FROM   [$(schema)].executions AS e
                              WITH (INDEX(pk_executions), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
                       WHERE  e.instance_id = @instance_id
                         AND  e.execution_id = @execution_id
                         AND  e.status = N'Deleting')
            BEGIN
                EXEC [$(schema)]._delete_events
                    @instance_id = @instance_id, @execution_id = @execution_id, @event_id = @event_id OUTPUT,
                    @row_count = @row_count OUTPUT, @byte_count = @byte_count OUTPUT;
            END;
            SET @events_deleted = @events_deleted + @row_count;
            SET @batch_rows = @batch_rows + @row_count + 1;
            SET @batch_bytes = @batch_bytes + @byte_count;

            IF @row_count = 0
            BEGIN
                DELETE e
                FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
                WHERE  e.instance_id = @instance_id
                  AND  e.execution_id = @execution_id
                  AND  e.status = N'Deleting';
                SET @executions_deleted = @executions_deleted + @@ROWCOUNT;
                DELETE FROM @old WHERE execution_id = @execution_id;
                SET @event_id = 0;
                SELECT @execution_id = MIN(o.execution_id) FROM @old AS o;
            END;
        END;

        COMMIT TRANSACTION;

        IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) >= @deadline_ms
        BEGIN
            SET @is_over = 1;
        END;
    END;

    IF @execution_id IS NOT NULL OR @old_count = 4000
    BEGIN
        SET @has_more = 1;
    END;
END;
