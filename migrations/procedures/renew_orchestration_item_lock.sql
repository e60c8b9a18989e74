-- Extends the lease on an instance the caller still holds.
--
-- Callers   Provider::renew_orchestration_item_lock
-- Locks     instance_locks: the instance's row (exclusive, so that no wait for those who share it follows the clock)
-- Throws    51000 called inside a transaction
--           51003 the lease is lost: token unknown, acknowledged, taken over or expired
--
-- The clock is read after the row is locked: a lease that ran out while this call waited is lost.
-- A renewal never brings the end of a lease nearer.
CREATE OR ALTER PROCEDURE [$(schema)].renew_orchestration_item_lock
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
            @instance_id NVARCHAR(1000) = SUBSTRING(@lock_token, 38, 1000),
            @lease_end_ms BIGINT, @now_ms BIGINT;

    BEGIN TRANSACTION;

    SELECT @lease_end_ms = l.not_before_ms
    FROM   [$(schema)].instance_locks AS l
           WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  l.instance_id = @instance_id
      AND  l.lock_token = @token
    OPTION (KEEPFIXED PLAN);

    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

    IF @lease_end_ms IS NULL OR @lease_end_ms <= @now_ms
    BEGIN
        ROLLBACK TRANSACTION;
        THROW 51003, N'Invalid lock token: the instance lock is unknown, released, expired or taken over', 1;
    END;

    UPDATE l
    SET    not_before_ms = @now_ms + @extend_ms
    FROM   [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK)
    WHERE  instance_id = @instance_id
      AND  not_before_ms < @now_ms + @extend_ms
    OPTION (KEEPFIXED PLAN);

    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
END;
