-- Waits until nobody else is writing to an item's row, but not for long.
--
-- Callers   fetch_work_item, outside any transaction
-- Locks     worker_queue: the row, let go at once
-- Throws    nothing
--
-- As _await_instance, which gives the reasons.
CREATE OR ALTER PROCEDURE [$(schema)]._await_work_item
    @work_id BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @attempt_count INT;

    BEGIN TRY
        SET LOCK_TIMEOUT 250;
        SELECT @attempt_count = q.attempt_count
        FROM   [$(schema)].worker_queue AS q
               WITH (INDEX(pk_worker_queue), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  q.work_id = @work_id;
    END TRY
    BEGIN CATCH
        IF ERROR_NUMBER() <> 1222
        BEGIN
            THROW;
        END;
    END CATCH;
END;
