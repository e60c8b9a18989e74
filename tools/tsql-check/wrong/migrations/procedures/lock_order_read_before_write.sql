-- Shows a table that is read in its place and written too late.
--
-- Callers   self-test
-- Locks     worker_queue and instances: one row each
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].lock_order_read_before_write
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @n BIGINT;
    BEGIN TRANSACTION;
    SELECT @n = COUNT_BIG(*) FROM [$(schema)].instances WITH (INDEX(pk_instances), ROWLOCK);
    DELETE q FROM [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK) WHERE q.id = @id;
    DELETE i FROM [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK) WHERE i.instance_id = N'x'; -- wrong: lock-order: instances is touched after worker_queue
    COMMIT TRANSACTION;
END;
