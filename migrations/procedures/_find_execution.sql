-- Finds the execution whose turn it is, if the instance has one.
--
-- Callers   fetch_orchestration_item, inside its transaction and holding the instance's row
-- Locks     none kept: instances, history and orchestrator_queue are only read
-- Order     orchestrator_queue is read last, and only when the other two know nothing
-- Throws    nothing
--
-- An instance without a row in instances (its acks never carried a name and a version) goes on with
-- its latest history. One without history starts with execution 1 if a visible message can start
-- it. Otherwise @execution_id is NULL: the messages belong to no orchestration.
CREATE OR ALTER PROCEDURE [$(schema)]._find_execution
    @instance_id  NVARCHAR(4000),
    @now_ms       BIGINT,
    @has_instance BIT OUTPUT,
    @execution_id BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    SET @has_instance = 0;
    SET @execution_id = NULL;

    SELECT @execution_id = i.current_execution_id, @has_instance = 1
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;

    IF @execution_id IS NULL
    BEGIN
        SELECT TOP (1) @execution_id = h.execution_id
        FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  h.instance_id = @instance_id
        ORDER BY h.execution_id DESC;
    END;

    IF @execution_id IS NULL
    BEGIN
        SELECT TOP (1) @execution_id = 1
        FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
        WHERE  q.instance_id = @instance_id
          AND  q.visible_at_ms <= @now_ms
          AND  q.kind IN (N'StartOrchestration', N'ContinueAsNew');
    END;
END;
