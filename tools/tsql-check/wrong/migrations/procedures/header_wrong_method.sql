-- Shows a header whose trait method has another name.
--
-- Callers   Provider::some_other_method -- wrong: header: Callers names trait methods, but not the one called header_wrong_method
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].header_wrong_method
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT 1 AS x;
END;
