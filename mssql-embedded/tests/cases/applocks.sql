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
