-- Leases a session to a worker, if it has no other owner.
--
-- Callers   fetch_work_item, inside its transaction
-- Locks     sessions: the session's row
-- Throws    2627 when another worker created the session at the same moment; the caller rolls back and
--           looks again
--
-- A worker that owns the session already only extends its lease, and never shortens it.
-- @won = 0: somebody else has it.
CREATE OR ALTER PROCEDURE [$(schema)]._claim_session
    @session_key     NVARCHAR(1000),
    @owner_id        NVARCHAR(4000),
    @now_ms          BIGINT,
    @locked_until_ms BIGINT,
    @won             BIT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    SET @won = 1;

    UPDATE s
    SET    s.owner_id = @owner_id,
           s.locked_until_ms = CASE WHEN s.locked_until_ms > @locked_until_ms
                                    THEN s.locked_until_ms ELSE @locked_until_ms END,
           s.last_activity_ms = @now_ms
    FROM   [$(schema)].sessions AS s WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK)
    WHERE  s.session_key = @session_key
      AND  (s.owner_id = @owner_id OR s.locked_until_ms <= @now_ms);

    IF @@ROWCOUNT = 0
    BEGIN
        -- No range lock: unrelated sessions, whose keys happen to be neighbours, must not wait.
        INSERT INTO [$(schema)].sessions WITH (ROWLOCK) (session_key, owner_id, locked_until_ms, last_activity_ms)
        SELECT @session_key, @owner_id, @locked_until_ms, @now_ms
        WHERE  NOT EXISTS (SELECT 1
                           FROM   [$(schema)].sessions AS s
                                  WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
                           WHERE  s.session_key = @session_key);
        IF @@ROWCOUNT = 0
        BEGIN
            SET @won = 0;
        END;
    END;
END;
