-- Shows a plain CREATE, which cannot run twice.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE PROCEDURE [$(schema)].procedure_file_plain -- wrong: procedure-file: not exactly one CREATE OR ALTER PROCEDURE
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT 1 AS x;
END;
