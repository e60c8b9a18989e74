-- Adds up what there is of an instance to delete, as far as it matters.
--
-- Callers   _delete_instances, _delete_fenced, both inside their transaction and holding the instance's row
-- Locks     none kept: everything is only read
-- Throws    nothing
--
-- No table is read any further than one row more than @rows_max, so that looking costs no more than deleting.
-- @row_count and @byte_count are added to. The bytes are those of the texts, in the units that each table knows.
CREATE OR ALTER PROCEDURE [$(schema)]._weigh_instance
    @instance_id NVARCHAR(4000),
    @rows_max    BIGINT,
    @row_count   BIGINT OUTPUT,
    @byte_count  BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @found BIGINT, @bytes BIGINT;

    SELECT @found = COUNT_BIG(*), @bytes = SUM(c.bytes)
    FROM   (SELECT TOP (@rows_max + 1) CAST(DATALENGTH(q.payload) AS BIGINT) AS bytes
            FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
            WHERE  q.instance_id = @instance_id) AS c;
    SET @row_count = @row_count + @found;
    SET @byte_count = @byte_count + COALESCE(@bytes, 0);

    SELECT @found = COUNT_BIG(*), @bytes = SUM(c.bytes)
    FROM   (SELECT TOP (@rows_max + 1) COALESCE(CAST(DATALENGTH(e.output) AS BIGINT), 0) AS bytes
            FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
            WHERE  e.instance_id = @instance_id) AS c;
    SET @row_count = @row_count + @found;
    SET @byte_count = @byte_count + COALESCE(@bytes, 0);

    SELECT @found = COUNT_BIG(*), @bytes = SUM(c.payload_bytes)
    FROM   (SELECT TOP (@rows_max + 1) h.payload_bytes
            FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
            WHERE  h.instance_id = @instance_id) AS c;
    SET @row_count = @row_count + @found;
    SET @byte_count = @byte_count + COALESCE(@bytes, 0);

    SELECT @found = COUNT_BIG(*), @bytes = SUM(c.value_bytes)
    FROM   (SELECT TOP (@rows_max + 1) s.value_bytes
            FROM   [$(schema)].kv_store AS s WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
            WHERE  s.instance_id = @instance_id) AS c;
    SET @row_count = @row_count + @found;
    SET @byte_count = @byte_count + COALESCE(@bytes, 0);

    SELECT @found = COUNT_BIG(*), @bytes = SUM(c.value_bytes)
    FROM   (SELECT TOP (@rows_max + 1) d.value_bytes
            FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
            WHERE  d.instance_id = @instance_id) AS c;
    SET @row_count = @row_count + @found;
    SET @byte_count = @byte_count + COALESCE(@bytes, 0);

    -- An index has their number. What they carry is in the history as well.
    SELECT @found = COUNT_BIG(*)
    FROM   (SELECT TOP (@rows_max + 1) w.work_id
            FROM   [$(schema)].worker_queue AS w
                   WITH (INDEX(ix_worker_queue_activity), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
            WHERE  w.instance_id = @instance_id) AS c;
    SET @row_count = @row_count + @found;
END;
