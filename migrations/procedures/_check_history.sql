-- Refuses events that cannot be stored, and counts the others.
--
-- Callers   ack_orchestration_item, append_with_execution
-- Locks     none
-- Throws    51005 an event has no id or an id below 1
--
-- The list is parsed here and by _append_history: how many events there are is written to executions, which comes before
-- history in the order of locks.
CREATE OR ALTER PROCEDURE [$(schema)]._check_history
    @history        NVARCHAR(MAX),
    @event_count    BIGINT OUTPUT,
    @first_event_id BIGINT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @bad_events BIGINT;

    SELECT @event_count = COUNT_BIG(*), @first_event_id = MIN(COALESCE(j.event_id, 0)),
           @bad_events = SUM(CASE WHEN j.event_id >= 1 THEN 0 ELSE 1 END)
    FROM   OPENJSON(@history) WITH (event_id BIGINT '$.event_id') AS j;

    IF @bad_events > 0
    BEGIN
        THROW 51005, N'an event has no event_id or one below 1; the runtime must number events from 1', 1;
    END;
END;
