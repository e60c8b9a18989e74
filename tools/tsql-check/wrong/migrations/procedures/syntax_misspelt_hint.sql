-- Shows a table hint that does not exist.
CREATE OR ALTER PROCEDURE [$(schema)].syntax_misspelt_hint
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SELECT id
    FROM   [$(schema)].worker_queue WITH (UPDLOCK, REDPAST); -- wrong: syntax: SQL Server 2017 and SQL Server 2019
END;
