-- Goes on with the deletion of instances that are fenced, until the time is over, and touches nothing else.
--
-- Callers   _delete_instances, delete_instance, delete_instances_atomic, all outside any transaction
-- Locks     as _delete_fenced, one instance after the other
-- Throws    51000 called inside a transaction
--
-- The instances are those of @instance_ids, or @root_id with all its descendants. Descendants go before their
-- ancestors: as long as anything of the tree is left, so is its way up to the root, and another call finds it. The
-- counts are added to.
CREATE OR ALTER PROCEDURE [$(schema)]._finish_deletion
    @root_id                NVARCHAR(4000),
    @instance_ids           NVARCHAR(MAX),
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

    DECLARE @rows BIGINT = 1, @number BIGINT = 0, @last BIGINT, @target NVARCHAR(400), @is_gone BIT = 1;
    DECLARE @ids TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
                        depth       INT NOT NULL);
    DECLARE @order TABLE (number      BIGINT NOT NULL PRIMARY KEY,
                          instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL);

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

    -- Numbered once, because a search for the next one would read all that are left each time.
    INSERT INTO @order (number, instance_id)
    SELECT ROW_NUMBER() OVER (ORDER BY t.depth DESC, t.instance_id), t.instance_id
    FROM   @ids AS t;
    SET @last = @@ROWCOUNT;

    SET @has_more = 0;
    WHILE @number < @last AND @is_gone = 1
    BEGIN
        IF @number > 0 AND DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) >= @deadline_ms
        BEGIN
            SET @is_gone = 0;
        END
        ELSE
        BEGIN
            SET @number = @number + 1;
            SELECT @target = o.instance_id FROM @order AS o WHERE o.number = @number;
            EXEC [$(schema)]._delete_fenced
                @instance_id = @target, @deadline_ms = @deadline_ms, @is_gone = @is_gone OUTPUT,
                @instances_deleted = @instances_deleted OUTPUT, @executions_deleted = @executions_deleted OUTPUT,
                @events_deleted = @events_deleted OUTPUT, @queue_messages_deleted = @queue_messages_deleted OUTPUT;
        END;
    END;

    IF @is_gone = 0
    BEGIN
        SET @has_more = 1;
    END;
END;
