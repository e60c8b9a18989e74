-- Begins the transaction of the printed scripts, alone with the schema.
--
-- SET and not a client's options, because the script may run through any client. A client that has
-- begun a transaction of its own would make the script's COMMIT a mere decrement, and the work
-- would vanish when the client leaves; so would one without autocommit, for which BEGIN TRANSACTION begins two. The application lock is the library's: a script and an
-- application never install one schema at the same time. It ends with the transaction.
SET NOCOUNT, XACT_ABORT, QUOTED_IDENTIFIER, ANSI_NULLS ON;
SET IMPLICIT_TRANSACTIONS OFF;
IF @@TRANCOUNT > 0
BEGIN
    THROW 51000, N'called inside a transaction; commit or roll back first', 1;
END;
BEGIN TRANSACTION;
DECLARE @lock_result INT, @resource NVARCHAR(255) = N'duroxide-sql install ' + N'$(schema)';
EXEC @lock_result = sys.sp_getapplock
    @Resource = @resource, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 60000;
IF @lock_result < 0
BEGIN
    THROW 51090, N'nothing was changed: another process is installing this schema and did not finish within 60 seconds; run the script again', 1;
END;
