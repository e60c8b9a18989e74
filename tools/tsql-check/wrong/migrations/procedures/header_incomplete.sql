-- Shows a header without its fields.
--
-- Callers   self-test
CREATE OR ALTER PROCEDURE [$(schema)].header_incomplete -- wrong: header: the header has no line Locks -- wrong: header: the header has no line Throws
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT 1 AS x;
END;
