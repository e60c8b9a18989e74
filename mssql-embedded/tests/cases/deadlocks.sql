-- Sessions that wait for each other's locks. The detector ends one of them with 1205: the one of lower
-- DEADLOCK_PRIORITY, or else the cheaper one to roll back. Its whole transaction is undone and the other
-- one goes on. Writers take the same locks with READ_COMMITTED_SNAPSHOT off and on; only plain readers differ.

-- case: a_lock_order_inversion_has_one_victim
-- read_committed_snapshot off, on
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0), (2, 0);
GO
-- on a
SET DEADLOCK_PRIORITY LOW;
BEGIN TRAN;
UPDATE [$(s)].t SET v = v + 1 WHERE id = 1;
GO
-- on b
BEGIN TRAN;
UPDATE [$(s)].t SET v = v + 10 WHERE id = 2;
GO
-- on a
-- blocks
UPDATE [$(s)].t SET v = v + 1 WHERE id = 2;
-- expect error 1205 13 * deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.
GO
-- on b
UPDATE [$(s)].t SET v = v + 10 WHERE id = 1;
COMMIT;
GO
-- on a
SELECT @@TRANCOUNT;
SELECT id, v FROM [$(s)].t ORDER BY id;
-- expect row: 0
-- expect set
-- expect row: 1 | 10
-- expect row: 2 | 10

-- case: the_victim_can_catch_its_doomed_transaction
-- read_committed_snapshot off, on
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0), (2, 0);
GO
-- on a
SET DEADLOCK_PRIORITY -5;
BEGIN TRAN;
UPDATE [$(s)].t SET v = 1 WHERE id = 1;
GO
-- on b
BEGIN TRAN;
UPDATE [$(s)].t SET v = 2 WHERE id = 2;
GO
-- on a
-- blocks
BEGIN TRY
    UPDATE [$(s)].t SET v = 1 WHERE id = 2;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER(), ERROR_SEVERITY(), XACT_STATE(), @@TRANCOUNT;
    ROLLBACK;
END CATCH;
-- expect row: 1205 | 13 | -1 | 1
GO
-- on b
UPDATE [$(s)].t SET v = 2 WHERE id = 1;
COMMIT;
GO
SELECT id, v FROM [$(s)].t ORDER BY id;
-- expect row: 1 | 2
-- expect row: 2 | 2

-- case: shared_locks_held_by_both_cannot_both_become_exclusive
-- read_committed_snapshot off, on
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0);
GO
-- on a
SET DEADLOCK_PRIORITY LOW;
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
BEGIN TRAN;
SELECT v FROM [$(s)].t WHERE id = 1;
-- expect row: 0
GO
-- on b
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
BEGIN TRAN;
SELECT v FROM [$(s)].t WHERE id = 1;
-- expect row: 0
GO
-- on a
-- blocks
UPDATE [$(s)].t SET v = v + 1 WHERE id = 1;
-- expect error 1205 13 *
GO
-- on b
UPDATE [$(s)].t SET v = v + 10 WHERE id = 1;
COMMIT;
GO
SELECT v FROM [$(s)].t;
-- expect row: 10

-- case: updlock_taken_first_serialises_instead
-- read_committed_snapshot off, on
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0);
GO
-- on a
BEGIN TRAN;
SELECT v FROM [$(s)].t WITH (UPDLOCK) WHERE id = 1;
-- expect row: 0
GO
-- on b
-- blocks
BEGIN TRAN;
SELECT v FROM [$(s)].t WITH (UPDLOCK) WHERE id = 1;
-- expect row: 1
GO
-- on a
UPDATE [$(s)].t SET v = v + 1 WHERE id = 1;
COMMIT;
GO
-- on b
UPDATE [$(s)].t SET v = v + 10 WHERE id = 1;
COMMIT;
SELECT v FROM [$(s)].t;
-- expect row: 11

-- case: a_lock_timeout_ends_the_wait_with_1222
-- read_committed_snapshot off, on
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0);
GO
-- on a
BEGIN TRAN;
UPDATE [$(s)].t SET v = 1 WHERE id = 1;
GO
-- on b
SET LOCK_TIMEOUT 50;
BEGIN TRAN;
GO
-- on b
UPDATE [$(s)].t SET v = 2 WHERE id = 1;
-- expect error 1222 16 * Lock request time out period exceeded.
GO
-- on b
SELECT @@TRANCOUNT, @@LOCK_TIMEOUT;
ROLLBACK;
-- expect row: 1 | 50
GO
-- on a
COMMIT;

-- case: a_lock_timeout_can_be_caught
-- read_committed_snapshot off, on
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0);
BEGIN TRAN;
UPDATE [$(s)].t SET v = 1 WHERE id = 1;
GO
-- on b
SET LOCK_TIMEOUT 0;
BEGIN TRAN;
BEGIN TRY
    UPDATE [$(s)].t SET v = 2 WHERE id = 1;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER(), XACT_STATE();
END CATCH;
COMMIT;
-- expect row: 1222 | 1
GO
ROLLBACK;

-- case: a_reader_waits_for_a_writer_without_row_versions
-- read_committed_snapshot off
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0);
BEGIN TRAN;
UPDATE [$(s)].t SET v = 1 WHERE id = 1;
GO
-- on b
-- blocks
SELECT v FROM [$(s)].t;
-- expect row: 1
GO
COMMIT;

-- case: a_reader_sees_the_committed_row_with_row_versions
-- read_committed_snapshot on
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0);
BEGIN TRAN;
UPDATE [$(s)].t SET v = 1 WHERE id = 1;
GO
-- on b
SELECT v FROM [$(s)].t;
-- expect row: 0
GO
COMMIT;
GO
-- on b
SELECT v FROM [$(s)].t;
-- expect row: 1

-- case: serializable_keeps_a_phantom_out
-- read_committed_snapshot off, on
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0), (10, 0);
BEGIN TRAN;
SELECT COUNT(*) FROM [$(s)].t WITH (HOLDLOCK) WHERE id BETWEEN 2 AND 9;
-- expect row: 0
GO
-- on b
-- blocks
INSERT [$(s)].t VALUES (5, 0);
GO
SELECT COUNT(*) FROM [$(s)].t WITH (HOLDLOCK) WHERE id BETWEEN 2 AND 9;
COMMIT;
-- expect row: 0
GO
-- on b
SELECT COUNT(*) FROM [$(s)].t WHERE id BETWEEN 2 AND 9;
-- expect row: 1

-- case: an_application_lock_waits_and_returns_1
-- read_committed_snapshot off, on
EXEC sp_getapplock @Resource = N'$(s)', @LockMode = N'Exclusive', @LockOwner = N'Session';
GO
-- on b
-- blocks
DECLARE @rc INT;
EXEC @rc = sp_getapplock @Resource = N'$(s)', @LockMode = N'Exclusive', @LockOwner = N'Session';
SELECT @rc;
-- expect row: 1
GO
EXEC sp_releaseapplock @Resource = N'$(s)', @LockOwner = N'Session';
