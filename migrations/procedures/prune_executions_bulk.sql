-- Deletes old executions of all instances that pass the filter, running ones included.
--
-- Callers   ProviderAdmin::prune_executions_bulk
-- Locks     as _prune_executions, one instance at a time
-- Throws    51000 called inside a transaction
--           51001, 51002 an instance id is unusable
--
-- The filter's @filter_completed_before_ms looks at the current execution; @keep_last and
-- @completed_before_ms say what to prune. Oldest instances first, each a transaction of its own. An
-- instance whose status changes during the search is met again further on in the index, hence GROUP BY.
CREATE OR ALTER PROCEDURE [$(schema)].prune_executions_bulk
    @instance_ids               NVARCHAR(MAX) = NULL,
    @filter_completed_before_ms BIGINT = NULL,
    @limit                      BIGINT = NULL,
    @keep_last                  BIGINT = NULL,
    @completed_before_ms        BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @instance_id NVARCHAR(400) = N'', @previous NVARCHAR(400), @pruned BIGINT, @pruned_events BIGINT,
            @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0;
    DECLARE @wanted TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @chosen TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);

    IF @instance_ids IS NOT NULL
    BEGIN
        EXEC [$(schema)]._check_instance_ids @list = @instance_ids, @path_is_member = 0;
        INSERT INTO @wanted (instance_id)
        SELECT DISTINCT j.instance_id COLLATE Latin1_General_100_BIN2
        FROM   OPENJSON(@instance_ids) WITH (instance_id NVARCHAR(400) '$') AS j;
    END;

    INSERT INTO @chosen (instance_id)
    SELECT TOP (COALESCE(@limit, 1000)) i.instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_status), ROWLOCK)
    LEFT OUTER JOIN [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
           ON  e.instance_id = i.instance_id
          AND  e.execution_id = i.current_execution_id
    WHERE  (@filter_completed_before_ms IS NULL OR e.completed_at_ms < @filter_completed_before_ms)
      AND  (@instance_ids IS NULL OR EXISTS (SELECT 1 FROM @wanted AS w WHERE w.instance_id = i.instance_id))
    GROUP BY i.instance_id
    ORDER BY MIN(i.created_at_ms), i.instance_id;

    WHILE @instance_id IS NOT NULL
    BEGIN
        SET @previous = @instance_id;
        SET @instance_id = NULL;
        SELECT TOP (1) @instance_id = c.instance_id
        FROM   @chosen AS c
        WHERE  c.instance_id > @previous
        ORDER BY c.instance_id;

        IF @instance_id IS NOT NULL
        BEGIN
            EXEC [$(schema)]._prune_executions
                @instance_id = @instance_id, @keep_last = @keep_last,
                @completed_before_ms = @completed_before_ms,
                @executions_deleted = @pruned OUTPUT, @events_deleted = @pruned_events OUTPUT;
            SET @instances = @instances + 1;
            SET @executions = @executions + @pruned;
            SET @events = @events + @pruned_events;
        END;
    END;

    SELECT @instances AS instances_processed, @executions AS executions_deleted, @events AS events_deleted;
END;
