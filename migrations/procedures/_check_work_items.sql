-- Refuses work items whose ids, session or tag do not fit the columns.
--
-- Callers   ack_orchestration_item, enqueue_for_worker
-- Locks     none
-- Throws    51001 instance id, session id or tag too long
--           51002 instance id empty, or ends in a space
--
-- Session ids and tags may end in a space: their keys are stored in brackets. @has_sessions says whether
-- _lock_session_lanes has anything to do. No aggregate meets a NULL, here or elsewhere: the server would send a
-- warning (8153) with every call.
--
-- The list is parsed here and by _add_work_items: it is refused before anything is locked and stored after everything
-- is, and a table variable cannot be handed from one procedure to another.
CREATE OR ALTER PROCEDURE [$(schema)]._check_work_items
    @worker_items NVARCHAR(MAX),
    @has_sessions BIT OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @longest BIGINT, @unusable BIGINT, @longest_session BIGINT, @longest_tag BIGINT;

    SELECT @longest = MAX(COALESCE(DATALENGTH(j.instance_id), 0)),
           @unusable = SUM(CASE WHEN j.instance_id IS NULL OR DATALENGTH(j.instance_id) = 0
                                     OR UNICODE(RIGHT(j.instance_id, 1)) = 32 THEN 1 ELSE 0 END),
           @longest_session = MAX(COALESCE(DATALENGTH(j.session_id), -1)),
           @longest_tag = MAX(COALESCE(DATALENGTH(j.tag), -1))
    FROM   OPENJSON(@worker_items)
           WITH (instance_id NVARCHAR(MAX) '$.instance_id', session_id NVARCHAR(MAX) '$.session_id',
                 tag NVARCHAR(MAX) '$.tag') AS j;

    EXEC [$(schema)]._refuse_instance_ids @longest = @longest, @unusable = @unusable;

    IF @longest_session > 796
    BEGIN
        THROW 51001, N'session id is longer than 398 characters; choose a shorter one', 1;
    END;

    IF @longest_tag > 512
    BEGIN
        THROW 51001, N'activity tag is longer than 256 characters; choose a shorter one', 1;
    END;

    SET @has_sessions = CASE WHEN @longest_session >= 0 THEN 1 ELSE 0 END;
END;
