-- Returns what is known about an instance.
--
-- Callers   ProviderAdmin::get_instance_info
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--           51007 no such instance
--
-- Two reads of one row each rather than a join, which could hold the execution while it asks for the
-- instance: a turn locks them the other way. Status and output come from the same read.
CREATE OR ALTER PROCEDURE [$(schema)].get_instance_info
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @name NVARCHAR(MAX), @version NVARCHAR(MAX), @execution_id BIGINT, @status NVARCHAR(50),
            @output NVARCHAR(MAX), @created_at_ms BIGINT, @updated_at_ms BIGINT, @parent_id NVARCHAR(400);

    SELECT @name = i.orchestration_name, @version = i.orchestration_version,
           @execution_id = i.current_execution_id, @status = i.status, @created_at_ms = i.created_at_ms,
           @updated_at_ms = i.updated_at_ms, @parent_id = i.parent_instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;

    IF @execution_id IS NULL
    BEGIN
        THROW 51007, N'instance not found', 1;
    END;

    SELECT @status = e.status, @output = e.output
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id = @execution_id;

    SELECT CAST(@instance_id AS NVARCHAR(400)) AS instance_id, @name AS orchestration_name,
           @version AS orchestration_version, @execution_id AS current_execution_id, @status AS status,
           @output AS output, @created_at_ms AS created_at_ms, @updated_at_ms AS updated_at_ms,
           @parent_id AS parent_instance_id;
END;
