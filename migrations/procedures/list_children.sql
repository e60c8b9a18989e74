-- Lists the direct children of an instance.
--
-- Callers   ProviderAdmin::list_children
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
CREATE OR ALTER PROCEDURE [$(schema)].list_children
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    SELECT i.instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_parent), FORCESEEK, ROWLOCK)
    WHERE  i.parent_instance_id = @instance_id
    ORDER BY i.instance_id;
END;
