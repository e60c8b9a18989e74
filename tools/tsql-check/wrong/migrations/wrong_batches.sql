-- Shows what no migration may contain.
CREATE TRIGGER [$(schema)].fire ON [$(schema)].worker_queue AFTER INSERT AS SELECT 1 AS x; -- wrong: dialect: a trigger
GO
CREATE FUNCTION [$(schema)].f() RETURNS INT AS BEGIN RETURN 1; END; -- wrong: dialect: a user-defined function
GO
USE master; -- wrong: dialect: USE changes the database
GO
ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON; -- wrong: dialect: ALTER DATABASE
GO
