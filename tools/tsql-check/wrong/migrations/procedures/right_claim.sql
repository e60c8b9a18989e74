-- Right: a claim with a transaction, a helper, a loop and every guarded way out.
--
-- Callers   exec_arguments
-- Locks     instance_locks: one row; instances through _right_helper; worker_queue: the rows it claims and adds
-- Throws    51003 inside a transaction
--           51001 instance id too long
--           51002 the instance is gone, from _right_helper
CREATE OR ALTER PROCEDURE [$(schema)].right_claim
    @instance_id  NVARCHAR(MAX),
    @items        NVARCHAR(MAX) = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    DECLARE @claimed BIGINT;
    DECLARE @taken TABLE (id BIGINT NOT NULL PRIMARY KEY, payload NVARCHAR(MAX) NOT NULL);

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51003, N'call it outside a transaction', 1;
    END;

    IF LEN(@instance_id) > 200
    BEGIN
        THROW 51001, N'instance id is too long', 1;
    END;

    BEGIN TRY
        BEGIN TRANSACTION;

        WHILE 1 = 1
        BEGIN
            SELECT TOP (1) @claimed = l.not_before_ms
            FROM   [$(schema)].instance_locks AS l
                   WITH (INDEX(pk_instance_locks), FORCESEEK, UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE  l.instance_id = @instance_id AND l.not_before_ms <= @now_ms
            ORDER BY l.not_before_ms;

            IF @@ROWCOUNT = 0
            BEGIN
                ROLLBACK TRANSACTION;
                RETURN;
            END;

            EXEC [$(schema)]._right_helper @instance_id = @instance_id;

            UPDATE TOP (1) q
            SET    attempts = q.attempts + 1
            OUTPUT inserted.id, inserted.payload INTO @taken (id, payload)
            FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), ROWLOCK)
            WHERE  q.instance_id = @instance_id;

            IF @@ROWCOUNT = 1
            BEGIN
                BREAK;
            END;
        END;

        INSERT INTO [$(schema)].worker_queue WITH (ROWLOCK) (instance_id, payload)
        SELECT j.instance_id, j.payload
        FROM   OPENJSON(@items) WITH (ord INT '$.ord', instance_id NVARCHAR(4000) '$.instance_id', payload NVARCHAR(MAX) '$.payload') AS j
        WHERE  NOT EXISTS (SELECT 1 FROM @taken AS t WHERE t.payload = j.payload)
        ORDER BY j.ord;

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0
        BEGIN
            ROLLBACK TRANSACTION;
        END;
        THROW;
    END CATCH;

    DELETE FROM @taken;
    EXEC sys.sp_getapplock @Resource = N'x', @LockMode = N'Exclusive', @LockOwner = N'Session', @LockTimeout = 0;

    WITH tree AS
    (
        SELECT t.id AS node FROM @taken AS t
        UNION ALL
        SELECT p.node + 1 FROM tree AS p WHERE p.node < 3
    )
    SELECT node, COUNT(*) AS copies FROM tree GROUP BY node ORDER BY node;
END;
