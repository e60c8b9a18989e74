-- Returns what is known about an instance.
--
-- Callers   ProviderAdmin::get_instance_info
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--           51007 no such instance
CREATE OR ALTER PROCEDURE [$(schema)].get_instance_info
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    IF NOT EXISTS (SELECT 1 FROM [$(schema)].instances AS i WHERE i.instance_id = @instance_id)
    BEGIN
        THROW 51007, N'instance not found', 1;
    END;

    SELECT i.instance_id, i.orchestration_name, i.orchestration_version, i.current_execution_id, i.status,
           e.output, i.created_at_ms, i.updated_at_ms, i.parent_instance_id
    FROM   [$(schema)].instances AS i
    LEFT OUTER JOIN [$(schema)].executions AS e
           ON  e.instance_id = i.instance_id
          AND  e.execution_id = i.current_execution_id
    WHERE  i.instance_id = @instance_id;
END;
