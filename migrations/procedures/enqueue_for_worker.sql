-- Puts an activity into the worker queue, ready at once.
--
-- Callers   Provider::enqueue_for_worker
-- Locks     session_lanes through _lock_session_lanes: the item's lane if it has a session; then
--           worker_queue through _add_work_items: the new row
-- Order     sessions is read with session_lanes; the read keeps no lock
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
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @now_ms BIGINT, @has_sessions BIT, @done BIT = 0;

    EXEC [$(schema)]._check_work_items @worker_items = @worker_items, @has_sessions = @has_sessions OUTPUT;

    WHILE @done = 0
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;
            IF @has_sessions = 1
            BEGIN
                EXEC [$(schema)]._lock_session_lanes @worker_items = @worker_items;
            END;
            -- After the lane's own time, or the lane would promise the item too late.
            SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
            EXEC [$(schema)]._add_work_items @worker_items = @worker_items, @now_ms = @now_ms;
            COMMIT TRANSACTION;
            SET @done = 1;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0
            BEGIN
                ROLLBACK TRANSACTION;
            END;
            -- 2627: another caller created the item's lane first. It is there now.
            IF ERROR_NUMBER() <> 2627
            BEGIN
                THROW;
            END;
        END CATCH;
    END;
END;
