-- Shows syntax that only SQL Server 2019 has.
CREATE OR ALTER PROCEDURE [$(schema)].syntax_newer_than_2017
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    CREATE INDEX ix_late ON [$(schema)].worker_queue (id) WITH (ONLINE = ON, RESUMABLE = ON); -- wrong: syntax: SQL Server 2017:
END;
