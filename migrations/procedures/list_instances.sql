-- Lists all instances, newest first.
--
-- Callers   ProviderAdmin::list_instances
-- Locks     none kept
-- Throws    nothing
--
-- Read by the primary key, which no instance ever changes. In the narrower index of states an instance that
-- ends during the search would move behind it, and be missing from the list.
CREATE OR ALTER PROCEDURE [$(schema)].list_instances
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT i.instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), ROWLOCK)
    ORDER BY i.created_at_ms DESC, i.instance_id;
END;
