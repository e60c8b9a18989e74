-- Returns the parent of an instance; NULL for a root.
--
-- Callers   ProviderAdmin::get_parent_id
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--           51007 no such instance
CREATE OR ALTER PROCEDURE [$(schema)].get_parent_id
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    IF NOT EXISTS (SELECT 1
                   FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
                   WHERE  i.instance_id = @instance_id)
    BEGIN
        THROW 51007, N'instance not found', 1;
    END;

    SELECT i.parent_instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;
END;
