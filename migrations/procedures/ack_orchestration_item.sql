-- Ends a turn: everything it decided becomes true, or nothing does.
--
-- Callers   Provider::ack_orchestration_item
-- Locks     version_lanes through _add_version_lane, before the transaction; instance_locks: the rows of the instance and of every instance it sends to (shared, where
--           they can stay as they are), in the order of their ids, through _lock_instance, before anything else; then session_lanes through
--           _lock_session_lanes; orchestrator_queue; instances and executions through _save_execution;
--           history through _append_history; kv_store and kv_delta through _apply_kv_changes; worker_queue through _add_work_items and _cancel_activities
-- Order     sessions is read with session_lanes; the read keeps no lock
-- Throws    51000 called inside a transaction
--           51001, 51002 an instance id, session id, tag or KV key is unusable
--           51003 the lease is lost: token unknown, acknowledged, taken over or expired
--           51005 an event has no id or an id below 1
--           51006 an event with this id is already stored; the lease is still held
--
-- The lease is checked under the row's lock and the lock is kept to the commit, so it cannot be taken over in between, and no
-- message comes in unseen: see _post_message. Two turns that send to each other ask for the same two rows in the same order. The cost follows the size of the delta.
--
-- @process_id is the provider that remembers the history from now on. It is told how far that went before the new events; if it has exactly that, it now has all of it.
-- Repeating the call after an unknown outcome is harmless: if the first one was committed the token is gone (51003).
CREATE OR ALTER PROCEDURE [$(schema)].ack_orchestration_item
    @lock_token            NVARCHAR(1000),
    @execution_id          BIGINT,
    @history               NVARCHAR(MAX) = NULL,
    @worker_items          NVARCHAR(MAX) = NULL,
    @orchestrator_items    NVARCHAR(MAX) = NULL,
    @cancelled_activities  NVARCHAR(MAX) = NULL,
    @kv_clear_all          BIT = 0,
    @kv_changes            NVARCHAR(MAX) = NULL,
    @set_custom_status     BIT = 0,
    @custom_status         NVARCHAR(MAX) = NULL,
    @status                NVARCHAR(100) = NULL,
    @output                NVARCHAR(MAX) = NULL,
    @orchestration_name    NVARCHAR(MAX) = NULL,
    @orchestration_version NVARCHAR(MAX) = NULL,
    @parent_instance_id    NVARCHAR(4000) = NULL,
    @pinned_version        BIGINT = NULL,
    @process_id            UNIQUEIDENTIFIER = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @token UNIQUEIDENTIFIER = TRY_CONVERT(UNIQUEIDENTIFIER, LEFT(@lock_token, 36)),
            @instance_id NVARCHAR(1000) = SUBSTRING(@lock_token, 38, 1000),
            @lease_end_ms BIGINT, @from_ms BIGINT, @now_ms BIGINT, @locked_ms BIGINT, @latest_ms BIGINT = 0, @event_count BIGINT = 0,
            @locked BIT = 0, @has_sessions BIT = 0, @longest BIGINT, @unusable BIGINT, @lane_version BIGINT,
            @is_end BIT = CASE WHEN @status IN (N'Completed', N'Failed', N'ContinuedAsNew') THEN 1 ELSE 0 END,
            @first_event_id BIGINT, @first_turn UNIQUEIDENTIFIER, @after_event_id BIGINT, @after_turn UNIQUEIDENTIFIER,
            @target NVARCHAR(400), @previous NVARCHAR(400), @visible_ms BIGINT, @is_alone BIT;
    -- Every instance whose row this turn locks, when its first new message becomes visible, and whether the row is the turn's alone.
    DECLARE @targets TABLE (instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
                            first_visible_ms BIGINT NULL, is_alone BIT NOT NULL);
    DECLARE @messages TABLE (ord BIGINT NULL, instance_id NVARCHAR(MAX) NULL, kind NVARCHAR(100) NULL, visible_at_ms BIGINT NULL, payload NVARCHAR(MAX) NULL);

    IF @orchestrator_items IS NOT NULL
    BEGIN
        INSERT INTO @messages (ord, instance_id, kind, visible_at_ms, payload)
        SELECT j.ord, j.instance_id, j.kind, j.visible_at_ms, j.payload
        FROM   OPENJSON(@orchestrator_items)
               WITH (ord BIGINT '$.ord', instance_id NVARCHAR(MAX) '$.instance_id', kind NVARCHAR(100) '$.kind',
                     visible_at_ms BIGINT '$.visible_at_ms', payload NVARCHAR(MAX) '$.payload') AS j;
        SELECT @longest = MAX(COALESCE(DATALENGTH(m.instance_id), 0)),
               @unusable = SUM(CASE WHEN m.instance_id IS NULL OR DATALENGTH(m.instance_id) = 0
                                         OR UNICODE(RIGHT(m.instance_id, 1)) = 32 THEN 1 ELSE 0 END)
        FROM   @messages AS m;
        EXEC [$(schema)]._refuse_instance_ids @longest = @longest, @unusable = @unusable;

        INSERT INTO @targets (instance_id, first_visible_ms, is_alone)
        SELECT CAST(m.instance_id AS NVARCHAR(400)) COLLATE Latin1_General_100_BIN2, MIN(COALESCE(m.visible_at_ms, 0)), 0
        FROM   @messages AS m
        GROUP BY CAST(m.instance_id AS NVARCHAR(400)) COLLATE Latin1_General_100_BIN2;
    END;
    IF @worker_items IS NOT NULL
    BEGIN
        EXEC [$(schema)]._check_work_items @worker_items = @worker_items, @has_sessions = @has_sessions OUTPUT;
    END;
    IF @orchestrator_items IS NOT NULL OR @has_sessions = 1
    BEGIN
        UPDATE @targets SET is_alone = 1 WHERE instance_id = @instance_id;
        INSERT INTO @targets (instance_id, is_alone)
        SELECT LEFT(@instance_id, 400), 1
        WHERE  NOT EXISTS (SELECT 1 FROM @targets AS t WHERE t.instance_id = @instance_id);
    END;
    IF @parent_instance_id IS NOT NULL
    BEGIN
        EXEC [$(schema)]._check_instance_id @instance_id = @parent_instance_id;
    END;
    IF @kv_changes IS NOT NULL
    BEGIN
        EXEC [$(schema)]._check_kv_keys @kv_changes = @kv_changes;
    END;
    IF @history IS NOT NULL
    BEGIN
        EXEC [$(schema)]._check_history
            @history = @history, @event_count = @event_count OUTPUT, @first_event_id = @first_event_id OUTPUT;
    END;

    IF @pinned_version IS NOT NULL
    BEGIN
        EXEC [$(schema)]._add_version_lane @lane = @pinned_version;
    END;
    WHILE @locked = 0
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;
            SET @is_alone = 1;
            -- From the first one on, not from an empty text: that sorts behind ids that begin with a control character.
            SELECT TOP (1) @target = t.instance_id FROM @targets AS t ORDER BY t.instance_id;
            WHILE @target IS NOT NULL
            BEGIN
                SELECT @visible_ms = CASE WHEN t.is_alone = 0 THEN t.first_visible_ms END FROM @targets AS t WHERE t.instance_id = @target;
                EXEC [$(schema)]._lock_instance @instance_id = @target, @visible_ms = @visible_ms, @is_alone = @is_alone OUTPUT, @locked_ms = @locked_ms OUTPUT;
                SET @latest_ms = CASE WHEN @locked_ms > @latest_ms THEN @locked_ms ELSE @latest_ms END;
                -- One that has to be moved, and is shared: all are taken alone then, so that this starts again but once.
                IF @is_alone IS NULL BEGIN UPDATE @targets SET is_alone = 1 WHERE is_alone = 0; END
                ELSE BEGIN UPDATE @targets SET is_alone = @is_alone WHERE instance_id = @target; END;
                SET @previous = @target; SET @target = NULL;
                SELECT TOP (1) @target = t.instance_id FROM @targets AS t WHERE t.instance_id > @previous AND @is_alone IS NOT NULL ORDER BY t.instance_id;
            END;
            IF @is_alone IS NOT NULL AND @has_sessions = 1
            BEGIN
                EXEC [$(schema)]._lock_session_lanes @worker_items = @worker_items;
            END;
            IF @is_alone IS NULL BEGIN ROLLBACK TRANSACTION; END
            ELSE BEGIN SET @locked = 1; END;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0
            BEGIN
                ROLLBACK TRANSACTION;
            END;
            -- 2627: another caller created an instance's row, or a session's lane, first. It is there now.
            IF ERROR_NUMBER() <> 2627
            BEGIN
                THROW;
            END;
        END CATCH;
    END;

    SELECT @lease_end_ms = l.not_before_ms, @from_ms = l.messages_from_ms
    FROM   [$(schema)].instance_locks AS l
           WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  l.instance_id = @instance_id
      AND  l.lock_token = @token OPTION (KEEPFIXED PLAN);

    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

    IF @lease_end_ms IS NULL OR @lease_end_ms <= @now_ms
    BEGIN
        ROLLBACK TRANSACTION;
        THROW 51003, N'Invalid lock token: the instance lock is unknown, released, expired or taken over', 1;
    END;

    IF @orchestrator_items IS NOT NULL
    BEGIN
        -- A timer that is already due queues behind what is ready now; and now is not before the locks, even if the clock was set back.
        SET @latest_ms = CASE WHEN @now_ms > @latest_ms THEN @now_ms ELSE @latest_ms END;
        UPDATE @targets SET first_visible_ms = @latest_ms WHERE first_visible_ms < @latest_ms;
        SELECT @from_ms = t.first_visible_ms FROM @targets AS t WHERE t.instance_id = @instance_id AND t.first_visible_ms < @from_ms;

        UPDATE l
        SET    l.lane = CASE WHEN l.lock_token IS NULL THEN l.pinned_version ELSE l.lane END,
               l.not_before_ms = CASE WHEN l.lock_token IS NULL THEN t.first_visible_ms ELSE l.not_before_ms END,
               l.messages_from_ms = CASE WHEN l.messages_from_ms > t.first_visible_ms THEN t.first_visible_ms ELSE l.messages_from_ms END
        FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
        INNER JOIN @targets AS t
               ON  t.instance_id = l.instance_id
        WHERE  t.is_alone = 1
          AND  CASE WHEN l.lock_token IS NULL THEN l.not_before_ms ELSE l.messages_from_ms END > t.first_visible_ms;
    END;

    -- Only rows with the turn's token. Those were visible before its lease ends, but need not be so now: the clock may have been set back.
    DELETE q
    FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
    WHERE  q.instance_id = @instance_id
      AND  q.visible_at_ms BETWEEN @from_ms AND @lease_end_ms
      AND  q.lock_token = @token OPTION (KEEPFIXED PLAN);

    IF @orchestrator_items IS NOT NULL
    BEGIN
        INSERT INTO [$(schema)].orchestrator_queue WITH (ROWLOCK) (instance_id, visible_at_ms, kind, attempt_count, payload)
        SELECT m.instance_id, CASE WHEN m.visible_at_ms > @latest_ms THEN m.visible_at_ms ELSE @latest_ms END, m.kind, 0, m.payload
        FROM   @messages AS m
        ORDER BY m.ord;
    END;

    EXEC [$(schema)]._save_execution
        @instance_id = @instance_id, @execution_id = @execution_id, @now_ms = @now_ms,
        @event_count = @event_count, @status = @status, @output = @output,
        @orchestration_name = @orchestration_name, @orchestration_version = @orchestration_version,
        @parent_instance_id = @parent_instance_id, @pinned_version = @pinned_version,
        @set_custom_status = @set_custom_status, @custom_status = @custom_status,
        @process_id = @process_id, @lane_version = @lane_version OUTPUT;

    IF @history IS NOT NULL
    BEGIN
        BEGIN TRY
            EXEC [$(schema)]._append_history
                @instance_id = @instance_id, @execution_id = @execution_id, @history = @history,
                @appended_by = @token, @is_turn = 1, @first_event_id = @first_event_id,
                @first_turn = @first_turn OUTPUT, @after_event_id = @after_event_id OUTPUT, @after_turn = @after_turn OUTPUT;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0
            BEGIN
                ROLLBACK TRANSACTION;
            END;
            IF ERROR_NUMBER() = 2627
            BEGIN
                THROW 51006, N'duplicate event: this execution already has an event with this event_id', 1;
            END;
            THROW;
        END CATCH;
    END;

    IF @kv_clear_all = 1 OR @kv_changes IS NOT NULL OR @is_end = 1
    BEGIN
        EXEC [$(schema)]._apply_kv_changes
            @instance_id = @instance_id, @now_ms = @now_ms, @clear_all = @kv_clear_all,
            @kv_changes = @kv_changes, @merge = @is_end;
    END;

    IF @worker_items IS NOT NULL
    BEGIN
        EXEC [$(schema)]._add_work_items @worker_items = @worker_items, @now_ms = @now_ms;
    END;

    -- After the insert: an activity that is scheduled and cancelled in one turn must end up absent.
    IF @cancelled_activities IS NOT NULL
    BEGIN
        EXEC [$(schema)]._cancel_activities @cancelled_activities = @cancelled_activities;
    END;

    EXEC [$(schema)]._release_instance @instance_id = @instance_id, @pinned_version = @lane_version, @from_ms = @from_ms;

    COMMIT TRANSACTION;

    IF @process_id IS NOT NULL AND @history IS NOT NULL
    BEGIN
        SELECT @token AS appended_by, @first_turn AS first_turn, @after_event_id AS after_event_id, @after_turn AS after_turn;
    END;
END;
