-- Locks an instance's row for the rest of the caller's transaction, and creates it if it is absent.
--
-- Callers   ack_orchestration_item, _delete_instances, both inside their transaction
-- Locks     instance_locks: one row by its key (exclusive or shared, or the new row)
-- Throws    2627 when another caller created the row at the same moment; the caller rolls back and
--           starts again, and then finds the row
--
-- Exclusive from the start, because those who post messages share the row: see _post_message. A turn that only sends
-- to the instance says when its first message becomes visible, @visible_ms, and shares the row like any other poster if the row can stay as it is:
-- held, or ready by then. @is_alone = 0: it does, and must not be written to, and no message may be put in that is visible before @locked_ms, whatever the
-- clock says next. NULL: it shares the row, which has to be moved; nobody goes from shared to exclusive, so the caller rolls back and asks for the row alone.
--
-- One row at a time on purpose. A caller that needs several takes them one by one in the order of
-- their ids; a statement over all of them would leave the order to the plan. A row that is absent is
-- created so that it can be locked: otherwise somebody else could create it a moment later, and the
-- caller would come to wait for it out of order.
CREATE OR ALTER PROCEDURE [$(schema)]._lock_instance
    @instance_id NVARCHAR(4000),
    @visible_ms  BIGINT = NULL,
    @is_alone    BIT = 1 OUTPUT,
    @locked_ms   BIGINT = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @ready_ms BIGINT;

    SET @is_alone = 1;

    IF @visible_ms IS NULL
    BEGIN
        SELECT @ready_ms = l.not_before_ms
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
        WHERE  l.instance_id = @instance_id;
    END
    ELSE
    BEGIN
        SELECT @ready_ms = CASE WHEN l.lock_token IS NULL THEN l.not_before_ms ELSE l.messages_from_ms END
        FROM   [$(schema)].instance_locks AS l
               WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK, REPEATABLEREAD)
        WHERE  l.instance_id = @instance_id;

        SET @locked_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
        SET @is_alone = CASE WHEN @ready_ms IS NULL THEN 1
                             WHEN @ready_ms <= @visible_ms OR @ready_ms <= @locked_ms THEN 0 END;
    END;

    IF @ready_ms IS NULL
    BEGIN
        INSERT INTO [$(schema)].instance_locks WITH (ROWLOCK)
            (instance_id, lane, not_before_ms, pinned_version)
        VALUES (@instance_id, -2, 9223372036854775807, -1);
    END;
END;
