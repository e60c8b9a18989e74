-- Deletes the next events of an execution, as many as one short transaction bears.
--
-- Callers   _delete_fenced, _prune_executions, both inside their transaction and holding the instance's row
-- Locks     executions: the execution's row, unless it is marked already; history: the rows deleted
-- Throws    nothing
--
-- At most 1,000 events, and no more once they have reached 1 MiB. They go in the order of their key from
-- @event_id on, which is moved along, so that no batch steps over what the one before it has deleted. An execution
-- that loses events has the status Deleting: nobody is shown the rest. @row_count = 0: none is left behind @event_id.
CREATE OR ALTER PROCEDURE [$(schema)]._delete_events
    @instance_id  NVARCHAR(4000),
    @execution_id BIGINT,
    @event_id     BIGINT OUTPUT,
    @row_count    BIGINT OUTPUT,
    @byte_count   BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @last_event_id BIGINT;

    SET @row_count = 0;
    SET @byte_count = 0;

    UPDATE e
    SET    e.status = N'Deleting'
    FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
    WHERE  e.instance_id = @instance_id
      AND  e.execution_id = @execution_id
      AND  e.status <> N'Deleting';

    SELECT @last_event_id = MAX(c.event_id), @byte_count = COALESCE(SUM(c.payload_bytes), 0)
    FROM
    (
        SELECT t.event_id, t.payload_bytes,
               SUM(t.payload_bytes) OVER (ORDER BY t.event_id ROWS UNBOUNDED PRECEDING) - t.payload_bytes AS bytes_before
        FROM   (SELECT TOP (1000) h.event_id, h.payload_bytes
                FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
                WHERE  h.instance_id = @instance_id
                  AND  h.execution_id = @execution_id
                  AND  h.event_id > @event_id
                ORDER BY h.event_id) AS t
    ) AS c
    WHERE  c.bytes_before < 1048576;

    IF @last_event_id IS NOT NULL
    BEGIN
        DELETE h
        FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  h.instance_id = @instance_id
          AND  h.execution_id = @execution_id
          AND  h.event_id > @event_id
          AND  h.event_id <= @last_event_id;
        SET @row_count = @@ROWCOUNT;
        SET @event_id = @last_event_id;
    END;
END;
