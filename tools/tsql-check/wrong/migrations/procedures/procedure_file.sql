-- Shows a procedure with another name than its file.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].procedure_with_other_name -- wrong: procedure-file: the procedure is named procedure_with_other_name, its file procedure_file
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT 1 AS x;
END;
