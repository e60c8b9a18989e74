-- Shows the constructs that the small dialect leaves out.
--
-- Callers   self-test
-- Locks     worker_queue: one row
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].dialect
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    WAITFOR DELAY '00:00:01'; -- wrong: dialect: WAITFOR
    PRINT N'x'; -- wrong: dialect: PRINT
    RAISERROR (N'x', 16, 1); -- wrong: dialect: RAISERROR
    SET TRANSACTION ISOLATION LEVEL SNAPSHOT; -- wrong: dialect: the isolation level is READ COMMITTED
    SET LOCK_TIMEOUT 250;
    SET LOCK_TIMEOUT @id; -- wrong: dialect: SET LOCK_TIMEOUT takes a number
    DELETE q
    OUTPUT deleted.id -- wrong: dialect: OUTPUT deleted
    FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
    WHERE  q.id = @id;
    WITH head AS (SELECT TOP (1) id, payload FROM [$(schema)].worker_queue WITH (INDEX(pk_worker_queue), ROWLOCK) ORDER BY id)
    DELETE FROM head -- wrong: dialect: the write goes through the common table expression head
    WHERE  id = @id;
    IF @id = 1
    BEGIN
        GOTO done; -- wrong: dialect: GOTO
    END;
    done:
    SELECT 1 AS x;
END;
