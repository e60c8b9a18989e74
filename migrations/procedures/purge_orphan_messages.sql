-- Deletes old messages for instances that were never started.
--
-- Callers   a DBA, the command-line tool; not the runtime
-- Locks     instance_locks: one row at a time (exclusive, see _post_message), then orchestrator_queue: its messages
-- Order     instances and history are read before orchestrator_queue is written; these reads keep no
--           locks, and the row of instance_locks already keeps every writer out
-- Throws    51000 called inside a transaction
--           51021 the age is missing or negative
--
-- Such messages are kept, because their start may still be on the way; how long that can take, only
-- the operator knows. Each instance is a transaction of its own. What has been started meanwhile, or is
-- held, is left alone. Returns how many instances and messages were deleted.
--
-- The search reads one table at a time, and instances one by one: a statement over several of them may hold one row
-- while it asks for another, and meets a turn that ends or a deletion.
CREATE OR ALTER PROCEDURE [$(schema)].purge_orphan_messages
    @older_than_ms BIGINT,
    @limit         BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;
    IF @older_than_ms IS NULL OR @older_than_ms < 0
    BEGIN
        THROW 51021, N'the age must be zero or more', 1;
    END;

    DECLARE @before_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @older_than_ms,
            @instance_id NVARCHAR(400), @previous NVARCHAR(400), @is_started BIT, @is_free BIT,
            @deleted BIGINT, @instances BIGINT = 0, @messages BIGINT = 0;
    DECLARE @orphans TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);

    INSERT INTO @orphans (instance_id)
    SELECT DISTINCT q.instance_id
    FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), ROWLOCK)
    WHERE  q.visible_at_ms < @before_ms;

    -- Not from an empty text on: that sorts behind ids that begin with a control character.
    SELECT TOP (1) @instance_id = o.instance_id FROM @orphans AS o ORDER BY o.instance_id;
    WHILE @instance_id IS NOT NULL AND @instances < COALESCE(@limit, 1000)
    BEGIN
        -- Most have been started: their turns are not kept waiting.
        SET @is_started = 0;
        SELECT @is_started = 1
        FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
        WHERE  i.instance_id = @instance_id;

        IF @is_started = 0
        BEGIN
            BEGIN TRANSACTION;

            -- Whoever adds a message, a start among them, takes this row first.
            SET @is_free = 0;
            SELECT @is_free = CASE WHEN l.lock_token IS NULL THEN 1 ELSE 0 END
            FROM   [$(schema)].instance_locks AS l
                   WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
            WHERE  l.instance_id = @instance_id;

            IF @is_free = 1
               AND NOT EXISTS (SELECT 1
                               FROM   [$(schema)].orchestrator_queue AS s WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
                               WHERE  s.instance_id = @instance_id
                                 AND  s.kind IN (N'StartOrchestration', N'ContinueAsNew'))
               AND NOT EXISTS (SELECT 1
                               FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
                               WHERE  i.instance_id = @instance_id)
               AND NOT EXISTS (SELECT 1
                               FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
                               WHERE  h.instance_id = @instance_id)
            BEGIN
                DELETE q
                FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
                WHERE  q.instance_id = @instance_id
                  AND  q.visible_at_ms < @before_ms;
                SET @deleted = @@ROWCOUNT;
                SET @messages = @messages + @deleted;
                IF @deleted > 0
                BEGIN
                    SET @instances = @instances + 1;
                END;
                IF NOT EXISTS (SELECT 1
                               FROM   [$(schema)].orchestrator_queue AS q
                                      WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
                               WHERE  q.instance_id = @instance_id)
                BEGIN
                    DELETE l
                    FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
                    WHERE  l.instance_id = @instance_id;
                END;
            END;

            COMMIT TRANSACTION;
        END;

        SET @previous = @instance_id;
        SET @instance_id = NULL;
        SELECT TOP (1) @instance_id = o.instance_id FROM @orphans AS o WHERE o.instance_id > @previous ORDER BY o.instance_id;
    END;

    SELECT @instances AS instances_purged, @messages AS messages_deleted;
END;
