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

    SELECT * -- wrong: select-star: SELECT * is used
    FROM   [$(schema)].worker_queue
    WHERE  id = @id;
END;
