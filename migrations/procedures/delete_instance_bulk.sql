-- Deletes completed and failed root instances that pass the filter, each with its descendants.
--
-- Callers   ProviderAdmin::delete_instance_bulk, purge_instances
-- Locks     as _delete_instances, one tree at a time
-- Throws    51000 called inside a transaction
--           51001, 51002 an instance id is unusable
--           51009, 51010 never: _delete_instances raises them without force and for lists only
--
-- Each tree is a transaction of its own, so a call that is cut short has deleted whole trees and may
-- simply be repeated. Running instances are passed over, and so are those between two executions
-- (ContinuedAsNew): they are alive. Oldest first. An instance whose status changes during the search
-- is met again further on in the index, hence GROUP BY.
CREATE OR ALTER PROCEDURE [$(schema)].delete_instance_bulk
    @instance_ids        NVARCHAR(MAX) = NULL,
    @completed_before_ms BIGINT = NULL,
    @limit               BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @root_id NVARCHAR(400) = N'', @previous NVARCHAR(400), @tree_instances BIGINT,
            @tree_executions BIGINT, @tree_events BIGINT, @tree_messages BIGINT,
            @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0;
    DECLARE @wanted TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @roots TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);

    IF @instance_ids IS NOT NULL
    BEGIN
        EXEC [$(schema)]._check_instance_ids @list = @instance_ids, @path_is_member = 0;
        INSERT INTO @wanted (instance_id)
        SELECT DISTINCT j.instance_id COLLATE Latin1_General_100_BIN2
        FROM   OPENJSON(@instance_ids) WITH (instance_id NVARCHAR(400) '$') AS j;
    END;

    INSERT INTO @roots (instance_id)
    SELECT TOP (COALESCE(@limit, 1000)) i.instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_status), FORCESEEK, ROWLOCK)
    INNER JOIN [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
           ON  e.instance_id = i.instance_id
          AND  e.execution_id = i.current_execution_id
    WHERE  i.parent_instance_id IS NULL
      AND  i.status IN (N'Completed', N'Failed')
      AND  (@completed_before_ms IS NULL OR e.completed_at_ms < @completed_before_ms)
      AND  (@instance_ids IS NULL OR EXISTS (SELECT 1 FROM @wanted AS w WHERE w.instance_id = i.instance_id))
    GROUP BY i.instance_id
    ORDER BY MIN(i.created_at_ms), i.instance_id;

    WHILE @root_id IS NOT NULL
    BEGIN
        SET @previous = @root_id;
        SET @root_id = NULL;
        SELECT TOP (1) @root_id = r.instance_id
        FROM   @roots AS r
        WHERE  r.instance_id > @previous
        ORDER BY r.instance_id;

        IF @root_id IS NOT NULL
        BEGIN
            EXEC [$(schema)]._delete_instances
                @root_id = @root_id, @instance_ids = NULL, @force = 1, @terminal_root_only = 1,
                @instances_deleted = @tree_instances OUTPUT, @executions_deleted = @tree_executions OUTPUT,
                @events_deleted = @tree_events OUTPUT, @queue_messages_deleted = @tree_messages OUTPUT;
            SET @instances = @instances + @tree_instances;
            SET @executions = @executions + @tree_executions;
            SET @events = @events + @tree_events;
            SET @messages = @messages + @tree_messages;
        END;
    END;

    SELECT @instances AS instances_deleted, @executions AS executions_deleted, @events AS events_deleted,
           @messages AS queue_messages_deleted;
END;
