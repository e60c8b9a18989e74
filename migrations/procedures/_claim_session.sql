-- Leases a session to a worker, if it has no other owner.
--
-- Callers   fetch_work_item, inside its transaction
-- Locks     sessions: the session's row; a range while the row does not exist
-- Throws    nothing; @won says how it ended
--
-- A worker that owns the session already only extends its lease, and never shortens it.
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

    UPDATE [$(schema)].sessions
    SET    owner_id = @owner_id,
           locked_until_ms = CASE WHEN locked_until_ms > @locked_until_ms
                                  THEN locked_until_ms ELSE @locked_until_ms END,
           last_activity_ms = @now_ms
    WHERE  session_key = @session_key
      AND  (owner_id = @owner_id OR locked_until_ms <= @now_ms);

    IF @@ROWCOUNT = 0
    BEGIN
        INSERT INTO [$(schema)].sessions (session_key, owner_id, locked_until_ms, last_activity_ms)
        SELECT @session_key, @owner_id, @locked_until_ms, @now_ms
        WHERE  NOT EXISTS (SELECT 1
                           FROM   [$(schema)].sessions AS s WITH (UPDLOCK, HOLDLOCK, ROWLOCK)
                           WHERE  s.session_key = @session_key);
        IF @@ROWCOUNT = 0
        BEGIN
            SET @won = 0;
        END;
    END;
END;
