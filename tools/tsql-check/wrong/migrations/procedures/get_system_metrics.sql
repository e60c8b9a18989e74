-- Right: figures may read uncommitted rows.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].get_system_metrics
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT COUNT_BIG(*) AS items FROM [$(schema)].worker_queue WITH (NOLOCK);
END;
