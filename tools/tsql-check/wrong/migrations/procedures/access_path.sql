-- Shows the ways in which a statement leaves path and grain of its locks to the plan.
--
-- Callers   self-test
-- Locks     worker_queue: one row, and new ones
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].access_path
    @id     BIGINT,
    @token  NVARCHAR(100)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT q.payload
    FROM   [$(schema)].worker_queue AS q WITH (ROWLOCK) -- wrong: access-path: worker_queue is reached without INDEX(…)
    WHERE  q.id = @id;

    SELECT q.payload
    FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK) -- wrong: access-path: worker_queue is reached without ROWLOCK
    WHERE  q.id = @id;

    UPDATE q
    SET    q.lock_token = NULL
    FROM   [$(schema)].worker_queue AS q WITH (INDEX(ix_worker_queue_lock_token), FORCESEEK, ROWLOCK) -- wrong: access-path: worker_queue is written through ix_worker_queue_lock_token; all its writers come through pk_worker_queue
    WHERE  q.lock_token = @token;

    DELETE FROM [$(schema)].worker_queue -- wrong: access-path: worker_queue is reached without INDEX(…)
    WHERE  id = @id;

    INSERT INTO [$(schema)].worker_queue (instance_id, payload) -- wrong: access-path: rows go into worker_queue without ROWLOCK
    SELECT i.instance_id, N'x'
    FROM   [$(schema)].instances AS i; -- wrong: access-path: instances is reached without INDEX(…)
END;
