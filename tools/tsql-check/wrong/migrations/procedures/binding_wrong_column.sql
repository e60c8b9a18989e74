-- Shows a column that its table does not have.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].binding_wrong_column
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT q.misspelt -- wrong: binding: [dx].[worker_queue].[misspelt] -- wrong: local-binding: q.misspelt
    FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
    WHERE  q.id = @id;
END;
