-- Refuses work items whose ids, session or tag do not fit the columns.
--
-- Callers   ack_orchestration_item, enqueue_for_worker
-- Locks     none
-- Throws    51001 instance id, session id or tag too long
--           51002 instance id empty, or ends in a space
--
-- Session ids and tags may end in a space: their keys are stored in brackets.
CREATE OR ALTER PROCEDURE [$(schema)]._check_work_items
    @worker_items NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    EXEC [$(schema)]._check_instance_ids @list = @worker_items, @path_is_member = 1;

    DECLARE @longest_session BIGINT, @longest_tag BIGINT;

    SELECT @longest_session = MAX(DATALENGTH(j.session_id)),
           @longest_tag = MAX(DATALENGTH(j.tag))
    FROM   OPENJSON(@worker_items)
           WITH (session_id NVARCHAR(MAX) '$.session_id', tag NVARCHAR(MAX) '$.tag') AS j;

    IF @longest_session > 796
    BEGIN
        THROW 51001, N'session id is longer than 398 characters; choose a shorter one', 1;
    END;

    IF @longest_tag > 512
    BEGIN
        THROW 51001, N'activity tag is longer than 256 characters; choose a shorter one', 1;
    END;
END;
