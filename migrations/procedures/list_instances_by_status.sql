-- Lists the instances whose current execution has the given status, newest first.
--
-- Callers   ProviderAdmin::list_instances_by_status
-- Locks     none kept
-- Throws    nothing
CREATE OR ALTER PROCEDURE [$(schema)].list_instances_by_status
    @status NVARCHAR(100)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT i.instance_id
    FROM   [$(schema)].instances AS i
    WHERE  i.status = @status
    ORDER BY i.created_at_ms DESC, i.instance_id;
END;
