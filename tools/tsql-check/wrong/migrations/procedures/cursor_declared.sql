-- Shows a cursor.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].cursor_declared
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE walk CURSOR LOCAL FOR -- wrong: cursor: a cursor is declared
        SELECT id FROM [$(schema)].worker_queue WITH (INDEX(pk_worker_queue), ROWLOCK);
END;
