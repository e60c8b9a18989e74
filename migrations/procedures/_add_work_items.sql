-- Puts activities into the worker queue, in the order of their "ord".
--
-- Callers   enqueue_for_worker, ack_orchestration_item, both inside their transaction and holding the
--           lanes of the items through _lock_session_lanes
-- Locks     worker_queue: the new rows
-- Throws    nothing
CREATE OR ALTER PROCEDURE [$(schema)]._add_work_items
    @worker_items NVARCHAR(MAX),
    @now_ms       BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    INSERT INTO [$(schema)].worker_queue WITH (ROWLOCK)
        (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms, enqueued_at_ms,
         attempt_count, payload)
    SELECT j.instance_id, j.execution_id, j.activity_id,
           COALESCE(N'[' + j.session_id + N']', N''), COALESCE(N'[' + j.tag + N']', N''),
           @now_ms, @now_ms, 0, j.payload
    FROM   OPENJSON(@worker_items)
           WITH (ord BIGINT '$.ord', instance_id NVARCHAR(400) '$.instance_id', execution_id BIGINT '$.execution_id',
                 activity_id BIGINT '$.activity_id', session_id NVARCHAR(398) '$.session_id',
                 tag NVARCHAR(256) '$.tag', payload NVARCHAR(MAX) '$.payload') AS j
    ORDER BY j.ord;
END;
