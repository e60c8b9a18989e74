-- Shows SELECT *.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].select_star
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT * -- wrong: select-star: SELECT * is used
    FROM   [$(schema)].worker_queue WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
    WHERE  id = @id;
END;
