-- Lists all instances, newest first.
--
-- Callers   ProviderAdmin::list_instances
-- Locks     none kept
-- Throws    nothing
--
-- In the order of an index that has nothing but what is needed, backwards: nothing is sorted, and no row is
-- read. No instance ever changes its place in it. In the index of states an instance that ends during the
-- search would move behind it, and be missing from the list.
CREATE OR ALTER PROCEDURE [$(schema)].list_instances
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT i.instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_created), ROWLOCK)
    ORDER BY i.created_at_ms DESC, i.instance_id DESC;
END;
