-- Shows parameters and variables that cut values short.
--
-- Callers   self-test
-- Locks     instances: the rows it marks
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].parameter_width
    @lock_token  NVARCHAR(64),
    @id          INT,
    @ascii       VARCHAR(400),
    @pattern     NVARCHAR(100)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @found NVARCHAR(20);

    SELECT payload
    FROM   [$(schema)].worker_queue WITH (INDEX(pk_worker_queue), ROWLOCK)
    WHERE  lock_token = @lock_token -- wrong: parameter-width: the parameter @lock_token NVARCHAR(64) is not wider than the column worker_queue.lock_token NVARCHAR(64)
      AND  id = @id -- wrong: parameter-width: the parameter @id INT is narrower than the column worker_queue.id BIGINT
      AND  instance_id IN (@ascii); -- wrong: parameter-width: cannot hold every character of the column worker_queue.instance_id

    UPDATE i
    SET    status = @found -- wrong: parameter-width: the variable @found NVARCHAR(20) is narrower than the column instances.status
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), ROWLOCK)
    WHERE  i.instance_id LIKE @pattern; -- wrong: parameter-width: the parameter @pattern NVARCHAR(100) is narrower

    INSERT INTO [$(schema)].instances WITH (ROWLOCK) (instance_id, status)
    SELECT @pattern, N'x'; -- wrong: parameter-width: the parameter @pattern NVARCHAR(100) is narrower
END;
