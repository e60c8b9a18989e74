-- Lists all instances, newest first.
--
-- Callers   ProviderAdmin::list_instances
-- Locks     none kept
-- Throws    nothing
--
-- In the order of an index that has nothing but what is needed, backwards: nothing is sorted, and no row is
-- read. No instance ever changes its place in it. In the index of states an instance that ends during the
-- search would move behind it, and be missing from the list.
--
-- The ids are copied before they are sent. Without snapshot reads the entry that the search has come to is locked, and a
-- caller who stops reading would hold up the turn that continues that instance as new. n is their order.
CREATE OR ALTER PROCEDURE [$(schema)].list_instances
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @sent TABLE
    (
        n           BIGINT IDENTITY(1, 1) NOT NULL PRIMARY KEY,
        instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL
    );

    INSERT INTO @sent (instance_id)
    SELECT i.instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_created), ROWLOCK)
    ORDER BY i.created_at_ms DESC, i.instance_id DESC;

    SELECT t.instance_id
    FROM   @sent AS t
    ORDER BY t.n;
END;
