-- Extends the lease on an activity the caller still holds.
--
-- Callers   Provider::renew_work_item_lock
-- Locks     worker_queue: the item's row, then sessions: the session's row
-- Throws    51000 called inside a transaction
--           51004 the lease is lost: the item was cancelled, acknowledged, taken over or expired
--
-- An expired lease is lost even if nobody has taken the item yet; otherwise a stalled worker could
-- revive it in the instant before another one fetches it. The clock is read after the row is locked,
-- and a renewal never brings the end of a lease nearer.
CREATE OR ALTER PROCEDURE [$(schema)].renew_work_item_lock
    @lock_token NVARCHAR(1000),
    @extend_ms  BIGINT
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
            @session_key NVARCHAR(400), @lease_end_ms BIGINT, @now_ms BIGINT;

    BEGIN TRANSACTION;

    SELECT @lease_end_ms = q.not_before_ms, @session_key = q.session_key
    FROM   [$(schema)].worker_queue AS q
           WITH (INDEX(pk_worker_queue), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  q.work_id = @work_id
      AND  q.lock_token = @token
    OPTION (KEEPFIXED PLAN);

    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

    IF @lease_end_ms IS NULL OR @lease_end_ms <= @now_ms
    BEGIN
        ROLLBACK TRANSACTION;
        THROW 51004, N'work item lease is no longer held: cancelled, acknowledged, expired or taken over', 1;
    END;

    UPDATE q
    SET    not_before_ms = @now_ms + @extend_ms
    FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
    WHERE  work_id = @work_id
      AND  not_before_ms < @now_ms + @extend_ms
    OPTION (KEEPFIXED PLAN);

    IF @session_key <> N''
    BEGIN
        UPDATE s
        SET    last_activity_ms = @now_ms
        FROM   [$(schema)].sessions AS s WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK)
        WHERE  session_key = @session_key
          AND  locked_until_ms > @now_ms;
    END;

    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
END;
