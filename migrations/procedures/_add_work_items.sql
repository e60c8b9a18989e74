-- Puts activities into the worker queue, in the order of their "ord".
--
-- Callers   enqueue_for_worker, ack_orchestration_item, both inside their transaction
-- Locks     session_lanes: the lanes of the items (update), in the order of their keys, then
--           worker_queue: the new rows
-- Order     sessions is read first; the read keeps no lock
-- Throws    nothing
--
-- A lane is locked before an item goes into it. A fetch that corrects a lane's not_before_ms
-- therefore sees either no item or a committed one, and never moves the lane past it.
-- New lanes are created under a range lock, so that two callers cannot both create one.
CREATE OR ALTER PROCEDURE [$(schema)]._add_work_items
    @worker_items NVARCHAR(MAX),
    @now_ms       BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @lanes TABLE
    (
        session_key NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
        tag_key     NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL,
        claim_ms    BIGINT NOT NULL,
        PRIMARY KEY NONCLUSTERED (session_key, tag_key)
    );

    INSERT INTO @lanes (session_key, tag_key, claim_ms)
    SELECT DISTINCT
           (N'[' + j.session_id + N']') COLLATE Latin1_General_100_BIN2,
           COALESCE(N'[' + j.tag + N']', N'') COLLATE Latin1_General_100_BIN2,
           @now_ms
    FROM   OPENJSON(@worker_items)
           WITH (session_id NVARCHAR(398) '$.session_id', tag NVARCHAR(256) '$.tag') AS j
    WHERE  j.session_id IS NOT NULL;

    IF @@ROWCOUNT > 0
    BEGIN
        -- Nobody but its owner can take an item of a session that is leased.
        UPDATE v
        SET    v.claim_ms = s.locked_until_ms
        FROM   @lanes AS v
        INNER JOIN [$(schema)].sessions AS s WITH (READCOMMITTEDLOCK)
               ON  s.session_key = v.session_key
        WHERE  s.locked_until_ms > v.claim_ms;

        INSERT INTO [$(schema)].session_lanes (session_key, tag_key, not_before_ms)
        SELECT v.session_key, v.tag_key, v.claim_ms
        FROM   @lanes AS v
        WHERE  NOT EXISTS (SELECT 1
                           FROM   [$(schema)].session_lanes AS l
                                  WITH (INDEX(uq_session_lanes_key), UPDLOCK, HOLDLOCK, ROWLOCK)
                           WHERE  l.session_key = v.session_key
                             AND  l.tag_key = v.tag_key)
        ORDER BY v.session_key, v.tag_key;

        UPDATE l
        SET    l.not_before_ms = v.claim_ms
        FROM   [$(schema)].session_lanes AS l WITH (INDEX(uq_session_lanes_key), ROWLOCK)
        INNER JOIN @lanes AS v
               ON  v.session_key = l.session_key
              AND  v.tag_key = l.tag_key
        WHERE  l.not_before_ms > v.claim_ms;
    END;

    INSERT INTO [$(schema)].worker_queue
        (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms, enqueued_at_ms,
         lock_token, attempt_count, payload)
    SELECT j.instance_id, j.execution_id, j.activity_id,
           COALESCE(N'[' + j.session_id + N']', N''), COALESCE(N'[' + j.tag + N']', N''),
           @now_ms, @now_ms, NULL, 0, j.payload
    FROM   OPENJSON(@worker_items)
           WITH (ord BIGINT '$.ord', instance_id NVARCHAR(400) '$.instance_id', execution_id BIGINT '$.execution_id',
                 activity_id BIGINT '$.activity_id', session_id NVARCHAR(398) '$.session_id',
                 tag NVARCHAR(256) '$.tag', payload NVARCHAR(MAX) '$.payload') AS j
    ORDER BY j.ord;
END;
