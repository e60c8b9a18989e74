-- Gives a turn back: its messages return to the queue, after the delay if one is given.
--
-- Callers   Provider::abandon_orchestration_item; fetch_orchestration_item, when it cannot read the turn
-- Locks     instance_locks: the instance's row (exclusive, see _post_message), then orchestrator_queue: the turn's messages
-- Throws    51000 called inside a transaction
--           51003 the token is not the instance's: unknown, acknowledged or taken over
--
-- An expired lease may still be given back as long as nobody took it over: that is no harm, and it
-- spares the instance the wait. Messages that arrived during the turn carry no token and keep their
-- visibility and attempts.
CREATE OR ALTER PROCEDURE [$(schema)].abandon_orchestration_item
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
            @instance_id NVARCHAR(1000) = SUBSTRING(@lock_token, 38, 1000),
            @lease_end_ms BIGINT, @from_ms BIGINT, @now_ms BIGINT;

    BEGIN TRANSACTION;

    SELECT @lease_end_ms = l.not_before_ms, @from_ms = l.messages_from_ms
    FROM   [$(schema)].instance_locks AS l
           WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  l.instance_id = @instance_id
      AND  l.lock_token = @token
    OPTION (KEEPFIXED PLAN);

    IF @lease_end_ms IS NULL
    BEGIN
        ROLLBACK TRANSACTION;
        THROW 51003, N'Invalid lock token: the instance lock is unknown, released, expired or taken over', 1;
    END;

    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

    -- The tagged rows were visible before the lease ends, though perhaps not by a clock that was set back.
    UPDATE q
    SET    lock_token = NULL,
           attempt_count = CASE WHEN @ignore_attempt = 1 AND attempt_count > 0
                                THEN attempt_count - 1 ELSE attempt_count END,
           visible_at_ms = CASE WHEN @delay_ms IS NULL
                                THEN visible_at_ms ELSE @now_ms + @delay_ms END
    FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
    WHERE  q.instance_id = @instance_id
      AND  q.visible_at_ms BETWEEN @from_ms AND @lease_end_ms
      AND  q.lock_token = @token
    OPTION (KEEPFIXED PLAN);

    IF @from_ms > @now_ms + @delay_ms
    BEGIN
        SET @from_ms = @now_ms + @delay_ms;
    END;
    EXEC [$(schema)]._release_instance @instance_id = @instance_id, @from_ms = @from_ms;

    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
END;
