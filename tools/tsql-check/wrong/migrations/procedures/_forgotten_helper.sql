-- Shows a helper that does not name its caller.
--
-- Callers   nobody -- wrong: header: Callers does not name header_forgets_helper
-- Locks     instances: one row
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)]._forgotten_helper
    @instance_id  NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DELETE i FROM [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK) WHERE i.instance_id = @instance_id;
END;
