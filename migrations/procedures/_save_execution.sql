-- Writes what a turn says about its instance and its execution.
--
-- Callers   ack_orchestration_item, inside its transaction and holding the instance's row
-- Locks     instances and executions: one row each
-- Throws    nothing
--
-- The instance gets a row only when both name and version are known; the execution always gets
-- one, and an existing status is never reset. The parent is set once. The current execution only
-- moves forward, and instances.status follows it. A custom status bumps its version by one per
-- turn, whatever the number of updates.
--
-- @lane_version returns the pinned version of the current execution, which decides the lane the
-- instance queues in; -1 when there is none.
CREATE OR ALTER PROCEDURE [$(schema)]._save_execution
    @instance_id           NVARCHAR(4000),
    @execution_id          BIGINT,
    @now_ms                BIGINT,
    @event_count           BIGINT,
    @status                NVARCHAR(100),
    @output                NVARCHAR(MAX),
    @orchestration_name    NVARCHAR(MAX),
    @orchestration_version NVARCHAR(MAX),
    @parent_instance_id    NVARCHAR(4000),
    @pinned_version        BIGINT,
    @set_custom_status     BIT,
    @custom_status         NVARCHAR(MAX),
    @process_id            UNIQUEIDENTIFIER,
    @lane_version          BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @is_named BIT = 0;

    IF @orchestration_name IS NOT NULL AND @orchestration_version IS NOT NULL
    BEGIN
        SET @is_named = 1;
    END;

    UPDATE i
    SET    orchestration_name = CASE WHEN @is_named = 1 THEN @orchestration_name ELSE orchestration_name END,
           orchestration_version = CASE WHEN @is_named = 1 THEN @orchestration_version ELSE orchestration_version END,
           parent_instance_id = COALESCE(parent_instance_id, @parent_instance_id),
           status = CASE WHEN @execution_id < current_execution_id THEN status
                         WHEN @status IS NOT NULL THEN @status
                         WHEN @execution_id > current_execution_id THEN N'Running'
                         ELSE status END,
           current_execution_id = CASE WHEN @execution_id > current_execution_id
                                       THEN @execution_id ELSE current_execution_id END,
           updated_at_ms = @now_ms
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;

    IF @@ROWCOUNT = 0 AND @is_named = 1
    BEGIN
        INSERT INTO [$(schema)].instances WITH (ROWLOCK)
            (instance_id, orchestration_name, orchestration_version, parent_instance_id, current_execution_id,
             status, custom_status, custom_status_version, created_at_ms, updated_at_ms)
        SELECT @instance_id, @orchestration_name, @orchestration_version, @parent_instance_id, @execution_id,
               COALESCE(@status,
                        (SELECT e.status
                         FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
                         WHERE  e.instance_id = @instance_id
                           AND  e.execution_id = @execution_id),
                        N'Running'),
               NULL, 0, @now_ms, @now_ms;
    END;

    -- A statement of its own, so that a turn without one does not rewrite a large text.
    IF @set_custom_status = 1
    BEGIN
        UPDATE i
        SET    i.custom_status = @custom_status,
               i.custom_status_version = i.custom_status_version + 1
        FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
        WHERE  i.instance_id = @instance_id;
    END;

    UPDATE e
    SET    status = COALESCE(@status, status),
           output = CASE WHEN @status IS NULL THEN output ELSE @output END,
           completed_at_ms = CASE WHEN @status IS NULL THEN completed_at_ms
                                  WHEN @status IN (N'Completed', N'Failed', N'ContinuedAsNew') THEN @now_ms
                                  ELSE NULL END,
           pinned_version = COALESCE(@pinned_version, pinned_version),
           event_count = event_count + @event_count,
           acked_by = @process_id
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id = @execution_id;

    IF @@ROWCOUNT = 0
    BEGIN
        INSERT INTO [$(schema)].executions WITH (ROWLOCK)
            (instance_id, execution_id, status, output, pinned_version, event_count, acked_by, started_at_ms,
             completed_at_ms)
        VALUES
            (@instance_id, @execution_id, COALESCE(@status, N'Running'), @output, @pinned_version, @event_count,
             @process_id, @now_ms,
             CASE WHEN @status IN (N'Completed', N'Failed', N'ContinuedAsNew') THEN @now_ms ELSE NULL END);
    END;

    SET @lane_version = -1;
    SELECT @lane_version = COALESCE(e.pinned_version, -1)
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    INNER JOIN [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
           ON  e.instance_id = i.instance_id
          AND  e.execution_id = i.current_execution_id
    WHERE  i.instance_id = @instance_id;
END;
