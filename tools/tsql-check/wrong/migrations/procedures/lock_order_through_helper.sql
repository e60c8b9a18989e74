-- Shows a helper that touches a table too late for its caller.
--
-- Callers   self-test
-- Locks     worker_queue: one row; _right_helper
-- Throws    51002 from _right_helper
CREATE OR ALTER PROCEDURE [$(schema)].lock_order_through_helper
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    BEGIN TRANSACTION;
    DELETE q FROM [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK) WHERE q.id = @id;
    EXEC [$(schema)]._right_helper @instance_id = N'x'; -- wrong: lock-order: in _right_helper, instances is touched after worker_queue
    COMMIT TRANSACTION;
END;
