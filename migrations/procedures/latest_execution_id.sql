-- Returns the number of an instance's latest execution; 1 when it has none.
--
-- Callers   ProviderAdmin::latest_execution_id
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
CREATE OR ALTER PROCEDURE [$(schema)].latest_execution_id
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    SELECT COALESCE(MAX(e.execution_id), 1) AS execution_id
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id;
END;
