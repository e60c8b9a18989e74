-- Refuses key-value changes whose key the tables could not tell from another one.
--
-- Callers   ack_orchestration_item
-- Locks     none
-- Throws    51001 longer than 400 characters
--           51002 missing, or ends in a space
--
-- The list, which is short, is parsed here and by _apply_kv_changes: it is refused before anything is locked.
-- _check_instance_id says why. The empty key is an ordinary one: what SQL Server would take for equal to
-- it, keys of spaces only, is refused.
CREATE OR ALTER PROCEDURE [$(schema)]._check_kv_keys
    @kv_changes NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @longest BIGINT, @unusable BIGINT;

    SELECT @longest = MAX(COALESCE(DATALENGTH(j.kv_key), 0)),
           @unusable = SUM(CASE WHEN j.kv_key IS NULL OR UNICODE(RIGHT(j.kv_key, 1)) = 32 THEN 1 ELSE 0 END)
    FROM   OPENJSON(@kv_changes) WITH (kv_key NVARCHAR(MAX) '$.key') AS j;

    IF @longest > 800
    BEGIN
        THROW 51001, N'key-value key is longer than 400 characters; choose a shorter one', 1;
    END;

    IF @unusable > 0
    BEGIN
        THROW 51002, N'key-value key is missing or ends in a space; SQL Server cannot tell such keys apart', 1;
    END;
END;
