-- Lists all instances, newest first.
--
-- Callers   ProviderAdmin::list_instances
-- Locks     none kept
-- Throws    nothing
CREATE OR ALTER PROCEDURE [$(schema)].list_instances
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT i.instance_id
    FROM   [$(schema)].instances AS i
    ORDER BY i.created_at_ms DESC, i.instance_id;
END;
