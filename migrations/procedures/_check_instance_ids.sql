-- Refuses a list that holds an id which the tables could not tell from another one.
--
-- Callers   ack_orchestration_item, _check_work_items, delete_instances_atomic, delete_instance_bulk,
--           prune_executions_bulk
-- Locks     none
-- Throws    51001 longer than 400 characters
--           51002 empty, or ends in a space
--
-- @path_is_member = 1: the list holds objects with a member "instance_id"; 0: it holds the ids
-- themselves. _check_instance_id says why ids are checked.
CREATE OR ALTER PROCEDURE [$(schema)]._check_instance_ids
    @list           NVARCHAR(MAX),
    @path_is_member BIT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @longest BIGINT, @unusable BIGINT;

    IF @path_is_member = 1
    BEGIN
        SELECT @longest = MAX(DATALENGTH(j.instance_id)),
               @unusable = SUM(CASE WHEN j.instance_id IS NULL OR DATALENGTH(j.instance_id) = 0
                                         OR UNICODE(RIGHT(j.instance_id, 1)) = 32 THEN 1 ELSE 0 END)
        FROM   OPENJSON(@list) WITH (instance_id NVARCHAR(MAX) '$.instance_id') AS j;
    END
    ELSE
    BEGIN
        SELECT @longest = MAX(DATALENGTH(j.instance_id)),
               @unusable = SUM(CASE WHEN j.instance_id IS NULL OR DATALENGTH(j.instance_id) = 0
                                         OR UNICODE(RIGHT(j.instance_id, 1)) = 32 THEN 1 ELSE 0 END)
        FROM   OPENJSON(@list) WITH (instance_id NVARCHAR(MAX) '$') AS j;
    END;

    IF @longest > 800
    BEGIN
        THROW 51001, N'instance id is longer than 400 characters; choose a shorter one', 1;
    END;

    IF @unusable > 0
    BEGIN
        THROW 51002, N'instance id is empty or ends in a space; SQL Server cannot tell such ids apart', 1;
    END;
END;
