-- Waits until nobody else is writing to an instance's row, but not for long.
--
-- Callers   fetch_orchestration_item, outside any transaction
-- Locks     instance_locks: the row, let go at once
-- Throws    nothing
--
-- The caller has stepped over this row, because it is locked, and found nothing else. It is mostly free
-- again within milliseconds. If not, the caller looks again anyway: other rows may have become ready.
--
-- The caller's LOCK_TIMEOUT comes back with the end of the procedure ("SET statements"). It cannot be put back by hand, because
-- SET LOCK_TIMEOUT takes a number and no variable.
CREATE OR ALTER PROCEDURE [$(schema)]._await_instance
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @lane BIGINT;

    BEGIN TRY
        SET LOCK_TIMEOUT 250;
        SELECT @lane = l.lane
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(pk_instance_locks), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  l.instance_id = @instance_id;
    END TRY
    BEGIN CATCH
        IF ERROR_NUMBER() <> 1222
        BEGIN
            THROW;
        END;
    END CATCH;
END;
