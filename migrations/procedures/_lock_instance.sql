-- Locks an instance's row for the rest of the caller's transaction, and creates it if it is absent.
--
-- Callers   ack_orchestration_item, _delete_instances, both inside their transaction
-- Locks     instance_locks: one row by its key (exclusive, or the new row)
-- Throws    2627 when another caller created the row at the same moment; the caller rolls back and
--           starts again, and then finds the row
--
-- Exclusive from the start, because those who post messages share the row: see _post_message.
--
-- One row at a time on purpose. A caller that needs several takes them one by one in the order of
-- their ids; a statement over all of them would leave the order to the plan. A row that is absent is
-- created so that it can be locked: otherwise somebody else could create it a moment later, and the
-- caller would come to wait for it out of order.
CREATE OR ALTER PROCEDURE [$(schema)]._lock_instance
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @lane BIGINT;

    SELECT @lane = l.lane
    FROM   [$(schema)].instance_locks AS l
           WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  l.instance_id = @instance_id;

    IF @lane IS NULL
    BEGIN
        INSERT INTO [$(schema)].instance_locks WITH (ROWLOCK)
            (instance_id, lane, not_before_ms, pinned_version)
        VALUES (@instance_id, -2, 9223372036854775807, -1);
    END;
END;
