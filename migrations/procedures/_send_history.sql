-- Sends of a history what the caller does not remember, as far as that is known.
--
-- Callers   fetch_orchestration_item, _send_work_history, both after the commit of a fetch
-- Locks     none kept: executions and history are only read
-- Throws    nothing
--
-- The caller is @process_id. If it wrote the last turn it remembers the history, and no event is sent.
-- Otherwise it gets the latest events: all of a short history, and of a long one enough to catch up
-- if the caller has seen it before, unless they exceed @bytes_max. What is missing then is asked for
-- with read_with_execution. One that remembers looks among the rows for the turn that it knows. NULL for
-- @process_id means a caller that remembers nothing: it gets the events alone. NULL for @execution_id means the latest.
--
-- Of an execution that is being deleted nothing is sent. Result sets as in _read_history. Order matters here as there: the end of the history is read before
-- its beginning. If the instance is deleted and made again in between, end and beginning belong to
-- different histories, and no memory fits both.
CREATE OR ALTER PROCEDURE [$(schema)]._send_history
    @instance_id  NVARCHAR(4000),
    @execution_id BIGINT,
    @process_id   UNIQUEIDENTIFIER,
    @bytes_max    BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @status NVARCHAR(50) = N'', @acked_by UNIQUEIDENTIFIER, @first_turn UNIQUEIDENTIFIER, @last_event_id BIGINT,
            @last_turn UNIQUEIDENTIFIER, @after_event_id BIGINT = 0, @events_max INT = 64,
            @events BIGINT, @bytes BIGINT, @first_sent BIGINT;

    IF @execution_id IS NULL
    BEGIN
        SELECT TOP (1) @execution_id = e.execution_id, @acked_by = e.acked_by, @status = e.status
        FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
        WHERE  e.instance_id = @instance_id
        ORDER BY e.execution_id DESC;
    END
    ELSE
    BEGIN
        SELECT @acked_by = e.acked_by, @status = e.status
        FROM   [$(schema)].executions AS e WITH (INDEX(pk_executions), FORCESEEK, ROWLOCK)
        WHERE  e.instance_id = @instance_id
          AND  e.execution_id = @execution_id;
    END;

    IF @process_id IS NULL
    BEGIN
        SELECT h.event_id, h.payload
        FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  h.instance_id = @instance_id
          AND  h.execution_id = @execution_id
          AND  @status <> N'Deleting'
        ORDER BY h.event_id;
        RETURN;
    END;

    SELECT TOP (1) @last_event_id = h.event_id, @last_turn = h.appended_by
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
      AND  @status <> N'Deleting'
    ORDER BY h.event_id DESC
    OPTION (KEEPFIXED PLAN);

    SELECT TOP (1) @first_turn = h.appended_by
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
      AND  @status <> N'Deleting'
    ORDER BY h.event_id
    OPTION (KEEPFIXED PLAN);

    IF @acked_by = @process_id
    BEGIN
        SET @after_event_id = @last_event_id;
    END
    ELSE
    BEGIN
        SELECT @events = COUNT_BIG(*), @bytes = SUM(t.payload_bytes), @first_sent = MIN(t.event_id)
        FROM   (SELECT TOP (@events_max) h.event_id, h.payload_bytes
                FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
                WHERE  h.instance_id = @instance_id
                  AND  h.execution_id = @execution_id
                  AND  h.event_id <= @last_event_id
                ORDER BY h.event_id DESC) AS t;
        IF @bytes > @bytes_max
        BEGIN
            SET @after_event_id = @last_event_id;
        END
        ELSE IF @events = @events_max
        BEGIN
            SET @after_event_id = @first_sent - 1;
        END;
    END;

    SELECT @execution_id AS execution_id, @first_turn AS first_turn, @last_event_id AS last_event_id,
           @last_turn AS last_turn, @after_event_id AS after_event_id;

    SELECT h.event_id, h.appended_by, h.payload
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
      AND  h.event_id > @after_event_id
      AND  h.event_id <= @last_event_id
    ORDER BY h.event_id;
END;
