-- Puts an activity into the worker queue, ready at once.
--
-- Callers   Provider::enqueue_for_worker
-- Locks     session_lanes: the item's lane if it has a session; worker_queue: the new row
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id, session id or tag unusable
--
-- @worker_items has the shape that ack_orchestration_item takes. The instance need not exist.
-- A call repeated after an unknown outcome may put the item in twice, as in enqueue_for_orchestrator.
CREATE OR ALTER PROCEDURE [$(schema)].enqueue_for_worker
    @worker_items NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    EXEC [$(schema)]._check_work_items @worker_items = @worker_items;

    DECLARE @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

    BEGIN TRANSACTION;
    EXEC [$(schema)]._add_work_items @worker_items = @worker_items, @now_ms = @now_ms;
    COMMIT TRANSACTION;
END;
