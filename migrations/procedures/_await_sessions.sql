-- Waits until nobody else is writing to the sessions of a worker, but not for long.
--
-- Callers   _find_session_item, outside any transaction
-- Locks     sessions: one row at a time, let go at once
-- Throws    nothing
--
-- As _await_instance, which gives the reasons. The rows are read by the index that the search for them uses, because a
-- session that is being won or renewed is missing there for the moment.
CREATE OR ALTER PROCEDURE [$(schema)]._await_sessions
    @session_owner NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @session_count BIGINT, @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

    BEGIN TRY
        SET LOCK_TIMEOUT 250;
        SELECT @session_count = COUNT(*)
        FROM   [$(schema)].sessions AS s WITH (INDEX(ix_sessions_owner), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  s.owner_id = @session_owner
          AND  s.locked_until_ms > @now_ms;
    END TRY
    BEGIN CATCH
        IF ERROR_NUMBER() <> 1222
        BEGIN
            THROW;
        END;
    END CATCH;
END;
