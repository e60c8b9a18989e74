-- Removes the sessions whose lease has ended and that no item refers to.
--
-- Callers   Provider::cleanup_orphaned_sessions
-- Locks     sessions: the rows removed
-- Throws    51000 called inside a transaction
--
-- Rows that are locked are passed over. Passing over a locked item can at worst remove the ended lease of a session that is being claimed
-- this instant, and the claim then creates the row anew. @idle_timeout_ms is not used: how long a
-- session may idle is decided when its lease is renewed.
CREATE OR ALTER PROCEDURE [$(schema)].cleanup_orphaned_sessions
    @idle_timeout_ms BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()),
            @rows BIGINT = 1, @removed BIGINT = 0;

    WHILE @rows > 0
    BEGIN
        DELETE TOP (1000) s
        FROM   [$(schema)].sessions AS s WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE  s.locked_until_ms < @now_ms
          AND  NOT EXISTS (SELECT 1
                           FROM   [$(schema)].worker_queue AS q
                                  WITH (INDEX(ix_worker_queue_ready), ROWLOCK, READPAST, READCOMMITTEDLOCK)
                           WHERE  q.session_key = s.session_key);
        SET @rows = @@ROWCOUNT;
        SET @removed = @removed + @rows;
    END;

    SELECT @removed AS removed;
END;
