-- Deletes instances with everything that belongs to them, all or none.
--
-- Callers   delete_instance, delete_instances_atomic, delete_instance_bulk, outside any transaction
-- Locks     instance_locks: the instances' rows, in the order of their ids; then, one instance after the other, what
--           _erase_instance or _fence_instance locks; after the fence what _finish_deletion locks
-- Order     everything is weighed before it is deleted, and an instance is done with before the next one: what is read
--           keeps no locks, and the rows of instance_locks, all locked first, keep every writer out
-- Throws    51000 called inside a transaction
--           51009 an instance is running and @force is 0
--           51010 a child of an instance in the list is not in the list
--
-- The instances are those of @instance_ids, or @root_id with all its descendants. Locking the rows of
-- instance_locks waits for turns that are being committed, and removing them makes every later ack of
-- these instances fail. A tree that grew a child meanwhile is walked again.
--
-- Up to 4,000 rows and 4 MiB go in this one transaction. What is larger would fill the log, run into the client's
-- timeout, be rolled back, and never succeed: all of it is fenced in this transaction, which is the deletion as far as
-- anybody else can see, and then its rows go in short transactions until @deadline_ms. @has_more = 1: the time was over.
--
-- @terminal_root_only = 1 leaves the tree alone unless its root is still completed or failed.
CREATE OR ALTER PROCEDURE [$(schema)]._delete_instances
    @root_id                NVARCHAR(4000),
    @instance_ids           NVARCHAR(MAX),
    @force                  BIT,
    @terminal_root_only     BIT,
    @deadline_ms            BIGINT,
    @has_more               BIT OUTPUT,
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

    DECLARE @rows BIGINT, @locked BIT = 0, @target NVARCHAR(400), @previous NVARCHAR(400),
            @status NVARCHAR(50), @is_running BIT = 0, @is_fenced BIT = 0, @root_has_ended BIT = 0,
            @row_count BIGINT = 0, @byte_count BIGINT = 0, @now_ms BIGINT, @order_ms BIGINT, @depth_max INT;
    DECLARE @ids TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
                        depth       INT NOT NULL);

    SET @has_more = 0;
    SET @instances_deleted = 0;
    SET @executions_deleted = 0;
    SET @events_deleted = 0;
    SET @queue_messages_deleted = 0;

    IF @root_id IS NOT NULL
    BEGIN
        INSERT INTO @ids (instance_id, depth) VALUES (@root_id, 0);
    END
    ELSE
    BEGIN
        INSERT INTO @ids (instance_id, depth)
        SELECT DISTINCT j.instance_id COLLATE Latin1_General_100_BIN2, 0
        FROM   OPENJSON(@instance_ids) WITH (instance_id NVARCHAR(400) '$') AS j;
    END;

    WHILE @locked = 0
    BEGIN
        SET @rows = 1;
        WHILE @root_id IS NOT NULL AND @rows > 0
        BEGIN
            INSERT INTO @ids (instance_id, depth)
            SELECT i.instance_id, MIN(t.depth) + 1
            FROM   @ids AS t
            INNER JOIN [$(schema)].instances AS i WITH (INDEX(ix_instances_parent), FORCESEEK, ROWLOCK)
                   ON  i.parent_instance_id = t.instance_id
            WHERE  NOT EXISTS (SELECT 1 FROM @ids AS k WHERE k.instance_id = i.instance_id)
            GROUP BY i.instance_id;
            SET @rows = @@ROWCOUNT;
        END;

        BEGIN TRY
            BEGIN TRANSACTION;

            -- From the first one on, not from an empty text: that sorts behind ids that begin with a control character.
            SET @target = NULL;
            SELECT TOP (1) @target = t.instance_id FROM @ids AS t ORDER BY t.instance_id;
            WHILE @target IS NOT NULL
            BEGIN
                EXEC [$(schema)]._lock_instance @instance_id = @target;
                SET @previous = @target;
                SET @target = NULL;
                SELECT TOP (1) @target = t.instance_id FROM @ids AS t WHERE t.instance_id > @previous ORDER BY t.instance_id;
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

    -- What is fenced has been judged before, and is finished whatever it weighs.
    SET @target = NULL;
    SELECT TOP (1) @target = t.instance_id FROM @ids AS t ORDER BY t.instance_id;
    WHILE @target IS NOT NULL
    BEGIN
        SET @status = NULL;
        SELECT @status = i.status
        FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
        WHERE  i.instance_id = @target;
        SET @row_count = @row_count + 1;
        IF @status = N'Running'
        BEGIN
            SET @is_running = 1;
        END;
        IF @target = @root_id COLLATE Latin1_General_100_BIN2 AND @status IN (N'Completed', N'Failed', N'Deleting')
        BEGIN
            SET @root_has_ended = 1;
        END;
        IF EXISTS (SELECT 1
                   FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
                   WHERE  l.instance_id = @target
                     AND  l.lane = -3)
        BEGIN
            SET @is_fenced = 1;
        END;
        IF @is_fenced = 0 AND @row_count <= 4000 AND @byte_count <= 4194304
        BEGIN
            EXEC [$(schema)]._weigh_instance
                @instance_id = @target, @rows_max = 4000,
                @row_count = @row_count OUTPUT, @byte_count = @byte_count OUTPUT;
        END;
        SET @previous = @target;
        SET @target = NULL;
        SELECT TOP (1) @target = t.instance_id FROM @ids AS t WHERE t.instance_id > @previous ORDER BY t.instance_id;
    END;

    IF @terminal_root_only = 1 AND @root_has_ended = 0
    BEGIN
        ROLLBACK TRANSACTION;
        RETURN;
    END;

    IF @force = 0 AND @is_running = 1
    BEGIN
        ROLLBACK TRANSACTION;
        THROW 51009, N'instance is still running; cancel it first, or delete with force', 1;
    END;

    IF @row_count > 4000 OR @byte_count > 4194304
    BEGIN
        SET @is_fenced = 1;
    END;

    -- Purges meet the fenced ones in this order: descendants before their ancestors, as in _finish_deletion.
    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    SELECT @depth_max = MAX(t.depth) FROM @ids AS t;
    SET @target = NULL;
    SELECT TOP (1) @target = t.instance_id FROM @ids AS t ORDER BY t.instance_id;
    WHILE @target IS NOT NULL
    BEGIN
        IF @is_fenced = 1
        BEGIN
            SELECT @order_ms = @now_ms + @depth_max - t.depth FROM @ids AS t WHERE t.instance_id = @target;
            EXEC [$(schema)]._fence_instance @instance_id = @target, @order_ms = @order_ms;
        END
        ELSE
        BEGIN
            EXEC [$(schema)]._erase_instance
                @instance_id = @target, @last_queue_id = NULL,
                @instances_deleted = @instances_deleted OUTPUT, @executions_deleted = @executions_deleted OUTPUT,
                @events_deleted = @events_deleted OUTPUT, @queue_messages_deleted = @queue_messages_deleted OUTPUT;
        END;
        SET @previous = @target;
        SET @target = NULL;
        SELECT TOP (1) @target = t.instance_id FROM @ids AS t WHERE t.instance_id > @previous ORDER BY t.instance_id;
    END;

    COMMIT TRANSACTION;

    IF @is_fenced = 1
    BEGIN
        EXEC [$(schema)]._finish_deletion
            @root_id = @root_id, @instance_ids = @instance_ids, @deadline_ms = @deadline_ms,
            @has_more = @has_more OUTPUT,
            @instances_deleted = @instances_deleted OUTPUT, @executions_deleted = @executions_deleted OUTPUT,
            @events_deleted = @events_deleted OUTPUT, @queue_messages_deleted = @queue_messages_deleted OUTPUT;
    END;
END;
