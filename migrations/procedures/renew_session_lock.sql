-- Extends the leases of the sessions that the given workers own and have used lately.
--
-- Callers   Provider::renew_session_lock
-- Locks     sessions: the rows renewed; then, by themselves, their rows in session_lanes, and those of sessions again (shared)
-- Throws    51000 called inside a transaction
--
-- The sessions are looked up by owner without keeping a lock, and renewed by their key: a claim locks
-- the row before its index entry, and this must not come the other way. A session that passes from one
-- of the workers to another meanwhile is met twice, hence DISTINCT. They are renewed one by one in
-- the order of their keys, so that two calls for the same workers do not meet half-way.
--
-- At the end the lanes of these sessions move along, so that no fetch has to visit and correct them. One session after the other, because whoever
-- keeps one while it waits for the next can be waiting, in line behind a renewal, for another call that does the same. It is only an economy: it needs no transaction with the renewal, passes over lanes that
-- are locked, and does not fail the call, because the renewal is done by then. A session that was let go meanwhile is left
-- out, whichever of its rows is read first: the lock on it is kept to the end of the statement, and release_sessions wants both. One that is
-- being written to is hardly waited for. Nothing after it waits for anything, and the caller's LOCK_TIMEOUT comes back by itself: see _await_instance.
CREATE OR ALTER PROCEDURE [$(schema)].renew_session_lock
    @owner_ids       NVARCHAR(MAX),
    @extend_ms       BIGINT,
    @idle_timeout_ms BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @now_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()), @renewed BIGINT = 0,
            @session_key NVARCHAR(400), @previous NVARCHAR(400), @until_ms BIGINT;
    DECLARE @owners TABLE (owner_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @owned TABLE (session_key NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @sessions TABLE
    (
        session_key     NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
        locked_until_ms BIGINT NOT NULL
    );

    INSERT INTO @owners (owner_id)
    SELECT DISTINCT j.owner_id COLLATE Latin1_General_100_BIN2
    FROM   OPENJSON(@owner_ids) WITH (owner_id NVARCHAR(400) '$') AS j
    WHERE  j.owner_id IS NOT NULL;

    INSERT INTO @owned (session_key)
    SELECT DISTINCT s.session_key
    FROM   @owners AS o
    INNER JOIN [$(schema)].sessions AS s
               WITH (INDEX(ix_sessions_owner), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
           ON  s.owner_id = o.owner_id
    WHERE  s.locked_until_ms > @now_ms;

    BEGIN TRANSACTION;

    SET @session_key = N'';
    WHILE @session_key IS NOT NULL
    BEGIN
        SET @previous = @session_key;
        SET @session_key = NULL;
        SELECT TOP (1) @session_key = v.session_key
        FROM   @owned AS v
        WHERE  v.session_key > @previous
        ORDER BY v.session_key;
        IF @session_key IS NOT NULL
        BEGIN
            UPDATE s
            SET    s.locked_until_ms = CASE WHEN s.locked_until_ms > @now_ms + @extend_ms
                                            THEN s.locked_until_ms ELSE @now_ms + @extend_ms END
            OUTPUT inserted.session_key, inserted.locked_until_ms
            INTO   @sessions (session_key, locked_until_ms)
            FROM   [$(schema)].sessions AS s WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK)
            WHERE  s.session_key = @session_key
              AND  s.locked_until_ms > @now_ms
              AND  s.owner_id IN (SELECT o.owner_id FROM @owners AS o)
              AND  s.last_activity_ms > @now_ms - @idle_timeout_ms;
            SET @renewed = @renewed + @@ROWCOUNT;
        END;
    END;

    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);

    IF @renewed > 0
    BEGIN
        BEGIN TRY
            SET LOCK_TIMEOUT 50;
            SET @session_key = N'';
            WHILE @session_key IS NOT NULL
            BEGIN
                SET @previous = @session_key;
                SET @session_key = NULL;
                SELECT TOP (1) @session_key = v.session_key, @until_ms = v.locked_until_ms
                FROM   @sessions AS v
                WHERE  v.session_key > @previous
                ORDER BY v.session_key;

                UPDATE l
                SET    l.not_before_ms = @until_ms
                FROM   [$(schema)].session_lanes AS l
                       WITH (INDEX(uq_session_lanes_key), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE  l.session_key = @session_key
                  AND  l.not_before_ms < @until_ms
                  AND  EXISTS (SELECT 1
                               FROM   [$(schema)].sessions AS s
                                      WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK, REPEATABLEREAD)
                               WHERE  s.session_key = @session_key
                                 AND  s.locked_until_ms >= @until_ms);
            END;
        END TRY
        BEGIN CATCH
            -- The leases are renewed, and the next fetch that visits a lane corrects it.
        END CATCH;
    END;

    SELECT @renewed AS renewed;
END;
