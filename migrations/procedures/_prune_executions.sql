-- Deletes an instance's old executions with their history, all or none.
--
-- Callers   prune_executions, prune_executions_bulk, outside any transaction
-- Locks     instance_locks: the instance's row, then executions and history: the rows deleted
-- Throws    nothing; an instance that does not exist has nothing to prune
--
-- Never the current execution, never one that is running. Key-values belong to the instance and stay.
-- Statements stay below 4,000 rows, so that each of them is short. Executions go before their history, as
-- everybody locks them in that order: a reader of an execution may go on to its events.
CREATE OR ALTER PROCEDURE [$(schema)]._prune_executions
    @instance_id         NVARCHAR(4000),
    @keep_last           BIGINT,
    @completed_before_ms BIGINT,
    @executions_deleted  BIGINT OUTPUT,
    @events_deleted      BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @lane BIGINT, @current_execution_id BIGINT, @rows BIGINT = 1;
    DECLARE @old TABLE (execution_id BIGINT NOT NULL PRIMARY KEY);

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

    INSERT INTO @old (execution_id)
    SELECT e.execution_id
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id <> @current_execution_id
      AND  e.status <> N'Running'
      AND  (@completed_before_ms IS NULL OR e.completed_at_ms < @completed_before_ms)
      AND  e.execution_id NOT IN (SELECT TOP (COALESCE(@keep_last, 0)) k.execution_id
                                  FROM   [$(schema)].executions AS k WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
                                  WHERE  k.instance_id = @instance_id
                                  ORDER BY k.execution_id DESC);

    WHILE @rows > 0
    BEGIN
        DELETE TOP (4000) e
        FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
        WHERE  e.instance_id = @instance_id
          AND  e.execution_id IN (SELECT o.execution_id FROM @old AS o);
        SET @rows = @@ROWCOUNT;
        SET @executions_deleted = @executions_deleted + @rows;
    END;

    SET @rows = 1;
    WHILE @rows > 0
    BEGIN
        DELETE TOP (4000) h
        FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  h.instance_id = @instance_id
          AND  h.execution_id IN (SELECT o.execution_id FROM @old AS o);
        SET @rows = @@ROWCOUNT;
        SET @events_deleted = @events_deleted + @rows;
    END;

    COMMIT TRANSACTION;
END;
