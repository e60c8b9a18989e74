-- Shows a dirty read outside the metrics procedures.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].nolock_hint
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT payload
    FROM   [$(schema)].worker_queue WITH (NOLOCK) -- wrong: nolock: NOLOCK reads uncommitted rows
    WHERE  id = @id;
END;
