-- Returns the history of one execution, or what of it the caller does not have yet.
--
-- Callers   read, read_with_execution
-- Locks     none kept: history is only read
-- Throws    nothing
--
-- A caller that remembers nothing says nothing, @known_event_id is NULL, and gets the events alone.
--
-- One that remembers says what it has: all events up to @known_event_id (0: none), whose turn is @known_last_turn, of
-- the history whose first event is of @known_first_turn. If that is still true only newer events
-- follow; otherwise all of them. A header says how far the history goes and after which event the
-- rows begin (0: they are everything). Only the last row names its turn: nobody asks the others.
--
-- The end is read first, then what the caller claims is compared, then the rows follow up to that end.
-- If the instance is deleted and made again meanwhile, the last row is not the one of the header, and
-- the caller sees that it must not remember the answer. Whoever reads the end waits for the turn that is writing it, and
-- sees none of its later events: so a reader without a snapshot never gets an event without those before it.
--
-- @is_hidden = 1: the execution is being deleted, and there is nothing to be seen.
CREATE OR ALTER PROCEDURE [$(schema)]._read_history
    @instance_id      NVARCHAR(4000),
    @execution_id     BIGINT,
    @known_first_turn UNIQUEIDENTIFIER,
    @known_event_id   BIGINT,
    @known_last_turn  UNIQUEIDENTIFIER,
    @is_hidden        BIT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @first_turn UNIQUEIDENTIFIER, @last_event_id BIGINT, @last_turn UNIQUEIDENTIFIER,
            @known_turn UNIQUEIDENTIFIER, @after_event_id BIGINT = 0;

    SELECT TOP (1) @last_event_id = h.event_id, @last_turn = h.appended_by
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
      AND  @is_hidden = 0
    ORDER BY h.event_id DESC
    OPTION (KEEPFIXED PLAN);

    IF @known_event_id IS NULL
    BEGIN
        SELECT h.event_id, h.payload
        FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  h.instance_id = @instance_id
          AND  h.execution_id = @execution_id
          AND  h.event_id <= @last_event_id
        ORDER BY h.event_id;
        RETURN;
    END;

    SELECT TOP (1) @first_turn = h.appended_by
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
      AND  @is_hidden = 0
    ORDER BY h.event_id
    OPTION (KEEPFIXED PLAN);

    IF @known_event_id > 0
    BEGIN
        SELECT @known_turn = h.appended_by
        FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
        WHERE  h.instance_id = @instance_id
          AND  h.execution_id = @execution_id
          AND  h.event_id = @known_event_id;
        IF @first_turn = @known_first_turn AND @known_turn = @known_last_turn
        BEGIN
            SET @after_event_id = @known_event_id;
        END;
    END;

    SELECT @execution_id AS execution_id, @first_turn AS first_turn, @last_event_id AS last_event_id,
           @last_turn AS last_turn, @after_event_id AS after_event_id;

    SELECT h.event_id, CASE WHEN h.event_id = @last_event_id THEN h.appended_by END AS appended_by, h.payload
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
      AND  h.event_id > @after_event_id
      AND  h.event_id <= @last_event_id
    ORDER BY h.event_id;
END;
