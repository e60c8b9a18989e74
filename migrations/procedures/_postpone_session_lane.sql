-- Lets a lane promise nothing before a session's lease has ended.
--
-- Callers   fetch_work_item, outside any transaction, after it has won the session
-- Locks     session_lanes: the lane, unless somebody else has it; sessions: the session's row (shared)
-- Throws    nothing, whatever happens: the caller's work is committed, and must not be reported as failed
--
-- A session that was let go meanwhile is left alone: see renew_session_lock. Whoever writes to it is hardly waited for: the
-- caller has an item to deliver. Its LOCK_TIMEOUT comes back by itself: see _await_instance.
CREATE OR ALTER PROCEDURE [$(schema)]._postpone_session_lane
    @session_key   NVARCHAR(1000),
    @tag_key       NVARCHAR(1000),
    @not_before_ms BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    BEGIN TRY
        SET LOCK_TIMEOUT 50;
        UPDATE l
        SET    l.not_before_ms = @not_before_ms
        FROM   [$(schema)].session_lanes AS l
               WITH (INDEX(uq_session_lanes_key), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE  l.session_key = @session_key
          AND  l.tag_key = @tag_key
          AND  l.not_before_ms < @not_before_ms
          AND  EXISTS (SELECT 1
                       FROM   [$(schema)].sessions AS s
                              WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, REPEATABLEREAD)
                       WHERE  s.session_key = @session_key
                         AND  s.locked_until_ms >= @not_before_ms);
    END TRY
    BEGIN CATCH
        -- The next fetch that visits the lane corrects it.
    END CATCH;
END;
