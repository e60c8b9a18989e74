-- Ends the leases of the sessions that the given workers own, so that others need not wait for their end.
--
-- Callers   the provider when it is closed, for workers that never come back under the same name
-- Locks     of one session at a time: session_lanes, its lanes in the order of their keys, then sessions, its row
-- Throws    51000 called inside a transaction
--
-- Sessions are looked up by owner without keeping a lock, as in renew_session_lock, and ended by their key if they
-- are still the owner's. They lose their owner as well, so that a renewal that has begun already does not find them. A call
-- that is cut short has ended some of them, and may be repeated.
--
-- A lane promises nothing before its session's lease ends, so it is brought forward together with that end. A promise that
-- comes too early is corrected by the fetch that visits it. A lane that is being made at this very moment by somebody who
-- has read the old end is brought forward afterwards: the second look waits for it, and comes after the new end.
--
-- The looks ask for nothing but the keys. A reader that goes on from the index to the row, with a lock on each, meets whoever
-- removes the lane (_settle_session_lane), who has the row first and then wants its entry.
CREATE OR ALTER PROCEDURE [$(schema)].release_sessions
    @owner_ids NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @now_ms BIGINT, @released BIGINT = 0, @number INT = 0, @last INT, @lane INT, @looks INT,
            @session_key NVARCHAR(400), @tag_key NVARCHAR(260);
    DECLARE @owners TABLE (owner_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);
    DECLARE @owned TABLE
    (
        number      INT IDENTITY(1, 1) NOT NULL PRIMARY KEY,
        session_key NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL
    );
    DECLARE @lanes TABLE
    (
        session_key NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
        tag_key     NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL,
        number      INT NOT NULL,
        PRIMARY KEY NONCLUSTERED (session_key, tag_key)
    );

    INSERT INTO @owners (owner_id)
    SELECT DISTINCT j.owner_id COLLATE Latin1_General_100_BIN2
    FROM   OPENJSON(@owner_ids) WITH (owner_id NVARCHAR(400) '$') AS j
    WHERE  j.owner_id IS NOT NULL;

    SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
    INSERT INTO @owned (session_key)
    SELECT s.session_key
    FROM   @owners AS o
    INNER JOIN [$(schema)].sessions AS s
               WITH (INDEX(ix_sessions_owner), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
           ON  s.owner_id = o.owner_id
    WHERE  s.locked_until_ms > @now_ms;
    SET @last = @@ROWCOUNT;

    WHILE @number < @last
    BEGIN
        SET @number = @number + 1;
        SELECT @session_key = v.session_key FROM @owned AS v WHERE v.number = @number;

        SET @looks = 2;
        WHILE @looks > 0
        BEGIN
            DELETE FROM @lanes;
            INSERT INTO @lanes (session_key, tag_key, number)
            SELECT l.session_key, l.tag_key, ROW_NUMBER() OVER (ORDER BY l.tag_key DESC)
            FROM   [$(schema)].session_lanes AS l
                   WITH (INDEX(uq_session_lanes_key), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
            WHERE  l.session_key = @session_key;
            SET @lane = @@ROWCOUNT;

            BEGIN TRANSACTION;

            SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
            WHILE @lane > 0
            BEGIN
                SELECT @tag_key = v.tag_key FROM @lanes AS v WHERE v.number = @lane;
                UPDATE l
                SET    l.not_before_ms = CASE WHEN l.not_before_ms > @now_ms THEN @now_ms ELSE l.not_before_ms END
                FROM   [$(schema)].session_lanes AS l WITH (INDEX(uq_session_lanes_key), FORCESEEK, ROWLOCK)
                WHERE  l.session_key = @session_key
                  AND  l.tag_key = @tag_key
                  AND  (@looks = 2 OR l.not_before_ms > @now_ms);
                SET @lane = @lane - 1;
            END;

            IF @looks = 2
            BEGIN
                UPDATE s
                SET    s.owner_id = N'',
                       s.locked_until_ms = @now_ms
                FROM   [$(schema)].sessions AS s WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK)
                WHERE  s.session_key = @session_key
                  AND  s.locked_until_ms > @now_ms
                  AND  s.owner_id IN (SELECT o.owner_id FROM @owners AS o);
                SET @released = @released + @@ROWCOUNT;
            END;

            COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
            SET @looks = @looks - 1;
        END;
    END;

    SELECT @released AS released;
END;
