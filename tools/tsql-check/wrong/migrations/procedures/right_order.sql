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
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRANSACTION;
    DELETE q FROM [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), ROWLOCK) WHERE q.instance_id = @instance_id;
    DELETE l FROM [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK) WHERE l.instance_id = @instance_id;
    COMMIT TRANSACTION;
END;
