-- Corrects a lane that promised work which a new owner cannot have yet.
--
-- Callers   _find_session_item, outside any transaction
-- Locks     session_lanes: the lane (update); worker_queue and sessions: read only
-- Throws    51000 called inside a transaction
--
-- Whoever adds an item or gives one back locks the lane first, so under its lock the items that are
-- there are all the items there are. A lane without items goes; it comes back with the next item. A lane that is
-- gone already is nobody's to write: nothing is locked then, and a lane that is found later has items of its own.
-- not_before_ms lies outside the index and is read so that the row itself is locked: with the index
-- entry alone, a writer that comes by another path, or that qualifies rows before it locks them, would
-- lower the promise in between and have it overwritten.
--
-- Whoever writes to the lane or to its items may be at it for long: a turn that schedules thousands of activities locks its
-- lanes first. It is waited for no longer than 250 ms, not at all with @is_patient = 0, and as long as the caller waits with NULL; @is_settled = 0 says that the lane is as it was. @settled_ms is
-- what it promises now; NULL: it is gone.
--
-- The caller's LOCK_TIMEOUT comes back by itself: see _await_instance.
CREATE OR ALTER PROCEDURE [$(schema)]._settle_session_lane
    @session_key NVARCHAR(1000),
    @tag_key     NVARCHAR(1000),
    @is_patient  BIT,
    @is_settled  BIT OUTPUT,
    @settled_ms  BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @promised_ms BIGINT, @next_ms BIGINT, @session_end_ms BIGINT;

    SET @is_settled = 1;
    SET @settled_ms = NULL;
    BEGIN TRY
        IF @is_patient = 1
        BEGIN
            SET LOCK_TIMEOUT 250;
        END;
        IF @is_patient = 0
        BEGIN
            SET LOCK_TIMEOUT 0;
        END;
        BEGIN TRANSACTION;

        SELECT @promised_ms = l.not_before_ms
        FROM   [$(schema)].session_lanes AS l
               WITH (INDEX(uq_session_lanes_key), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  l.session_key = @session_key
          AND  l.tag_key = @tag_key;

        IF @promised_ms IS NOT NULL
        BEGIN
            SELECT TOP (1) @next_ms = q.not_before_ms
            FROM   [$(schema)].worker_queue AS q
                   WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
            WHERE  q.session_key = @session_key
              AND  q.tag_key = @tag_key
            ORDER BY q.not_before_ms, q.work_id;

            IF @next_ms IS NULL
            BEGIN
                DELETE l
                FROM   [$(schema)].session_lanes AS l WITH (INDEX(uq_session_lanes_key), FORCESEEK, ROWLOCK)
                WHERE  l.session_key = @session_key
                  AND  l.tag_key = @tag_key;
            END
            ELSE
            BEGIN
                SELECT @session_end_ms = s.locked_until_ms
                FROM   [$(schema)].sessions AS s
                       WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
                WHERE  s.session_key = @session_key;

                SET @settled_ms = CASE WHEN @session_end_ms > @next_ms THEN @session_end_ms ELSE @next_ms END;
                UPDATE l
                SET    l.not_before_ms = @settled_ms
                FROM   [$(schema)].session_lanes AS l WITH (INDEX(uq_session_lanes_key), FORCESEEK, ROWLOCK)
                WHERE  l.session_key = @session_key
                  AND  l.tag_key = @tag_key;
            END;
        END;

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0
        BEGIN
            ROLLBACK TRANSACTION;
        END;
        SET @is_settled = 0;
        IF ERROR_NUMBER() <> 1222
        BEGIN
            THROW;
        END;
    END CATCH;
END;
