-- Waits until something is ready that a process could take, and says what.
--
-- Callers   the connection on which a provider waits for the work of other processes
-- Locks     none kept
-- Throws    51000 called inside a transaction
--
-- The parameters are the interests of all fetches that wait in the process. The answer is a hint: whoever
-- is woken by it fetches, and the fetch decides. So every look reads as the searches of the fetches do,
-- stepping over rows that are being written; it sees what they would see, and waits for nobody.
--
-- Cost. A look is one seek per version lane, and two per tag for those who take sessions, whatever
-- waits or is held. There are some 60 looks a second. The first one begins at @floor_ms, or at the beginning without it; the others look at what has
-- become ready since, and once a second at the two seconds before that too, for what was committed late; so they pass over no
-- ghosts of claims. The fetches themselves find what came back to an older place. Lanes and tags are listed once a second.
-- Nothing is open or locked between the looks: neither clean-up of ghosts and row versions nor a change of the schema
-- waits for this procedure. The call occupies a worker thread of the server for up to @wait_ms.
CREATE OR ALTER PROCEDURE [$(schema)].wait_for_work
    @wait_ms          BIGINT,
    @orchestrations   BIT = 0,
    @min_version      BIGINT = NULL,
    @max_version      BIGINT = NULL,
    @include_untagged BIT = 0,
    @any_tag          BIT = 0,
    @tags             NVARCHAR(MAX) = NULL,
    @sessions         BIT = 0,
    @session_owners   NVARCHAR(MAX) = NULL,
    @floor_ms         BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @end_ms BIGINT,
            @waiting BIT = 1, @is_ready BIT = 0, @looked_ms BIGINT, @list_at_ms BIGINT, @list NVARCHAR(MAX),
            @work_tag NVARCHAR(260), @session_tag NVARCHAR(260), @owner_tag NVARCHAR(260), @owner_id NVARCHAR(400);
    DECLARE @tag_keys TABLE (tag_key NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @work_tags TABLE (tag_key NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @session_tags TABLE (tag_key NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @lanes TABLE (lane BIGINT NOT NULL PRIMARY KEY);
    DECLARE @owners TABLE (owner_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);

    SET @end_ms = @now_ms + @wait_ms;
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
    INSERT INTO @work_tags (tag_key)
    SELECT t.tag_key
    FROM   @tag_keys AS t;
    INSERT INTO @session_tags (tag_key)
    SELECT t.tag_key
    FROM   @tag_keys AS t;
    IF @session_owners IS NOT NULL
    BEGIN
        INSERT INTO @owners (owner_id)
        SELECT DISTINCT j.owner_id COLLATE Latin1_General_100_BIN2
        FROM   OPENJSON(@session_owners) WITH (owner_id NVARCHAR(400) '$') AS j
        WHERE  j.owner_id IS NOT NULL;
    END;

    WHILE @waiting = 1
    BEGIN
        -- A clock that was set back makes nothing older than it was: everything is looked at again.
        SET @floor_ms = CASE WHEN @looked_ms IS NULL THEN COALESCE(@floor_ms, 0)
                             WHEN @now_ms < @looked_ms THEN 0
                             WHEN @now_ms >= @list_at_ms THEN @looked_ms - 2000
                             ELSE @looked_ms - 100 END;
        IF @looked_ms IS NULL OR @now_ms < @looked_ms OR @now_ms >= @list_at_ms
        BEGIN
            SET @list_at_ms = @now_ms + 1000;
            IF @orchestrations = 1
            BEGIN
                EXEC [$(schema)]._list_lanes @min_version = @min_version, @max_version = @max_version, @lanes = @list OUTPUT;
                INSERT INTO @lanes (lane)
                SELECT j.lane
                FROM   OPENJSON(@list) WITH (lane BIGINT '$') AS j
                WHERE  NOT EXISTS (SELECT 1 FROM @lanes AS v WHERE v.lane = j.lane);
            END;
            IF @any_tag = 1
            BEGIN
                EXEC [$(schema)]._list_tags @tag_keys = @list OUTPUT;
                INSERT INTO @work_tags (tag_key)
                SELECT j.tag_key COLLATE Latin1_General_100_BIN2
                FROM   OPENJSON(@list) WITH (tag_key NVARCHAR(260) '$') AS j
                WHERE  NOT EXISTS (SELECT 1 FROM @work_tags AS t WHERE t.tag_key = j.tag_key COLLATE Latin1_General_100_BIN2);
            END;
            IF @any_tag = 1 AND @sessions = 1
            BEGIN
                EXEC [$(schema)]._list_session_tags @tag_keys = @list OUTPUT;
                INSERT INTO @session_tags (tag_key)
                SELECT j.tag_key COLLATE Latin1_General_100_BIN2
                FROM   OPENJSON(@list) WITH (tag_key NVARCHAR(260) '$') AS j
                WHERE  NOT EXISTS (SELECT 1 FROM @session_tags AS t WHERE t.tag_key = j.tag_key COLLATE Latin1_General_100_BIN2);
            END;
        END;
        SET @looked_ms = @now_ms;

        SELECT @is_ready = 1
        WHERE  EXISTS (SELECT 1
                       FROM   @lanes AS v
                       INNER JOIN [$(schema)].instance_locks AS l
                              WITH (INDEX(ix_instance_locks_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                              ON  l.lane = v.lane
                             AND  l.not_before_ms BETWEEN @floor_ms AND @now_ms)
        OPTION (KEEPFIXED PLAN);

        -- TOP (1) for each tag, where a mere EXISTS would leave it to the server to read all tags' items in one range.
        SELECT @work_tag = MIN(t.tag_key)
        FROM   @work_tags AS t
        CROSS APPLY
        (
            SELECT TOP (1) q.work_id
            FROM   [$(schema)].worker_queue AS q
                   WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  q.session_key = N''
              AND  q.tag_key = t.tag_key
              AND  q.not_before_ms BETWEEN @floor_ms AND @now_ms
        ) AS c
        OPTION (KEEPFIXED PLAN);

        IF @sessions = 1
        BEGIN
            SELECT @session_tag = MIN(t.tag_key)
            FROM   @session_tags AS t
            WHERE  EXISTS (SELECT 1
                           FROM   [$(schema)].session_lanes AS l
                                  WITH (INDEX(ix_session_lanes_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                           WHERE  l.tag_key = t.tag_key
                             AND  l.not_before_ms BETWEEN @floor_ms AND @now_ms);
        END;

        -- Sessions that a worker owns are looked into by the tags that were named: a worker that takes any tag
        -- asks for itself while it owns one.
        IF @session_owners IS NOT NULL
        BEGIN
            SELECT TOP (1) @owner_id = o.owner_id, @owner_tag = t.tag_key
            FROM   @owners AS o
            INNER JOIN [$(schema)].sessions AS s
                   WITH (INDEX(ix_sessions_owner), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                   ON  s.owner_id = o.owner_id
                  AND  s.locked_until_ms > @now_ms
            CROSS JOIN @tag_keys AS t
            WHERE  EXISTS (SELECT 1
                           FROM   [$(schema)].worker_queue AS q
                                  WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                           WHERE  q.session_key = s.session_key
                             AND  q.tag_key = t.tag_key
                             AND  q.not_before_ms BETWEEN @floor_ms AND @now_ms)
            ORDER BY o.owner_id, t.tag_key;
        END;

        IF @is_ready = 1 OR COALESCE(@work_tag, @session_tag, @owner_id) IS NOT NULL OR @now_ms >= @end_ms
        BEGIN
            SET @waiting = 0;
        END
        ELSE
        BEGIN
            WAITFOR DELAY '00:00:00.015';
            SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        END;
    END;

    -- A key in square brackets is a tag, an empty one is work without a tag, NULL is none.
    SELECT @is_ready AS orchestration_ready, @work_tag AS work_tag, @session_tag AS session_tag,
           @owner_id AS owner_id, @owner_tag AS owner_tag, @looked_ms AS looked_ms;
END;
