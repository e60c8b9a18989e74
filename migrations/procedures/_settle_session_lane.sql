-- Corrects a lane that promised work which a new owner cannot have yet.
--
-- Callers   _find_session_item, outside any transaction
-- Locks     session_lanes: the lane (update); worker_queue and sessions: read only
-- Throws    nothing
--
-- Whoever adds an item or gives one back locks the lane first, so under its lock the items that are
-- there are all the items there are. A lane without items goes; it comes back with the next item.
CREATE OR ALTER PROCEDURE [$(schema)]._settle_session_lane
    @session_key NVARCHAR(1000),
    @tag_key     NVARCHAR(1000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @lane_id BIGINT, @next_ms BIGINT, @session_end_ms BIGINT;

    BEGIN TRANSACTION;

    SELECT @lane_id = l.lane_id
    FROM   [$(schema)].session_lanes AS l
           WITH (INDEX(uq_session_lanes_key), UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  l.session_key = @session_key
      AND  l.tag_key = @tag_key;

    SELECT TOP (1) @next_ms = q.not_before_ms
    FROM   [$(schema)].worker_queue AS q
           WITH (INDEX(ix_worker_queue_ready), ROWLOCK, READCOMMITTEDLOCK)
    WHERE  q.session_key = @session_key
      AND  q.tag_key = @tag_key
    ORDER BY q.not_before_ms, q.work_id;

    IF @next_ms IS NULL
    BEGIN
        DELETE FROM [$(schema)].session_lanes
        WHERE  session_key = @session_key
          AND  tag_key = @tag_key;
    END
    ELSE
    BEGIN
        SELECT @session_end_ms = s.locked_until_ms
        FROM   [$(schema)].sessions AS s WITH (ROWLOCK, READCOMMITTEDLOCK)
        WHERE  s.session_key = @session_key;

        UPDATE [$(schema)].session_lanes
        SET    not_before_ms = CASE WHEN @session_end_ms > @next_ms THEN @session_end_ms ELSE @next_ms END
        WHERE  session_key = @session_key
          AND  tag_key = @tag_key;
    END;

    COMMIT TRANSACTION;
END;
