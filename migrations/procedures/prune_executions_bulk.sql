-- Deletes old executions of all instances that pass the filter, running ones included.
--
-- Callers   ProviderAdmin::prune_executions_bulk
-- Locks     as _prune_executions, one instance at a time
-- Throws    51000 called inside a transaction
--           51001, 51002 an instance id is unusable
--
-- The filter's @filter_completed_before_ms looks at the current execution; @keep_last and
-- @completed_before_ms say what to prune, and instances that have nothing of the kind are passed over:
-- otherwise the same ones would come first for ever. Executions that a call before this one has marked and not finished
-- count as such in any case. Oldest instances first, each a transaction of its
-- own; @budget_ms ends the call by itself, and has_more says whether there is a reason to repeat it. Instances of
-- a list are sought. Without one, those that have ever continued as new are looked for page by page in the index of
-- ages, where no instance changes its place; what a page brings is pruned before the next one is read. A schema with millions of
-- instances may have none to prune among those that the time suffices for: next_ms says to a caller whose call has processed none
-- from where, as @from_ms, the next one goes on. The bounds of the index are cast, because a larger literal is NUMERIC, and the seek would not begin at a bound of another type.
CREATE OR ALTER PROCEDURE [$(schema)].prune_executions_bulk
    @instance_ids               NVARCHAR(MAX) = NULL,
    @filter_completed_before_ms BIGINT = NULL,
    @limit                      BIGINT = NULL,
    @keep_last                  BIGINT = NULL,
    @completed_before_ms        BIGINT = NULL,
    @budget_ms                  BIGINT = NULL,
    @from_ms                    BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @deadline_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + @budget_ms, @has_rest BIT,
            @instance_id NVARCHAR(400), @instance_ms BIGINT, @searching BIT = 1, @has_more BIT = 0,
            @page_ms BIGINT = COALESCE(@from_ms, CAST(-9223372036854775807 AS BIGINT)), @next_ms BIGINT, @walking BIT = 1,
            @pruned BIGINT, @pruned_events BIGINT,
            @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0;
    DECLARE @wanted TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @chosen TABLE
    (
        created_at_ms BIGINT NOT NULL,
        instance_id   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
        PRIMARY KEY (created_at_ms, instance_id)
    );

    SET @limit = COALESCE(@limit, 1000);

    IF @instance_ids IS NOT NULL
    BEGIN
        EXEC [$(schema)]._check_instance_ids @list = @instance_ids;
        INSERT INTO @wanted (instance_id)
        SELECT DISTINCT j.instance_id COLLATE Latin1_General_100_BIN2
        FROM   OPENJSON(@instance_ids) WITH (instance_id NVARCHAR(400) '$') AS j;
    END;

    WHILE @walking = 1
    BEGIN
        IF @instance_ids IS NULL
        BEGIN
            SET @next_ms = NULL;
            SELECT @next_ms = MAX(p.created_at_ms)
            FROM   (SELECT TOP (1000) i.created_at_ms
                    FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_created), FORCESEEK, ROWLOCK)
                    WHERE  i.created_at_ms >= @page_ms
                    ORDER BY i.created_at_ms) AS p;

            DELETE FROM @wanted;
            INSERT INTO @wanted (instance_id)
            SELECT i.instance_id
            FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_created), FORCESEEK, ROWLOCK)
            WHERE  i.created_at_ms >= @page_ms
              AND  i.created_at_ms <= @next_ms
              AND  i.current_execution_id > 1;
        END;

        -- One more than wanted, which tells whether more is left. What is old is chosen as in _prune_executions, under
        -- the lock that this search does not have: it steps over executions that are being written or pruned, because
        -- it has one of an instance while it asks for another, and would meet a prune half-way.
        INSERT INTO @chosen (created_at_ms, instance_id)
        SELECT TOP (@limit + 1 - @instances) i.created_at_ms, i.instance_id
        FROM   @wanted AS w
        INNER JOIN [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
               ON  i.instance_id = w.instance_id
        LEFT OUTER JOIN [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
               ON  e.instance_id = i.instance_id
              AND  e.execution_id = i.current_execution_id
        OUTER APPLY
        (
            SELECT MIN(k.execution_id) AS kept_from
            FROM   (SELECT TOP (COALESCE(@keep_last, 0)) n.execution_id
                    FROM   [$(schema)].executions AS n
                           WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                    WHERE  n.instance_id = i.instance_id
                    ORDER BY n.execution_id DESC) AS k
        ) AS c
        WHERE  i.current_execution_id > 1
          AND  i.created_at_ms >= @page_ms
          AND  (@filter_completed_before_ms IS NULL OR e.completed_at_ms < @filter_completed_before_ms)
          AND  EXISTS (SELECT 1
                       FROM   [$(schema)].executions AS o
                              WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                       WHERE  o.instance_id = i.instance_id
                         AND  o.execution_id <> i.current_execution_id
                         AND  o.status <> N'Running'
                         AND  (o.status = N'Deleting' OR @completed_before_ms IS NULL
                               OR o.completed_at_ms < @completed_before_ms)
                         AND  (o.status = N'Deleting' OR c.kept_from IS NULL OR o.execution_id < c.kept_from))
        ORDER BY i.created_at_ms, i.instance_id;

        SET @searching = 1;
        WHILE @searching = 1
        BEGIN
            SET @instance_id = NULL;
            SELECT TOP (1) @instance_id = c.instance_id, @instance_ms = c.created_at_ms
            FROM   @chosen AS c
            ORDER BY c.created_at_ms, c.instance_id;

            IF @instance_id IS NULL
            BEGIN
                SET @searching = 0;
            END
            ELSE IF @instances >= @limit
                    OR (@instances > 0 AND DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) >= @deadline_ms)
            BEGIN
                SET @searching = 0;
                SET @walking = 0;
                SET @has_more = 1;
            END
            ELSE
            BEGIN
                DELETE FROM @chosen WHERE created_at_ms = @instance_ms AND instance_id = @instance_id;
                EXEC [$(schema)]._prune_executions
                    @instance_id = @instance_id, @keep_last = @keep_last,
                    @completed_before_ms = @completed_before_ms, @deadline_ms = @deadline_ms,
                    @has_more = @has_rest OUTPUT,
                    @executions_deleted = @pruned OUTPUT, @events_deleted = @pruned_events OUTPUT;
                SET @instances = @instances + 1;
                SET @executions = @executions + @pruned;
                SET @events = @events + @pruned_events;
                IF @has_rest = 1
                BEGIN
                    SET @has_more = 1;
                END;
            END;
        END;

        IF @next_ms IS NULL
        BEGIN
            SET @walking = 0;
        END
        ELSE IF @walking = 1
        BEGIN
            SET @page_ms = @next_ms + 1;
            IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) >= @deadline_ms
            BEGIN
                SET @walking = 0;
                SET @has_more = 1;
            END;
        END;
    END;

    SELECT @instances AS instances_processed, @executions AS executions_deleted, @events AS events_deleted,
           @has_more AS has_more, @page_ms AS next_ms;
END;
