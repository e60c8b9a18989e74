-- Refuses a list that holds an id which the tables could not tell from another one.
--
-- Callers   delete_instances_atomic, delete_instance_bulk, prune_executions_bulk
-- Locks     none
-- Throws    51001 longer than 400 characters
--           51002 empty, or ends in a space
CREATE OR ALTER PROCEDURE [$(schema)]._check_instance_ids
    @list NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @longest BIGINT, @unusable BIGINT;

    SELECT @longest = MAX(COALESCE(DATALENGTH(j.instance_id), 0)),
           @unusable = SUM(CASE WHEN j.instance_id IS NULL OR DATALENGTH(j.instance_id) = 0
                                     OR UNICODE(RIGHT(j.instance_id, 1)) = 32 THEN 1 ELSE 0 END)
    FROM   OPENJSON(@list) WITH (instance_id NVARCHAR(MAX) '$') AS j;

    EXEC [$(schema)]._refuse_instance_ids @longest = @longest, @unusable = @unusable;
END;
