-- Lists the tags of the activities without a session, as a JSON array of keys.
--
-- Callers   fetch_work_item, wait_for_work, outside any transaction
-- Locks     none kept
-- Throws    nothing
--
-- Found by stepping from one to the next through the index; see _list_lanes.
CREATE OR ALTER PROCEDURE [$(schema)]._list_tags
    @tag_keys NVARCHAR(MAX) OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @tag_key NVARCHAR(260) = N'', @previous NVARCHAR(260);

    SET @tag_keys = N'[""';
    WHILE @tag_key IS NOT NULL
    BEGIN
        SET @previous = @tag_key;
        SET @tag_key = NULL;
        SELECT TOP (1) @tag_key = q.tag_key
        FROM   [$(schema)].worker_queue AS q
               WITH (INDEX(ix_worker_queue_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE  q.session_key = N''
          AND  q.tag_key > @previous
        ORDER BY q.tag_key;
        IF @tag_key IS NOT NULL
        BEGIN
            SET @tag_keys = @tag_keys + N',"' + STRING_ESCAPE(@tag_key, N'json') + N'"';
        END;
    END;
    SET @tag_keys = @tag_keys + N']';
END;
