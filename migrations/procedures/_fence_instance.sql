-- Ends an instance's life before its rows go: from the caller's commit on nobody fetches it and no turn of it ends.
--
-- Callers   _delete_instances, inside its transaction and holding the instance's row
-- Locks     instance_locks: the row, already held; instances: its row; executions: the current one and later ones
-- Order     orchestrator_queue is read before instance_locks is written, whose row the caller has
-- Throws    nothing
--
-- The row goes to lane -3, where no fetch looks, and gets a token that nobody has: acks, renewals and abandons of
-- a turn under way end with 51003. Whoever posts a message leaves a held row alone, so messages may come in; they
-- are for the next life of this id, which begins when the last row of this one is gone. pinned_version keeps the
-- last message that goes with this life.
--
-- Readers see the status Deleting and no history: see read. An instance that is fenced already is left alone.
CREATE OR ALTER PROCEDURE [$(schema)]._fence_instance
    @instance_id NVARCHAR(4000),
    @order_ms    BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @last_queue_id BIGINT, @execution_id BIGINT = 0, @token UNIQUEIDENTIFIER = NEWID();

    SELECT @last_queue_id = MAX(q.queue_id)
    FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
    WHERE  q.instance_id = @instance_id;

    UPDATE l
    SET    lane = -3,
           not_before_ms = @order_ms,
           lock_token = @token,
           pinned_version = COALESCE(@last_queue_id, 0)
    FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
    WHERE  instance_id = @instance_id
      AND  lane <> -3;

    IF @@ROWCOUNT = 0
    BEGIN
        RETURN;
    END;

    UPDATE i
    SET    @execution_id = current_execution_id,
           status = N'Deleting'
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;

    UPDATE e
    SET    status = N'Deleting'
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id >= @execution_id;
END;
