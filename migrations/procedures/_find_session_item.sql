-- Finds the oldest ready activity in the sessions that a worker owns or could take over.
--
-- Callers   fetch_work_item, outside any transaction
-- Locks     none kept; _settle_session_lane and _await_sessions take and release their own
-- Order     sessions and session_lanes lead to rows of worker_queue; nothing is kept locked
-- Throws    51000 called inside a transaction
--
-- Two searches: the sessions the worker owns, one seek per session and tag, and the sessions
-- without an owner, through the head of each tag's lanes. A head may promise too much, because its
-- items are held or gone or its session is leased again; it is corrected and the next one is looked
-- at, so no promise costs more than one visit. One that somebody is writing to is left out of this call. When both find nothing, and the caller has nothing else (@is_last),
-- sessions of the worker that are being written are waited for, for a moment, and both look once more.
--
-- Lanes are looked at from @floor_ms on: see fetch_orchestration_item. Sessions that the worker owns are looked
-- into from the beginning, because the floor follows the claims of others too.
--
-- @from_lane tells that the session has to be won first; @promised_ms, where the lane lies that has an item, chosen or
-- not; @next_ms, when nothing was found, when a session could next have something.
CREATE OR ALTER PROCEDURE [$(schema)]._find_session_item
    @session_owner    NVARCHAR(4000),
    @include_untagged BIT,
    @any_tag          BIT,
    @tags             NVARCHAR(MAX),
    @floor_ms         BIGINT,
    @is_last          BIT,
    @work_id          BIGINT OUTPUT,
    @not_before_ms    BIGINT OUTPUT,
    @session_key      NVARCHAR(400) OUTPUT,
    @tag_key          NVARCHAR(260) OUTPUT,
    @from_lane        BIT OUTPUT,
    @promised_ms      BIGINT OUTPUT,
    @next_ms          BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()),
            @looks INT = CASE WHEN @is_last = 1 THEN 2 ELSE 1 END, @lane_session NVARCHAR(400), @lane_tag NVARCHAR(260), @lane_tags NVARCHAR(MAX),
            @lane_ms BIGINT, @lane_item BIGINT, @lane_item_ms BIGINT, @has_sessions BIT = 0, @is_patient BIT, @is_settled BIT, @settled_ms BIGINT,
            @given_floor_ms BIGINT = @floor_ms;
    DECLARE @tag_keys TABLE (tag_key NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @busy TABLE (session_key NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
                         tag_key NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL, PRIMARY KEY NONCLUSTERED (session_key, tag_key));

    SET @work_id = NULL;
    SET @from_lane = 0;
    SET @promised_ms = NULL;
    SET @next_ms = NULL;

    IF @include_untagged = 1 OR @any_tag = 1
    BEGIN
        INSERT INTO @tag_keys (tag_key) VALUES (N'');
    END;
    IF @tags IS NOT NULL
    BEGIN
        INSERT INTO @tag_keys (tag_key)
        SELECT DISTINCT (N'[' + j.tag + N']') COLLATE Latin1_General_100_BIN2
        FROM   OPENJSON(@tags) WITH (tag NVARCHAR(256) '$') AS j
        WHERE  j.tag IS NOT NULL;
    END;
    IF @any_tag = 1
    BEGIN
        EXEC [$(schema)]._list_session_tags @tag_keys = @lane_tags OUTPUT;
        INSERT INTO @tag_keys (tag_key)
        SELECT j.tag_key COLLATE Latin1_General_100_BIN2
        FROM   OPENJSON(@lane_tags) WITH (tag_key NVARCHAR(260) '$') AS j
        WHERE  NOT EXISTS (SELECT 1 FROM @tag_keys AS t WHERE t.tag_key = j.tag_key COLLATE Latin1_General_100_BIN2);
    END;

    -- Whoever uses no sessions does not pay for the search in them. An item of a session has a lane; a
    -- lane that is being written is stepped over here as it is below, unless the session is the caller's.
    SELECT @has_sessions = 1
    WHERE  EXISTS (SELECT 1
                   FROM   @tag_keys AS t
                   INNER JOIN [$(schema)].session_lanes AS l
                          WITH (INDEX(ix_session_lanes_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                          ON  l.tag_key = t.tag_key
                         AND  l.not_before_ms >= @floor_ms)
       OR  EXISTS (SELECT 1
                   FROM   [$(schema)].sessions AS s
                          WITH (INDEX(ix_sessions_owner), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                   WHERE  s.owner_id = @session_owner
                     AND  s.locked_until_ms > @now_ms)
    OPTION (KEEPFIXED PLAN);
    IF @has_sessions = 0
    BEGIN
        RETURN;
    END;

    WHILE @looks > 0
    BEGIN
        SELECT TOP (1) @work_id = c.work_id, @not_before_ms = c.not_before_ms, @tag_key = t.tag_key,
                       @session_key = s.session_key
        FROM   [$(schema)].sessions AS s
               WITH (INDEX(ix_sessions_owner), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        CROSS JOIN @tag_keys AS t
        CROSS APPLY
        (
            SELECT TOP (1) q.work_id, q.not_before_ms
            FROM   [$(schema)].worker_queue AS q
                   WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  q.session_key = s.session_key
              AND  q.tag_key = t.tag_key
              AND  q.not_before_ms <= @now_ms
            ORDER BY q.not_before_ms, q.work_id
        ) AS c
        WHERE  s.owner_id = @session_owner
          AND  s.locked_until_ms > @now_ms
        ORDER BY c.not_before_ms, c.work_id OPTION (KEEPFIXED PLAN);

        SET @lane_session = N'';
        WHILE @lane_session IS NOT NULL AND @lane_item IS NULL
        BEGIN
            SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
            SET @lane_session = NULL;
            SELECT TOP (1) @lane_session = c.session_key, @lane_tag = t.tag_key, @lane_ms = c.not_before_ms
            FROM   @tag_keys AS t
            CROSS APPLY
            (
                SELECT TOP (1) l.session_key, l.not_before_ms, l.lane_id
                FROM   [$(schema)].session_lanes AS l
                       WITH (INDEX(ix_session_lanes_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE  l.tag_key = t.tag_key
                  AND  l.not_before_ms BETWEEN @floor_ms AND @now_ms
                  AND  NOT EXISTS (SELECT 1 FROM @busy AS b WHERE b.session_key = l.session_key AND b.tag_key = l.tag_key)
                ORDER BY l.not_before_ms, l.lane_id
            ) AS c
            ORDER BY c.not_before_ms, c.lane_id OPTION (KEEPFIXED PLAN);

            IF @lane_session IS NOT NULL
            BEGIN
                SELECT TOP (1) @lane_item = q.work_id, @lane_item_ms = q.not_before_ms
                FROM   [$(schema)].worker_queue AS q
                       WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE  q.session_key = @lane_session
                  AND  q.tag_key = @lane_tag
                  AND  q.not_before_ms <= @now_ms
                  AND  NOT EXISTS (SELECT 1
                                   FROM   [$(schema)].sessions AS s
                                          WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
                                   WHERE  s.session_key = @lane_session
                                     AND  s.locked_until_ms > @now_ms)
                ORDER BY q.not_before_ms, q.work_id
                OPTION (KEEPFIXED PLAN);

                IF @lane_item IS NULL
                BEGIN
                    -- Nobody is waited for while there is something else to do, and of many who write one at a time.
                    SET @is_patient = CASE WHEN @is_last = 1 AND @work_id IS NULL AND NOT EXISTS (SELECT 1 FROM @busy)
                                           THEN 1 ELSE 0 END;
                    EXEC [$(schema)]._settle_session_lane
                        @session_key = @lane_session, @tag_key = @lane_tag, @is_patient = @is_patient,
                        @is_settled = @is_settled OUTPUT, @settled_ms = @settled_ms OUTPUT;
                    -- A promise that is put off leaves a ghost where it was. One that an item came back to may lie further back.
                    SET @floor_ms = CASE WHEN @is_settled = 0 OR @settled_ms < @lane_ms OR EXISTS (SELECT 1 FROM @busy)
                                         THEN @floor_ms ELSE @lane_ms END;
                    INSERT INTO @busy (session_key, tag_key)
                    SELECT @lane_session, @lane_tag
                    WHERE  @is_settled = 0;
                END
                ELSE
                BEGIN
                    SET @promised_ms = @lane_ms;
                    IF @work_id IS NULL OR @lane_item_ms < @not_before_ms
                       OR (@lane_item_ms = @not_before_ms AND @lane_item < @work_id)
                    BEGIN
                        SET @work_id = @lane_item;
                        SET @not_before_ms = @lane_item_ms;
                        SET @session_key = @lane_session;
                        SET @tag_key = @lane_tag;
                        SET @from_lane = 1;
                    END;
                END;
            END;
        END;

        -- Another worker of the same owner may have won a session after the first search and moved its lane out of the
        -- way before the second, or may hold the session's row, as renewals do. "Nothing found" must not come of that.
        SET @looks = CASE WHEN @work_id IS NULL THEN @looks - 1 ELSE 0 END;
        IF @looks > 0
        BEGIN
            EXEC [$(schema)]._await_sessions @session_owner = @session_owner;
            DELETE FROM @busy;
            -- A lane that was stepped over while it was written to may lie where the first look has been.
            SET @floor_ms = @given_floor_ms;
        END;
    END;

    IF @work_id IS NULL
    BEGIN
        SELECT @next_ms = MIN(c.not_before_ms)
        FROM   @tag_keys AS t
        CROSS APPLY
        (
            SELECT TOP (1) l.not_before_ms
            FROM   [$(schema)].session_lanes AS l
                   WITH (INDEX(ix_session_lanes_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  l.tag_key = t.tag_key
              AND  l.not_before_ms > @now_ms
            ORDER BY l.not_before_ms
        ) AS c OPTION (KEEPFIXED PLAN);
    END;
END;
