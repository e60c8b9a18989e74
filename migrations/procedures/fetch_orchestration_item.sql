-- Leases the instance that has been ready longest and returns its turn.
--
-- Callers   Provider::fetch_orchestration_item
-- Locks     instance_locks: one row, through _claim_instance, then
--           orchestrator_queue: the instance's visible messages; both again through
--           abandon_orchestration_item when the turn cannot be read
-- Order     instances and history are read before orchestrator_queue is written; these reads keep
--           no locks, and the row of instance_locks already keeps every writer out
-- Throws    51000 called inside a transaction
--           51003 the turn cannot be read, and its lease is gone by the time it is given back
--           51013 the token is not a UUID's text
--
-- Cost. Instances queue in lanes, one per pinned version, so that versions this caller does not support are never
-- visited. Looking for work is two seeks per supported lane, whatever waits or is held. Versions are few.
--
-- "Nothing found" is exact. The search keeps no locks; then the head of the best lane is claimed
-- with READPAST, which steps over rows that others are claiming. If that finds nothing, the candidate is merely being touched (a
-- message is arriving), and the other lanes are tried. When they are empty it is waited for, by its key and holding nothing else, for a
-- moment; then the search starts again. So a row that somebody keeps locked hides no other. There is one exception: while an impatient
-- claim (below) is open it keeps the entry of a row that is shared for long, and others may step over that row, which nobody could have yet.
--
-- A claim leaves a ghost where the next search would start, and clean-up may be slow or held back for hours. So the answer says from
-- where the caller's next fetch should look, @floor_ms, and in which lanes: 100 ms below what was claimed, or below the moment
-- at which nothing was ready, so that an enqueue that is about to commit is mostly above it. When nothing is found above
-- the floor every lane is searched from the bottom, and once a second callers look some way below the floor, for what came back to an old place or
-- was committed late. Where searches from the bottom take long (whole_ms), callers may raise it for a while: "nothing found" is then said of what lies above @bottom_ms.
--
-- A row that posters share for long (1222 from _claim_instance) is let go, and stepped over once, for the sake of those behind it.
-- Who has waited for another's slow commit will wait for its own, and a lease begins before its commit: so it is longer by twice the
-- wait, up to a minute (more is no wait, but a clock that was set).
--
-- Messages of an instance that never started: QueueMessages are dropped, the rest stays, and the row is parked until another arrives.
--
-- What a provider remembers of the history is not sent again; it names itself by @process_id: see _send_history. The commit
-- need not wait for the log where the database allows it: a claim that a crash forgets is a lease that has ended. So with the
-- other fetch, renewals and abandons. The results follow the commit, so a slow reader blocks no turn; the lease protects them. If they cannot be read, the turn goes back as it was.
CREATE OR ALTER PROCEDURE [$(schema)].fetch_orchestration_item
    @lock_token      NVARCHAR(128),
    @lock_timeout_ms BIGINT,
    @min_version     BIGINT = NULL,
    @max_version     BIGINT = NULL,
    @process_id      UNIQUEIDENTIFIER = NULL,
    @floor_ms        BIGINT = NULL,
    @lanes           NVARCHAR(MAX) = NULL,
    @bottom_ms       BIGINT = 0
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

    DECLARE @now_ms BIGINT, @next_ms BIGINT, @lane BIGINT, @ready_ms BIGINT, @from_ms BIGINT,
            @found BIT = 0, @searching BIT = 1, @is_whole BIT = 0, @whole_from_ms BIGINT, @whole_ms BIGINT, @has_instance BIT, @execution_id BIGINT,
            @candidate NVARCHAR(400), @instance_id NVARCHAR(400), @attempt_count INT,
            @name NVARCHAR(MAX), @version NVARCHAR(MAX), @turn_token NVARCHAR(1000),
            @dropped INT, @orphans_dropped INT = 0, @orphan_id NVARCHAR(400), @busy_id NVARCHAR(400), @token UNIQUEIDENTIFIER = @lock_token, @is_patient BIT = 1,
            @lease_ms BIGINT, @began_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    DECLARE @heads TABLE (lane BIGINT NOT NULL PRIMARY KEY, is_busy BIT NOT NULL);
    DECLARE @messages TABLE (queue_id BIGINT NOT NULL PRIMARY KEY, attempt_count INT NOT NULL, payload NVARCHAR(MAX) NOT NULL);

    WHILE @searching = 1
    BEGIN
        IF @floor_ms IS NULL
        BEGIN
            SELECT @is_whole = 1, @floor_ms = @bottom_ms, @lanes = NULL,
                   @whole_from_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        END;
        IF @lanes IS NULL
        BEGIN
            EXEC [$(schema)]._list_lanes @min_version = @min_version, @max_version = @max_version, @lanes = @lanes OUTPUT;
        END;
        INSERT INTO @heads (lane, is_busy)
        SELECT DISTINCT j.lane, 0
        FROM   OPENJSON(@lanes) WITH (lane BIGINT '$') AS j
        WHERE  (j.lane = -1 OR j.lane BETWEEN COALESCE(@min_version, 0) AND COALESCE(@max_version, CAST(9223372036854775807 AS BIGINT)))
          AND  NOT EXISTS (SELECT 1 FROM @heads AS h WHERE h.lane = j.lane);

        SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        SET @candidate = NULL;
        SELECT TOP (1) @candidate = c.instance_id, @lane = v.lane
        FROM   @heads AS v
        CROSS APPLY
        (
            SELECT TOP (1) l.instance_id, l.not_before_ms, l.claim_id
            FROM   [$(schema)].instance_locks AS l
                   WITH (INDEX(ix_instance_locks_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  l.lane = v.lane
              AND  l.not_before_ms BETWEEN @floor_ms AND @now_ms
            ORDER BY l.not_before_ms, l.claim_id
        ) AS c
        WHERE  v.is_busy = 0
        ORDER BY c.not_before_ms, c.claim_id OPTION (KEEPFIXED PLAN);

        SET @whole_ms = COALESCE(@whole_ms, DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @whole_from_ms);

        IF @candidate IS NULL AND @busy_id IS NOT NULL
        BEGIN
            EXEC [$(schema)]._await_instance @instance_id = @busy_id;
            UPDATE @heads SET is_busy = 0 WHERE is_busy = 1;
            SELECT @busy_id = NULL, @is_patient = 1;
        END
        ELSE IF @candidate IS NULL
        BEGIN
            -- Nothing above the floor, or nothing at all.
            SELECT @searching = 1 - @is_whole, @floor_ms = NULL;
        END
        ELSE
        BEGIN
            BEGIN TRY
                BEGIN TRANSACTION;
                EXEC [$(schema)]._claim_instance
                    @lane = @lane, @floor_ms = @floor_ms, @now_ms = @now_ms, @is_patient = @is_patient,
                    @instance_id = @instance_id OUTPUT, @ready_ms = @ready_ms OUTPUT, @from_ms = @from_ms OUTPUT;
            END TRY
            BEGIN CATCH
                IF @@TRANCOUNT > 0
                BEGIN
                    ROLLBACK TRANSACTION;
                END;
                IF ERROR_NUMBER() <> 1222
                BEGIN
                    THROW;
                END;
            END CATCH;

            IF @@TRANCOUNT = 0
            BEGIN
                -- Somebody shares the row for long: what stands behind it is next.
                SET @is_patient = 0;
            END
            ELSE IF @instance_id IS NULL
            BEGIN
                ROLLBACK TRANSACTION;
                UPDATE @heads SET is_busy = 1 WHERE lane = @lane;
                SET @busy_id = COALESCE(@busy_id, @candidate);
            END
            ELSE
            BEGIN
                SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
                EXEC [$(schema)]._find_execution
                    @instance_id = @instance_id, @now_ms = @now_ms,
                    @has_instance = @has_instance OUTPUT, @execution_id = @execution_id OUTPUT;

                IF @execution_id IS NOT NULL
                BEGIN
                    UPDATE q
                    SET    q.lock_token = @token,
                           q.attempt_count = q.attempt_count + 1
                    OUTPUT inserted.queue_id, inserted.attempt_count, inserted.payload
                    INTO   @messages (queue_id, attempt_count, payload)
                    FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
                    WHERE  q.instance_id = @instance_id
                      AND  q.visible_at_ms BETWEEN @from_ms AND @now_ms OPTION (KEEPFIXED PLAN);

                    IF @@ROWCOUNT > 0
                    BEGIN
                        SET @lease_ms = @lock_timeout_ms + CASE WHEN @now_ms - @began_ms BETWEEN 500 AND 60000 THEN 2 * (@now_ms - @began_ms) ELSE 0 END;
                        UPDATE l
                        SET    lock_token = @token,
                               not_before_ms = @now_ms + @lease_ms
                        FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
                        WHERE  instance_id = @instance_id;
                        SELECT @found = 1, @searching = 0;
                    END
                    ELSE
                    BEGIN
                        EXEC [$(schema)]._release_instance @instance_id = @instance_id, @from_ms = @from_ms;
                    END;
                END
                ELSE
                BEGIN
                    EXEC [$(schema)]._park_orphan
                        @instance_id = @instance_id, @now_ms = @now_ms, @dropped = @dropped OUTPUT;
                    IF @dropped > 0
                    BEGIN
                        SET @orphans_dropped = @orphans_dropped + @dropped;
                        SET @orphan_id = @instance_id;
                    END;
                END;

                COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
            END;
        END;
    END;

    IF @found = 0
    BEGIN
        SELECT @next_ms = MIN(c.not_before_ms)
        FROM   @heads AS v
        CROSS APPLY
        (
            SELECT TOP (1) l.not_before_ms
            FROM   [$(schema)].instance_locks AS l
                   WITH (INDEX(ix_instance_locks_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  l.lane = v.lane
              AND  l.not_before_ms > @now_ms
            ORDER BY l.not_before_ms
        ) AS c OPTION (KEEPFIXED PLAN);

        SELECT CAST(0 AS BIT) AS found, @next_ms - @now_ms AS next_ready_in_ms,
               CAST(NULL AS NVARCHAR(400)) AS instance_id, CAST(NULL AS NVARCHAR(500)) AS lock_token,
               CAST(NULL AS INT) AS attempt_count, CAST(0 AS BIT) AS has_instance,
               CAST(NULL AS NVARCHAR(MAX)) AS orchestration_name, CAST(NULL AS NVARCHAR(MAX)) AS orchestration_version,
               CAST(NULL AS BIGINT) AS execution_id, @orphans_dropped AS orphans_dropped, @orphan_id AS orphan_id,
               @now_ms - 100 AS floor_ms, @lanes AS lanes, @whole_ms AS whole_ms, @lease_ms AS lease_ms;
        RETURN;
    END;

    BEGIN TRY
        SELECT @name = i.orchestration_name, @version = i.orchestration_version
        FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
        WHERE  i.instance_id = @instance_id;

        SELECT @attempt_count = MAX(m.attempt_count)
        FROM   @messages AS m;

        SELECT CAST(1 AS BIT) AS found, CAST(NULL AS BIGINT) AS next_ready_in_ms,
               @instance_id AS instance_id, CAST(@lock_token + N':' + @instance_id AS NVARCHAR(500)) AS lock_token,
               @attempt_count AS attempt_count, @has_instance AS has_instance,
               @name AS orchestration_name, @version AS orchestration_version,
               @execution_id AS execution_id, @orphans_dropped AS orphans_dropped, @orphan_id AS orphan_id,
               @ready_ms - 100 AS floor_ms, @lanes AS lanes, @whole_ms AS whole_ms, @lease_ms AS lease_ms;

        SELECT m.queue_id, m.attempt_count, m.payload
        FROM   @messages AS m
        ORDER BY m.queue_id;

        EXEC [$(schema)]._send_history
            @instance_id = @instance_id, @execution_id = @execution_id, @process_id = @process_id,
            @bytes_max = NULL;

        EXEC [$(schema)]._send_key_values @instance_id = @instance_id;
    END TRY
    BEGIN CATCH
        -- The turn is committed and the caller is about to hear that there is none, so it is given back.
        SET @turn_token = @lock_token + N':' + @instance_id;
        EXEC [$(schema)].abandon_orchestration_item @lock_token = @turn_token, @ignore_attempt = 1;
        THROW;
    END CATCH;
END;
