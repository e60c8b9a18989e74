-- Appends the events of a turn to its execution's history.
--
-- Callers   ack_orchestration_item, append_with_execution, both inside their transaction
-- Locks     history: the new rows, and the first one if it gets a new value
-- Throws    2627 an event with this id is already stored; the caller gives it our number
--
-- Events are inserted in the order of their ids: see _read_history. An event that does not come after
-- all others gives the first event a new appended_by, so that nobody takes an older memory for this
-- history. @is_turn = 0 always does: events that arrive outside a turn come between what a turn has
-- read and what it will append.
--
-- Returns how far the history went before: the caller that remembered exactly this can append the
-- same events to its memory.
CREATE OR ALTER PROCEDURE [$(schema)]._append_history
    @instance_id    NVARCHAR(4000),
    @execution_id   BIGINT,
    @history        NVARCHAR(MAX),
    @appended_by    UNIQUEIDENTIFIER,
    @is_turn        BIT,
    @first_event_id BIGINT,
    @first_turn     UNIQUEIDENTIFIER = NULL OUTPUT,
    @after_event_id BIGINT = NULL OUTPUT,
    @after_turn     UNIQUEIDENTIFIER = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @oldest_event_id BIGINT;

    SET @first_turn = NULL;
    SET @after_event_id = NULL;
    SET @after_turn = NULL;

    SELECT TOP (1) @after_event_id = h.event_id, @after_turn = h.appended_by
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
    ORDER BY h.event_id DESC
    OPTION (KEEPFIXED PLAN);

    INSERT INTO [$(schema)].history WITH (ROWLOCK)
        (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)
    SELECT @instance_id, @execution_id, j.event_id, @appended_by, j.payload_bytes, j.payload
    FROM   OPENJSON(@history)
           WITH (event_id BIGINT '$.event_id', payload_bytes BIGINT '$.payload_bytes',
                 payload NVARCHAR(MAX) '$.payload') AS j
    ORDER BY j.event_id;

    SELECT TOP (1) @oldest_event_id = h.event_id, @first_turn = h.appended_by
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
    ORDER BY h.event_id
    OPTION (KEEPFIXED PLAN);

    IF @is_turn = 0 OR @first_event_id < @after_event_id
    BEGIN
        SET @first_turn = NEWID();
        UPDATE h
        SET    h.appended_by = @first_turn
        FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  h.instance_id = @instance_id
          AND  h.execution_id = @execution_id
          AND  h.event_id = @oldest_event_id;
    END;
END;
