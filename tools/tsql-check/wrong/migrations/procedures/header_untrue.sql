-- Shows a header that says less, and more, than the procedure does.
--
-- Callers   self-test
-- Locks     worker_queue: one row -- wrong: header: Locks does not name instances -- wrong: header: Locks names worker_queue
-- Throws    51003 something else -- wrong: header: Throws does not list 51002 -- wrong: header: Throws lists 51003
CREATE OR ALTER PROCEDURE [$(schema)].header_untrue
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    UPDATE i SET i.status = N'x' FROM [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK) WHERE i.instance_id = N'y';
    IF @@ROWCOUNT = 0
    BEGIN
        THROW 51002, N'instance is gone', 1;
    END;
END;
