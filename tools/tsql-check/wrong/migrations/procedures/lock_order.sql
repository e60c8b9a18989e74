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
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRANSACTION;
    IF @id = 1
    BEGIN
        DELETE q FROM [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK) WHERE q.id = @id;
    END;
    DELETE l FROM [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK) WHERE l.instance_id = N'x'; -- wrong: lock-order: instance_locks is touched after worker_queue
    COMMIT TRANSACTION;
END;
