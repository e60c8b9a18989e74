-- Removes the sessions whose lease has ended and that no item refers to.
--
-- Callers   Provider::cleanup_orphaned_sessions
-- Locks     sessions: the rows removed
-- Throws    51000 called inside a transaction
--
-- The sessions are looked up without keeping a lock, a thousand at a time in the order of their keys,
-- and removed by key: a claim locks the row before its index entry, and this must not come the other
-- way. Rows that are locked are passed over. Passing over a locked item can at worst remove the ended
-- lease of a session that is being claimed this instant, and the claim then creates the row anew.
-- @idle_timeout_ms is not used: how long a session may idle is decided when its lease is renewed.
CREATE OR ALTER PROCEDURE [$(schema)].cleanup_orphaned_sessions
    @idle_timeout_ms BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()),
            @previous NVARCHAR(400) = N'', @removed BIGINT = 0;
    DECLARE @ended TABLE (session_key NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);

    WHILE @previous IS NOT NULL
    BEGIN
        DELETE FROM @ended;
        INSERT INTO @ended (session_key)
        SELECT TOP (1000) s.session_key
        FROM   [$(schema)].sessions AS s
               WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE  s.session_key > @previous
          AND  s.locked_until_ms < @now_ms
        ORDER BY s.session_key;

        SET @previous = NULL;
        SELECT @previous = MAX(e.session_key)
        FROM   @ended AS e;

        DELETE s
        FROM   [$(schema)].sessions AS s
               WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        INNER JOIN @ended AS e
               ON  e.session_key = s.session_key
        WHERE  s.locked_until_ms < @now_ms
          AND  NOT EXISTS (SELECT 1
                           FROM   [$(schema)].worker_queue AS q
                                  WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                           WHERE  q.session_key = s.session_key);
        SET @removed = @removed + @@ROWCOUNT;
    END;

    SELECT @removed AS removed;
END;
