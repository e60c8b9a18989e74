-- Right: leaves its caller's transaction as it was, or throws.
--
-- Callers   right_claim, lock_order_through_helper
-- Locks     instances: one row
-- Throws    51002 the instance is gone
CREATE OR ALTER PROCEDURE [$(schema)]._right_helper
    @instance_id  NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    UPDATE i
    SET    i.status = N'Running'
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;

    IF @@ROWCOUNT = 0
    BEGIN
        THROW 51002, N'instance is gone', 1;
    END;
END;
