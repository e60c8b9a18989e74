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
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    UPDATE q SET q.lock_token = NULL FROM [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), ROWLOCK); -- wrong: where: UPDATE without WHERE
    DELETE l FROM [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), ROWLOCK); -- wrong: where: DELETE without WHERE
END;
