-- Gives an activity back to the queue, after the delay if one is given.
--
-- Callers   Provider::abandon_work_item, _send_work_history
-- Locks     session_lanes: the item's lane, then worker_queue: the item's row
-- Order     worker_queue is read first to learn the lane, and sessions under the lane's lock to learn its owner; these
--           reads keep no locks
-- Throws    51000 called inside a transaction
--           51004 the token is not the item's: cancelled, acknowledged or taken over
--
-- An expired lease may still be given back as long as nobody took it over. Without a delay the item
-- returns to its old place, in front of what was enqueued after it, but to no older one than a second ago: see
-- _release_instance.
CREATE OR ALTER PROCEDURE [$(schema)].abandon_work_item
    @lock_token     NVARCHAR(1000),
    @delay_ms       BIGINT = NULL,
    @ignore_attempt BIT = 0
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
            @work_id BIGINT = TRY_CONVERT(BIGINT, SUBSTRING(@lock_token, 38, 20)),
            @session_key NVARCHAR(400), @tag_key NVARCHAR(260), @ready_ms BIGINT, @claim_ms BIGINT, @promised_ms BIGINT,
            @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

    -- An item keeps its session, tag and time of arrival for life, so they may be read in advance.
    SELECT @session_key = q.session_key, @tag_key = q.tag_key, @ready_ms = q.enqueued_at_ms
    FROM   [$(schema)].worker_queue AS q
           WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  q.work_id = @work_id
      AND  q.lock_token = @token
    OPTION (KEEPFIXED PLAN);

    IF @delay_ms IS NOT NULL
    BEGIN
        SET @ready_ms = @now_ms + @delay_ms;
    END
    ELSE IF @ready_ms < @now_ms - 1000
    BEGIN
        SET @ready_ms = @now_ms - 1000;
    END;

    BEGIN TRANSACTION;

    IF @session_key <> N''
    BEGIN
        -- The lane first: release_sessions brings a session's lanes and its end forward together, and an end that was read
        -- before would let the lane promise too late again.
        SELECT @promised_ms = l.not_before_ms
        FROM   [$(schema)].session_lanes AS l
               WITH (INDEX(uq_session_lanes_key), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  l.session_key = @session_key
          AND  l.tag_key = @tag_key;

        SET @claim_ms = @ready_ms;
        SELECT @claim_ms = s.locked_until_ms
        FROM   [$(schema)].sessions AS s
               WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  s.session_key = @session_key
          AND  s.locked_until_ms > @ready_ms;

        IF @promised_ms > @claim_ms
        BEGIN
            UPDATE l
            SET    not_before_ms = @claim_ms
            FROM   [$(schema)].session_lanes AS l WITH (INDEX(uq_session_lanes_key), FORCESEEK, ROWLOCK)
            WHERE  session_key = @session_key
              AND  tag_key = @tag_key;
        END;
    END;

    UPDATE q
    SET    lock_token = NULL,
           not_before_ms = @ready_ms,
           attempt_count = CASE WHEN @ignore_attempt = 1 AND attempt_count > 0
                                THEN attempt_count - 1 ELSE attempt_count END
    FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
    WHERE  work_id = @work_id
      AND  lock_token = @token
    OPTION (KEEPFIXED PLAN);

    IF @@ROWCOUNT = 0
    BEGIN
        ROLLBACK TRANSACTION;
        THROW 51004, N'work item lease is no longer held: cancelled, acknowledged, expired or taken over', 1;
    END;

    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
END;
