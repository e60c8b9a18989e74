-- Leases the activity that has been ready longest among those the caller may run.
--
-- Callers   Provider::fetch_work_item
-- Locks     worker_queue: one row (update, found by ix_worker_queue_ready), then sessions: the
--           session's row; session_lanes after the commit through _postpone_session_lane
-- Throws    51000 called inside a transaction
--           51001 the session owner's id does not fit its column
--           51004 the item is gone when it is given back because its history could not be read
--           51013 the token is not a UUID's text
--
-- Cost. Items without a session are looked for by one seek per tag, items with one by
-- _find_session_item, which has seeks of its own. Items that wait, are held, have other tags or
-- belong to sessions of others are never visited. The oldest candidate wins. The instance's history,
-- which the runtime reads next, comes along: see _send_work_history. Items without a session, and sessions without an
-- owner, are looked for from @floor_ms on, with any tag in @lanes, as in fetch_orchestration_item.
--
-- A session is won or lost at its row, by a guarded write inside the claim: two workers may claim
-- two items of one session at the same moment, and the second finds the session leased, undoes its
-- claim and looks again. As in fetch_orchestration_item, "nothing found" is exact: a candidate that
-- READPAST steps over is waited for, by its key and holding nothing else, for a moment at a time. Who has waited long has
-- a longer lease, as there.
CREATE OR ALTER PROCEDURE [$(schema)].fetch_work_item
    @lock_token         NVARCHAR(128),
    @lock_timeout_ms    BIGINT,
    @include_untagged   BIT = 0,
    @any_tag            BIT = 0,
    @tags               NVARCHAR(MAX) = NULL,
    @session_owner      NVARCHAR(4000) = NULL,
    @session_timeout_ms BIGINT = NULL,
    @process_id         UNIQUEIDENTIFIER = NULL,
    @floor_ms           BIGINT = NULL,
    @lanes              NVARCHAR(MAX) = NULL,
    @bottom_ms          BIGINT = 0
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;
    IF DATALENGTH(@lock_token) <> 72 OR TRY_CONVERT(UNIQUEIDENTIFIER, @lock_token) IS NULL
    BEGIN
        THROW 51013, N'lock token must be the 36 characters of a UUID', 1;
    END;
    IF DATALENGTH(@session_owner) > 800
    BEGIN
        THROW 51001, N'session owner id is longer than 400 characters; choose a shorter one', 1;
    END;

    DECLARE @now_ms BIGINT, @next_ms BIGINT, @session_next_ms BIGINT, @searching BIT = 1, @is_whole BIT = 0,
            @whole_from_ms BIGINT, @whole_ms BIGINT, @looked_ms BIGINT, @promised_ms BIGINT, @found BIT = 0,
            @won BIT, @is_last BIT, @from_lane BIT, @candidate BIGINT, @candidate_ms BIGINT, @session_item BIGINT,
            @session_item_ms BIGINT, @work_id BIGINT, @attempt_count INT, @payload NVARCHAR(MAX),
            @session_key NVARCHAR(400), @tag_key NVARCHAR(260), @item_session NVARCHAR(400),
            @item_tag NVARCHAR(260), @item_from_lane BIT, @session_end_ms BIGINT,
            @instance_id NVARCHAR(400), @execution_id BIGINT, @activity_id BIGINT, @from_ms BIGINT,
            @ready_ms BIGINT, @token UNIQUEIDENTIFIER = @lock_token, @lease_ms BIGINT,
            @began_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    DECLARE @tag_keys TABLE (tag_key NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);

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

    WHILE @searching = 1
    BEGIN
        IF @floor_ms IS NULL
        BEGIN
            SELECT @is_whole = 1, @floor_ms = @bottom_ms, @lanes = NULL,
                   @whole_from_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        END;
        IF @any_tag = 1 AND @lanes IS NULL
        BEGIN
            EXEC [$(schema)]._list_tags @tag_keys = @lanes OUTPUT;
        END;
        IF @any_tag = 1
        BEGIN
            INSERT INTO @tag_keys (tag_key)
            SELECT DISTINCT j.tag_key COLLATE Latin1_General_100_BIN2
            FROM   OPENJSON(@lanes) WITH (tag_key NVARCHAR(260) '$') AS j
            WHERE  NOT EXISTS (SELECT 1 FROM @tag_keys AS t WHERE t.tag_key = j.tag_key COLLATE Latin1_General_100_BIN2);
        END;

        SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        SELECT @candidate = NULL, @session_key = N'', @from_lane = 0, @looked_ms = @now_ms, @promised_ms = NULL;

        SELECT TOP (1) @candidate = c.work_id, @candidate_ms = c.not_before_ms, @tag_key = t.tag_key
        FROM   @tag_keys AS t
        CROSS APPLY
        (
            SELECT TOP (1) q.work_id, q.not_before_ms
            FROM   [$(schema)].worker_queue AS q
                   WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  q.session_key = N''
              AND  q.tag_key = t.tag_key
              AND  q.not_before_ms BETWEEN @floor_ms AND @now_ms
            ORDER BY q.not_before_ms, q.work_id
        ) AS c
        ORDER BY c.not_before_ms, c.work_id OPTION (KEEPFIXED PLAN);

        IF @session_owner IS NOT NULL
        BEGIN
            SET @is_last = CASE WHEN @candidate IS NULL THEN 1 ELSE 0 END;
            EXEC [$(schema)]._find_session_item
                @session_owner = @session_owner, @include_untagged = @include_untagged,
                @any_tag = @any_tag, @tags = @tags, @floor_ms = @floor_ms, @is_last = @is_last, @work_id = @session_item OUTPUT,
                @not_before_ms = @session_item_ms OUTPUT, @session_key = @item_session OUTPUT,
                @tag_key = @item_tag OUTPUT, @from_lane = @item_from_lane OUTPUT,
                @promised_ms = @promised_ms OUTPUT, @next_ms = @session_next_ms OUTPUT;
            IF @session_item IS NOT NULL
               AND (@candidate IS NULL OR @session_item_ms < @candidate_ms
                    OR (@session_item_ms = @candidate_ms AND @session_item < @candidate))
            BEGIN
                SET @candidate = @session_item;
                SET @session_key = @item_session;
                SET @tag_key = @item_tag;
                SET @from_lane = @item_from_lane;
            END;
            -- The session's item may have become ready after the clock was read above.
            SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        END;

        SET @whole_ms = COALESCE(@whole_ms, DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @whole_from_ms);

        IF @candidate IS NULL
        BEGIN
            -- Nothing above the floor, or nothing at all.
            SELECT @searching = 1 - @is_whole, @floor_ms = NULL;
        END
        ELSE
        BEGIN
            SELECT @work_id = NULL, @won = 0, @from_ms = CASE WHEN @session_key = N'' THEN @floor_ms ELSE 0 END;
            BEGIN TRY
                BEGIN TRANSACTION;

                -- payload is read so that the row itself is locked with its index entry: writers lock
                -- the row first, and would otherwise meet this claim half-way.
                SELECT TOP (1) @work_id = q.work_id, @attempt_count = q.attempt_count + 1, @payload = q.payload,
                       @ready_ms = q.not_before_ms, @instance_id = q.instance_id, @execution_id = q.execution_id, @activity_id = q.activity_id
                FROM   [$(schema)].worker_queue AS q
                       WITH (INDEX(ix_worker_queue_ready), FORCESEEK, UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE  q.session_key = @session_key
                  AND  q.tag_key = @tag_key
                  AND  q.not_before_ms BETWEEN @from_ms AND @now_ms
                ORDER BY q.not_before_ms, q.work_id
                OPTION (KEEPFIXED PLAN);

                IF @work_id IS NOT NULL
                BEGIN
                    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
                    SET @lease_ms = @lock_timeout_ms + CASE WHEN @now_ms - @began_ms BETWEEN 500 AND 60000 THEN 2 * (@now_ms - @began_ms) ELSE 0 END;
                    UPDATE q
                    SET    q.lock_token = @token,
                           q.not_before_ms = @now_ms + @lease_ms,
                           q.attempt_count = @attempt_count
                    FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
                    WHERE  q.work_id = @work_id OPTION (KEEPFIXED PLAN);

                    SET @won = 1;
                    IF @session_key <> N''
                    BEGIN
                        SET @session_end_ms = @now_ms + COALESCE(@session_timeout_ms, 0);
                        EXEC [$(schema)]._claim_session
                            @session_key = @session_key, @owner_id = @session_owner, @now_ms = @now_ms,
                            @locked_until_ms = @session_end_ms, @won = @won OUTPUT;
                    END;
                END;

                IF @won = 1
                BEGIN
                    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
                    SET @found = 1;
                    SET @searching = 0;
                END
                ELSE
                BEGIN
                    ROLLBACK TRANSACTION;
                END;
            END TRY
            BEGIN CATCH
                IF @@TRANCOUNT > 0
                BEGIN
                    ROLLBACK TRANSACTION;
                END;
                -- 2627: another worker created the session's row first, and has the session now.
                IF ERROR_NUMBER() <> 2627
                BEGIN
                    THROW;
                END;
            END CATCH;

            -- Nothing is held while waiting.
            IF @work_id IS NULL
            BEGIN
                EXEC [$(schema)]._await_work_item @work_id = @candidate;
            END;
        END;
    END;

    -- The session is leased until then, so the promise holds whenever it is written. It spares the next
    -- fetch a visit and is worth neither a wait nor a failure: the item is the caller's by now.
    IF @found = 1 AND @from_lane = 1
    BEGIN
        EXEC [$(schema)]._postpone_session_lane
            @session_key = @session_key, @tag_key = @tag_key, @not_before_ms = @session_end_ms;
    END;

    IF @found = 0
    BEGIN
        SELECT @next_ms = MIN(c.not_before_ms)
        FROM   @tag_keys AS t
        CROSS APPLY
        (
            SELECT TOP (1) q.not_before_ms
            FROM   [$(schema)].worker_queue AS q
                   WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  q.session_key = N''
              AND  q.tag_key = t.tag_key
              AND  q.not_before_ms > @now_ms
            ORDER BY q.not_before_ms
        ) AS c OPTION (KEEPFIXED PLAN);
        IF @session_next_ms IS NOT NULL AND (@next_ms IS NULL OR @session_next_ms < @next_ms)
        BEGIN
            SET @next_ms = @session_next_ms;
        END;
    END;

    SELECT @found AS found, CASE WHEN @found = 0 AND @next_ms > @now_ms THEN @next_ms - @now_ms WHEN @found = 0 AND @next_ms IS NOT NULL THEN 0 END AS next_ready_in_ms,
           CASE WHEN @found = 1 THEN CAST(@lock_token + N':' + CAST(@work_id AS NVARCHAR(20)) AS NVARCHAR(500)) END
               AS lock_token,
           CASE WHEN @found = 1 THEN @attempt_count END AS attempt_count,
           CASE WHEN @found = 1 THEN @payload END AS payload,
           @instance_id AS instance_id, @execution_id AS execution_id, @activity_id AS activity_id,
           CASE WHEN @found = 0 THEN @looked_ms WHEN @promised_ms < @ready_ms THEN @promised_ms ELSE @ready_ms END - 100 AS floor_ms,
           @lanes AS lanes, @whole_ms AS whole_ms, @lease_ms AS lease_ms;

    EXEC [$(schema)]._send_work_history
        @found = @found, @instance_id = @instance_id, @process_id = @process_id, @lock_token = @lock_token, @work_id = @work_id;
END;
