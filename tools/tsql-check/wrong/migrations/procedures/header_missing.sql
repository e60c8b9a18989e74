CREATE OR ALTER PROCEDURE [$(schema)].header_missing -- wrong: header: the procedure has no header comment
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT 1 AS x;
END;
