-- Takes the first ready row of a lane that nobody else has, for the caller alone.
--
-- Callers   fetch_orchestration_item, inside its transaction
-- Locks     instance_locks: one row, found by ix_instance_locks_ready (update, then exclusive)
-- Throws    1222 when others have shared the row for 250 ms; the caller rolls back, and may come again without patience
--
-- A claim does not step over a row that only posters share (see _post_message), or a stream of messages would
-- keep an instance from its turn. It has the row with an update lock, which they allow, then asks for it alone, and
-- waits for those who came before it; later ones queue behind it. Most of them are about to commit. A turn that sends to the
-- instance may have long to write, though, and whoever waited for it would leave others unserved that stand behind. @is_patient = 0
-- steps over what is shared.
--
-- The row is the caller's by XLOCK, before it writes to it. A write alone would do without optimized locking; with it
-- a write keeps no lock on the row, but for the update lock that posters allow, and one that waits for the writer might keep its own.
--
-- messages_from_ms is read so that the row itself is locked with its index entry: writers lock the row first, and would
-- otherwise meet this claim half-way. The caller's LOCK_TIMEOUT comes back by itself: see _await_instance.
CREATE OR ALTER PROCEDURE [$(schema)]._claim_instance
    @lane        BIGINT,
    @floor_ms    BIGINT,
    @now_ms      BIGINT,
    @is_patient  BIT,
    @instance_id NVARCHAR(4000) OUTPUT,
    @ready_ms    BIGINT OUTPUT,
    @from_ms     BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    SET @instance_id = NULL;
    SET LOCK_TIMEOUT 250;
    IF @is_patient = 1
    BEGIN
        SELECT TOP (1) @instance_id = l.instance_id, @ready_ms = l.not_before_ms, @from_ms = l.messages_from_ms
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(ix_instance_locks_ready), FORCESEEK, UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE  l.lane = @lane
          AND  l.not_before_ms BETWEEN @floor_ms AND @now_ms
        ORDER BY l.not_before_ms, l.claim_id
        OPTION (KEEPFIXED PLAN);

        -- No message in flight is missed from here on.
        IF @instance_id IS NOT NULL
        BEGIN
            SELECT @from_ms = l.messages_from_ms
            FROM   [$(schema)].instance_locks AS l
                   WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
            WHERE  l.instance_id = @instance_id;
        END;
    END
    ELSE
    BEGIN
        SELECT TOP (1) @instance_id = l.instance_id, @ready_ms = l.not_before_ms, @from_ms = l.messages_from_ms
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(ix_instance_locks_ready), FORCESEEK, XLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE  l.lane = @lane
          AND  l.not_before_ms BETWEEN @floor_ms AND @now_ms
        ORDER BY l.not_before_ms, l.claim_id
        OPTION (KEEPFIXED PLAN);
    END;
END;
