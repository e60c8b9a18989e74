-- Locks the lanes of the sessions that are about to get items, and makes them promise these in time.
--
-- Callers   enqueue_for_worker, ack_orchestration_item, both inside their transaction, when an item has a session
-- Locks     session_lanes: the lanes of the items (update, or new rows), in the order of their keys
-- Order     sessions is read under the lane's lock; the read keeps no lock
-- Throws    2627 when another caller created a lane at the same moment; the caller rolls back and
--           starts again, and then finds the lane
--
-- A lane is locked before an item goes into it. A fetch that corrects a lane's not_before_ms
-- therefore sees either no item or a committed one, and never moves the lane past it.
--
-- Until when its session is leased is read under the lane's lock too, and of a new lane when it is there: release_sessions
-- brings lanes and end forward together, and an end that was read before would let the lane promise too late again.
--
-- One lane at a time on purpose; a statement over all of them would leave the order to the plan. The next one is looked for
-- from the last session on, in an AND that can be sought: for an OR of both keys the server may read all those before.
-- not_before_ms lies outside the index, so that the row itself is locked and not its entry alone; all
-- writers of a lane come this way.
CREATE OR ALTER PROCEDURE [$(schema)]._lock_session_lanes
    @worker_items NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()),
            @session_key NVARCHAR(400) = N'', @tag_key NVARCHAR(260) = N'', @claim_ms BIGINT,
            @last_session NVARCHAR(400), @last_tag NVARCHAR(260), @promised_ms BIGINT, @is_new BIT;
    DECLARE @lanes TABLE
    (
        session_key NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
        tag_key     NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL,
        PRIMARY KEY NONCLUSTERED (session_key, tag_key)
    );

    INSERT INTO @lanes (session_key, tag_key)
    SELECT DISTINCT
           (N'[' + j.session_id + N']') COLLATE Latin1_General_100_BIN2,
           COALESCE(N'[' + j.tag + N']', N'') COLLATE Latin1_General_100_BIN2
    FROM   OPENJSON(@worker_items)
           WITH (session_id NVARCHAR(398) '$.session_id', tag NVARCHAR(256) '$.tag') AS j
    WHERE  j.session_id IS NOT NULL;

    IF @@ROWCOUNT = 0
    BEGIN
        RETURN;
    END;

    WHILE @session_key IS NOT NULL
    BEGIN
        SET @last_session = @session_key;
        SET @last_tag = @tag_key;
        SET @session_key = NULL;
        SELECT TOP (1) @session_key = v.session_key, @tag_key = v.tag_key
        FROM   @lanes AS v
        WHERE  v.session_key >= @last_session
          AND  (v.session_key > @last_session OR v.tag_key > @last_tag)
        ORDER BY v.session_key, v.tag_key;

        SET @promised_ms = NULL;
        SELECT @promised_ms = l.not_before_ms
        FROM   [$(schema)].session_lanes AS l
               WITH (INDEX(uq_session_lanes_key), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  l.session_key = @session_key
          AND  l.tag_key = @tag_key;

        SET @is_new = 0;
        IF @promised_ms IS NULL AND @session_key IS NOT NULL
        BEGIN
            INSERT INTO [$(schema)].session_lanes WITH (ROWLOCK) (session_key, tag_key, not_before_ms)
            VALUES (@session_key, @tag_key, @now_ms);
            SET @promised_ms = @now_ms;
            SET @is_new = 1;
        END;

        -- Nobody but its owner can take an item of a session that is leased.
        SET @claim_ms = @now_ms;
        SELECT @claim_ms = s.locked_until_ms
        FROM   [$(schema)].sessions AS s WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  s.session_key = @session_key
          AND  s.locked_until_ms > @now_ms;

        IF @promised_ms > @claim_ms OR (@is_new = 1 AND @promised_ms < @claim_ms)
        BEGIN
            UPDATE l
            SET    l.not_before_ms = @claim_ms
            FROM   [$(schema)].session_lanes AS l WITH (INDEX(uq_session_lanes_key), FORCESEEK, ROWLOCK)
            WHERE  l.session_key = @session_key
              AND  l.tag_key = @tag_key;
        END;
    END;
END;
