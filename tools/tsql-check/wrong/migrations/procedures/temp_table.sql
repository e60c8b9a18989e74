-- Shows temp tables.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].temp_table
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    CREATE TABLE #work (id BIGINT NOT NULL); -- wrong: temp-table: #work is a temp table
    SELECT id
    INTO   #copy -- wrong: temp-table: SELECT … INTO creates a table
    FROM   [$(schema)].worker_queue WITH (INDEX(pk_worker_queue), ROWLOCK);
END;
