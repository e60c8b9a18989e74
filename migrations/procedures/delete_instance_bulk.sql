-- Deletes completed and failed root instances that pass the filter, each with its descendants.
--
-- Callers   ProviderAdmin::delete_instance_bulk, purge_instances
-- Locks     as _delete_instances, one tree at a time; before that as _delete_fenced
-- Throws    51000 called inside a transaction
--           51001, 51002 an instance id is unusable
--           51009, 51010 never: _delete_instances raises them without force and for lists only
--
-- Each tree is a transaction of its own, so a call that is cut short has deleted whole trees and may
-- simply be repeated; has_more says whether there is a reason to. @budget_ms ends the call by itself after the
-- tree during which it is spent, and within a tree that is too large for one transaction. What any deletion has fenced
-- and left behind goes first, whatever the filter says; it has been deleted already. Running instances are passed over, and so are those between two executions
-- (ContinuedAsNew): they are alive.
--
-- Oldest first, in the order of the index: what is not deleted is not read, but for instances that were
-- created before @completed_before_ms and completed after it. An instance whose status changes during
-- the search is met again under the other one, hence GROUP BY. Of a list, the outer join has the server read an
-- instance before its execution, as turns lock them; an inner one could be turned round. The largest BIGINT is cast, because the
-- literal is NUMERIC, and the seek would not end at a bound of another type.
CREATE OR ALTER PROCEDURE [$(schema)].delete_instance_bulk
    @instance_ids        NVARCHAR(MAX) = NULL,
    @completed_before_ms BIGINT = NULL,
    @limit               BIGINT = NULL,
    @budget_ms           BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @deadline_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + @budget_ms,
            @fenced_id NVARCHAR(400) = N'', @fenced_ms BIGINT = -1, @fenced_claim BIGINT = 0, @is_gone BIT = 1, @tree_has_more BIT, @root_id NVARCHAR(400), @root_ms BIGINT, @tree_instances BIGINT, @tree_executions BIGINT,
            @tree_events BIGINT, @tree_messages BIGINT, @trees BIGINT = 0, @searching BIT = 1, @has_more BIT = 0,
            @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0;
    DECLARE @wanted TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @ended TABLE (status NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @roots TABLE
    (
        created_at_ms BIGINT NOT NULL,
        instance_id   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
        PRIMARY KEY (created_at_ms, instance_id)
    );

    SET @limit = COALESCE(@limit, 1000);
    INSERT INTO @ended (status) VALUES (N'Completed'), (N'Failed');

    -- What deletions before this one have begun. Another call that is at the same one takes turns with this, batch by batch.
    -- Each is looked for from the last one on, because those that are finished leave their ghosts where the search would begin.
    WHILE @fenced_id IS NOT NULL AND @is_gone = 1
    BEGIN
        SET @fenced_id = NULL;
        SELECT TOP (1) @fenced_id = l.instance_id, @fenced_claim = l.claim_id
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(ix_instance_locks_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE  l.lane = -3
          AND  l.not_before_ms = @fenced_ms
          AND  l.claim_id > @fenced_claim
        ORDER BY l.claim_id;
        IF @fenced_id IS NULL
        BEGIN
            SELECT TOP (1) @fenced_id = l.instance_id, @fenced_ms = l.not_before_ms, @fenced_claim = l.claim_id
            FROM   [$(schema)].instance_locks AS l
                   WITH (INDEX(ix_instance_locks_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  l.lane = -3
              AND  l.not_before_ms > @fenced_ms
            ORDER BY l.not_before_ms, l.claim_id;
        END;
        IF @fenced_id IS NULL AND @fenced_ms >= 0
        BEGIN
            -- What was stepped over because somebody had it, or was fenced by a clock that has been set back.
            SELECT @fenced_id = N'', @fenced_ms = -1, @fenced_claim = 0;
        END
        ELSE IF @fenced_id IS NOT NULL
        BEGIN
            EXEC [$(schema)]._delete_fenced
                @instance_id = @fenced_id, @deadline_ms = @deadline_ms, @is_gone = @is_gone OUTPUT,
                @instances_deleted = @instances OUTPUT, @executions_deleted = @executions OUTPUT,
                @events_deleted = @events OUTPUT, @queue_messages_deleted = @messages OUTPUT;
            IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) >= @deadline_ms
            BEGIN
                SET @is_gone = 0;
            END;
        END;
    END;

    -- One more than wanted, which tells whether more is left.
    IF @instance_ids IS NULL
    BEGIN
        INSERT INTO @roots (created_at_ms, instance_id)
        SELECT TOP (@limit + 1) MIN(c.created_at_ms), c.instance_id
        FROM   @ended AS s
        CROSS APPLY
        (
            SELECT TOP (@limit + 1) i.instance_id, i.created_at_ms
            FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_roots), FORCESEEK, ROWLOCK)
            INNER JOIN [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
                   ON  e.instance_id = i.instance_id
                  AND  e.execution_id = i.current_execution_id
            WHERE  i.status = s.status
              AND  i.parent_instance_id IS NULL
              AND  i.created_at_ms <= COALESCE(@completed_before_ms, CAST(9223372036854775807 AS BIGINT))
              AND  (@completed_before_ms IS NULL OR e.completed_at_ms < @completed_before_ms)
            ORDER BY i.created_at_ms
        ) AS c
        GROUP BY c.instance_id
        ORDER BY MIN(c.created_at_ms), c.instance_id;
    END
    ELSE
    BEGIN
        EXEC [$(schema)]._check_instance_ids @list = @instance_ids;
        INSERT INTO @wanted (instance_id)
        SELECT DISTINCT j.instance_id COLLATE Latin1_General_100_BIN2
        FROM   OPENJSON(@instance_ids) WITH (instance_id NVARCHAR(400) '$') AS j;

        INSERT INTO @roots (created_at_ms, instance_id)
        SELECT TOP (@limit + 1) i.created_at_ms, i.instance_id
        FROM   @wanted AS w
        INNER JOIN [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
               ON  i.instance_id = w.instance_id
        LEFT OUTER JOIN [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
               ON  e.instance_id = i.instance_id
              AND  e.execution_id = i.current_execution_id
        WHERE  i.parent_instance_id IS NULL
          AND  i.status IN (N'Completed', N'Failed')
          AND  (@completed_before_ms IS NULL OR e.completed_at_ms < @completed_before_ms)
        ORDER BY i.created_at_ms, i.instance_id;
    END;

    IF @is_gone = 0
    BEGIN
        SET @searching = 0;
        SET @has_more = 1;
    END;

    WHILE @searching = 1
    BEGIN
        SET @root_id = NULL;
        SELECT TOP (1) @root_id = r.instance_id, @root_ms = r.created_at_ms
        FROM   @roots AS r
        ORDER BY r.created_at_ms, r.instance_id;

        IF @root_id IS NULL
        BEGIN
            SET @searching = 0;
        END
        ELSE IF @trees >= @limit
                OR (@trees > 0 AND DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) >= @deadline_ms)
        BEGIN
            SET @searching = 0;
            SET @has_more = 1;
        END
        ELSE
        BEGIN
            DELETE FROM @roots WHERE created_at_ms = @root_ms AND instance_id = @root_id;
            EXEC [$(schema)]._delete_instances
                @root_id = @root_id, @instance_ids = NULL, @force = 1, @terminal_root_only = 1,
                @deadline_ms = @deadline_ms, @has_more = @tree_has_more OUTPUT,
                @instances_deleted = @tree_instances OUTPUT, @executions_deleted = @tree_executions OUTPUT,
                @events_deleted = @tree_events OUTPUT, @queue_messages_deleted = @tree_messages OUTPUT;
            SET @trees = @trees + 1;
            SET @instances = @instances + @tree_instances;
            SET @executions = @executions + @tree_executions;
            SET @events = @events + @tree_events;
            SET @messages = @messages + @tree_messages;
            IF @tree_has_more = 1
            BEGIN
                SET @searching = 0;
                SET @has_more = 1;
            END;
        END;
    END;

    SELECT @instances AS instances_deleted, @executions AS executions_deleted, @events AS events_deleted,
           @messages AS queue_messages_deleted, @has_more AS has_more;
END;
