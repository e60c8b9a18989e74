-- Deletes instances with everything that belongs to them, all or none.
--
-- Callers   delete_instance, delete_instances_atomic, delete_instance_bulk, outside any transaction
-- Locks     instance_locks: the instances' rows, in the order of their ids, then what they have in
--           orchestrator_queue, instances, executions, history, kv_store, kv_delta and worker_queue
-- Throws    51000 called inside a transaction
--           51009 an instance is running and @force is 0
--           51010 a child of an instance in the list is not in the list
--
-- The instances are those of @instance_ids, or @root_id with all its descendants. Locking the rows of
-- instance_locks waits for turns that are being committed, and removing them makes every later ack of
-- these instances fail. A tree that grew a child meanwhile is walked again.
--
-- @terminal_root_only = 1 leaves the tree alone unless its root is still completed or failed.
-- Statements stay below 4,000 rows, so that each of them is short.
CREATE OR ALTER PROCEDURE [$(schema)]._delete_instances
    @root_id                NVARCHAR(4000),
    @instance_ids           NVARCHAR(MAX),
    @force                  BIT,
    @terminal_root_only     BIT,
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

    DECLARE @rows BIGINT, @batch BIGINT, @locked BIT = 0, @target NVARCHAR(400),
            @previous NVARCHAR(400);
    DECLARE @ids TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @work TABLE (work_id BIGINT NOT NULL PRIMARY KEY);

    SET @instances_deleted = 0;
    SET @executions_deleted = 0;
    SET @events_deleted = 0;
    SET @queue_messages_deleted = 0;

    IF @root_id IS NOT NULL
    BEGIN
        INSERT INTO @ids (instance_id) VALUES (@root_id);
    END
    ELSE
    BEGIN
        INSERT INTO @ids (instance_id)
        SELECT DISTINCT j.instance_id COLLATE Latin1_General_100_BIN2
        FROM   OPENJSON(@instance_ids) WITH (instance_id NVARCHAR(400) '$') AS j;
    END;

    WHILE @locked = 0
    BEGIN
        SET @rows = 1;
        WHILE @root_id IS NOT NULL AND @rows > 0
        BEGIN
            INSERT INTO @ids (instance_id)
            SELECT DISTINCT i.instance_id
            FROM   @ids AS t
            INNER JOIN [$(schema)].instances AS i WITH (INDEX(ix_instances_parent), FORCESEEK, ROWLOCK)
                   ON  i.parent_instance_id = t.instance_id
            WHERE  NOT EXISTS (SELECT 1 FROM @ids AS k WHERE k.instance_id = i.instance_id);
            SET @rows = @@ROWCOUNT;
        END;

        BEGIN TRY
            BEGIN TRANSACTION;

            SET @target = N'';
            WHILE @target IS NOT NULL
            BEGIN
                SET @previous = @target;
                SET @target = NULL;
                SELECT TOP (1) @target = t.instance_id
                FROM   @ids AS t
                WHERE  t.instance_id > @previous
                ORDER BY t.instance_id;
                IF @target IS NOT NULL
                BEGIN
                    EXEC [$(schema)]._lock_instance @instance_id = @target;
                END;
            END;

            IF EXISTS (SELECT 1
                       FROM   @ids AS t
                       INNER JOIN [$(schema)].instances AS i
                                  WITH (INDEX(ix_instances_parent), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
                              ON  i.parent_instance_id = t.instance_id
                       WHERE  NOT EXISTS (SELECT 1 FROM @ids AS k WHERE k.instance_id = i.instance_id))
            BEGIN
                ROLLBACK TRANSACTION;
                IF @root_id IS NULL
                BEGIN
                    THROW 51010, N'cannot delete: an instance has a child that is not in the list; delete the whole tree', 1;
                END;
            END
            ELSE
            BEGIN
                SET @locked = 1;
            END;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0
            BEGIN
                ROLLBACK TRANSACTION;
            END;
            -- 2627: another caller created the row of one of the instances first. It is there now.
            IF ERROR_NUMBER() <> 2627
            BEGIN
                THROW;
            END;
        END CATCH;
    END;

    IF @terminal_root_only = 1
       AND NOT EXISTS (SELECT 1
                       FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
                       WHERE  i.instance_id = @root_id
                         AND  i.status IN (N'Completed', N'Failed'))
    BEGIN
        ROLLBACK TRANSACTION;
        RETURN;
    END;

    IF @force = 0
       AND EXISTS (SELECT 1
                   FROM   @ids AS t
                   INNER JOIN [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
                          ON  i.instance_id = t.instance_id
                   WHERE  i.status = N'Running')
    BEGIN
        ROLLBACK TRANSACTION;
        THROW 51009, N'instance is still running; cancel it first, or delete with force', 1;
    END;

    -- Activities are looked up first and deleted by their key: writers of worker_queue lock the row
    -- before its index entries, and this one must not come the other way.
    INSERT INTO @work (work_id)
    SELECT q.work_id
    FROM   @ids AS t
    INNER JOIN [$(schema)].worker_queue AS q
               WITH (INDEX(ix_worker_queue_activity), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
           ON  q.instance_id = t.instance_id;

    SET @rows = 1;
    WHILE @rows > 0
    BEGIN
        DELETE TOP (4000) d
        FROM   [$(schema)].instance_locks AS d WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id IN (SELECT t.instance_id FROM @ids AS t);
        SET @rows = @@ROWCOUNT;

        DELETE TOP (4000) d
        FROM   [$(schema)].orchestrator_queue AS d WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id IN (SELECT t.instance_id FROM @ids AS t);
        SET @batch = @@ROWCOUNT;
        SET @rows = @rows + @batch;
        SET @queue_messages_deleted = @queue_messages_deleted + @batch;

        DELETE TOP (4000) d
        FROM   [$(schema)].instances AS d WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id IN (SELECT t.instance_id FROM @ids AS t);
        SET @batch = @@ROWCOUNT;
        SET @rows = @rows + @batch;
        SET @instances_deleted = @instances_deleted + @batch;

        DELETE TOP (4000) d
        FROM   [$(schema)].executions AS d WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id IN (SELECT t.instance_id FROM @ids AS t);
        SET @batch = @@ROWCOUNT;
        SET @rows = @rows + @batch;
        SET @executions_deleted = @executions_deleted + @batch;

        DELETE TOP (4000) d
        FROM   [$(schema)].history AS d WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id IN (SELECT t.instance_id FROM @ids AS t);
        SET @batch = @@ROWCOUNT;
        SET @rows = @rows + @batch;
        SET @events_deleted = @events_deleted + @batch;

        DELETE TOP (4000) d
        FROM   [$(schema)].kv_store AS d WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id IN (SELECT t.instance_id FROM @ids AS t);
        SET @rows = @rows + @@ROWCOUNT;

        DELETE TOP (4000) d
        FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id IN (SELECT t.instance_id FROM @ids AS t);
        SET @rows = @rows + @@ROWCOUNT;

        DELETE TOP (4000) d
        FROM   [$(schema)].worker_queue AS d WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
        WHERE  d.work_id IN (SELECT w.work_id FROM @work AS w);
        SET @batch = @@ROWCOUNT;
        SET @rows = @rows + @batch;
        SET @queue_messages_deleted = @queue_messages_deleted + @batch;
    END;

    COMMIT TRANSACTION;
END;
