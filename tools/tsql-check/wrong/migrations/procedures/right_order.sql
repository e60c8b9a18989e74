-- Right: departs from the lock order and says why.
--
-- Callers   exec_arguments
-- Locks     worker_queue and instance_locks: the instance's rows
-- Throws    none
-- Order     worker_queue comes first because the rows of a deleted instance have no other reader.
CREATE OR ALTER PROCEDURE [$(schema)].right_order
    @instance_id  NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    BEGIN TRANSACTION;
    DELETE FROM [$(schema)].worker_queue WHERE instance_id = @instance_id;
    DELETE FROM [$(schema)].instance_locks WHERE instance_id = @instance_id;
    COMMIT TRANSACTION;
END;
