-- Shows writes to every row.
--
-- Callers   self-test
-- Locks     worker_queue and instance_locks: all rows
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].where_missing
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    UPDATE [$(schema)].worker_queue SET lock_token = NULL; -- wrong: where: UPDATE without WHERE
    DELETE FROM [$(schema)].instance_locks; -- wrong: where: DELETE without WHERE
END;
