-- Lists the tags of the activities that belong to a session, as a JSON array of keys.
--
-- Callers   _find_session_item, wait_for_work, outside any transaction
-- Locks     none kept
-- Throws    nothing
--
-- Every tag of a session has a lane: found by stepping from one to the next through the index. The empty key, which
-- stands for none, is not in the list.
CREATE OR ALTER PROCEDURE [$(schema)]._list_session_tags
    @tag_keys NVARCHAR(MAX) OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @tag_key NVARCHAR(260) = N'', @previous NVARCHAR(260), @separator NVARCHAR(1) = N'';

    SET @tag_keys = N'[';
    WHILE @tag_key IS NOT NULL
    BEGIN
        SET @previous = @tag_key;
        SET @tag_key = NULL;
        SELECT TOP (1) @tag_key = l.tag_key
        FROM   [$(schema)].session_lanes AS l
               WITH (INDEX(ix_session_lanes_ready), FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE  l.tag_key > @previous
        ORDER BY l.tag_key;
        IF @tag_key IS NOT NULL
        BEGIN
            SET @tag_keys = @tag_keys + @separator + N'"' + STRING_ESCAPE(@tag_key, N'json') + N'"';
            SET @separator = N',';
        END;
    END;
    SET @tag_keys = @tag_keys + N']';
END;
