-- Lists an instance's executions in order.
--
-- Callers   ProviderAdmin::list_executions
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
CREATE OR ALTER PROCEDURE [$(schema)].list_executions
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    SELECT e.execution_id
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
    ORDER BY e.execution_id;
END;
