-- sp_getapplock returns 0 when the lock is granted at once, 1 after a wait, -1 on timeout; the lock belongs to
-- the transaction by default and ends with it.

-- case: granted_and_released
DECLARE @r INT;
BEGIN TRAN;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive', @LockTimeout = 0;
SELECT @r AS r;
EXEC @r = sp_releaseapplock @Resource = N'$(s)';
SELECT @r AS r;
COMMIT;
-- expect row: 0
-- expect set
-- expect row: 0

-- case: exclusive_excludes
BEGIN TRAN;
EXEC sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive';
GO
-- on other
DECLARE @r INT;
BEGIN TRAN;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive', @LockTimeout = 0;
SELECT @r AS r;
ROLLBACK;
-- expect row: -1
GO
COMMIT;
GO
-- on other
DECLARE @r INT;
BEGIN TRAN;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive', @LockTimeout = 0;
SELECT @r AS r;
ROLLBACK;
-- expect row: 0

-- case: shared_is_shared
BEGIN TRAN;
EXEC sp_getapplock @Resource = N'$(s)', @LockMode = 'Shared';
GO
-- on other
DECLARE @r INT;
BEGIN TRAN;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Shared', @LockTimeout = 0;
SELECT @r AS r;
ROLLBACK;
-- expect row: 0

-- case: session_owner_outlives_the_transaction
DECLARE @r INT;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive', @LockOwner = 'Session', @LockTimeout = 0;
SELECT @r AS r;
-- expect row: 0
GO
-- on other
DECLARE @r INT;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive', @LockOwner = 'Session', @LockTimeout = 0;
SELECT @r AS r;
-- expect row: -1
GO
DECLARE @r INT;
EXEC @r = sp_releaseapplock @Resource = N'$(s)', @LockOwner = 'Session';
SELECT @r AS r;
-- expect row: 0

-- case: releasing_what_is_not_held
DECLARE @r INT;
EXEC @r = sp_releaseapplock @Resource = N'$(s)', @LockOwner = 'Session';
-- expect error 1223 16 1 Cannot release the application lock (Database Principal: 'public', Resource: '$(s)') because it is not currently held.

-- "-999: parameter validation or other call error". What the procedure itself finds wrong it says in messages (15625 and 15626
-- have severity 10, "Database Engine events and errors"); what `xp_userlock` finds wrong is an error: github.com/RyanLamansky/sql-server-simulator,
-- SystemProcedureDiagnosticsTests, and github.com/mirek/msduck, seen on SQL Server 2025.
-- case: arguments_that_are_wrong
DECLARE @r INT;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive';
SELECT @r AS r;
-- expect info You attempted to acquire a transactional application lock without an active transaction.
-- expect row: -999
GO
DECLARE @r INT;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Much', @LockOwner = 'Session';
SELECT @r AS r;
-- expect info Option 'Much' not recognized for '@LockMode' parameter.
-- expect row: -999
GO
DECLARE @r INT;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive', @LockOwner = 'Me';
SELECT @r AS r;
-- expect info Option 'Me' not recognized for '@LockOwner' parameter.
-- expect row: -999
GO
DECLARE @r INT;
EXEC @r = sp_releaseapplock @Resource = N'$(s)', @LockOwner = 'Me';
SELECT @r AS r;
-- expect info Option 'Me' not recognized for '@LockOwner' parameter.
-- expect row: -999
GO
DECLARE @r INT;
EXEC @r = sp_getapplock @Resource = NULL, @LockMode = 'Exclusive', @LockOwner = 'Session';
SELECT @r AS r;
-- expect error 1224 16 5 An invalid application lock resource was passed to xp_userlock.
-- expect at line 1 in sys.xp_userlock
-- expect row: -999
GO
DECLARE @r INT;
EXEC @r = sp_getapplock @Resource = N'$(s)', @LockMode = 'Exclusive', @LockOwner = 'Session', @LockTimeout = -2;
SELECT @r AS r;
-- expect error 1227 16 2 An invalid application lock time-out was passed to xp_userlock.
-- expect row: -999
GO
DECLARE @r INT;
EXEC @r = sp_releaseapplock @Resource = N'$(s)';
SELECT @r AS r;
-- expect error 3918 16 1 The statement or function must be executed in the context of a user transaction.
-- expect row: -999
GO
DECLARE @r INT;
EXEC @r = sp_releaseapplock @Resource = N'$(s)', @LockOwner = 'Session';
SELECT @r AS r;
-- expect error 1223 16 1 because it is not currently held.
-- expect row: -999
GO
EXEC sp_getapplock @Resource = N'$(s)';
-- expect error 201 16 4 Procedure or function 'sp_getapplock' expects parameter '@LockMode', which was not supplied.
