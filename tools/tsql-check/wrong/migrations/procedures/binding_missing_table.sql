-- Shows a table that no migration creates.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].binding_missing_table
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT m.number
    FROM   [$(schema)].missing_table AS m; -- wrong: binding: [dx].[missing_table]
END;
