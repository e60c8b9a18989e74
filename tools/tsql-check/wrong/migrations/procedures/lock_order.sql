-- Shows tables touched against the order, on one branch only.
--
-- Callers   self-test
-- Locks     worker_queue and instance_locks: one row each
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].lock_order
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    BEGIN TRANSACTION;
    IF @id = 1
    BEGIN
        DELETE FROM [$(schema)].worker_queue WHERE id = @id;
    END;
    DELETE FROM [$(schema)].instance_locks WHERE instance_id = N'x'; -- wrong: lock-order: instance_locks is touched after worker_queue
    COMMIT TRANSACTION;
END;
