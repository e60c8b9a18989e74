-- With XACT_ABORT on, any error rolls the transaction back, and inside TRY dooms it: XACT_STATE() is -1 and
-- nothing but a ROLLBACK is possible. With XACT_ABORT off only some errors doom, such as a failed conversion.

-- case: xact_state_without_a_transaction
SELECT XACT_STATE() AS a;
BEGIN TRAN;
SELECT XACT_STATE() AS a;
ROLLBACK;
-- expect columns: a smallint
-- expect row: 0
-- expect set
-- expect row: 1

-- case: a_constraint_error_does_not_doom
CREATE TABLE [$(s)].t (a INT PRIMARY KEY);
INSERT [$(s)].t VALUES (1);
SET XACT_ABORT OFF;
BEGIN TRAN;
BEGIN TRY
    INSERT [$(s)].t VALUES (2);
    INSERT [$(s)].t VALUES (1);
END TRY
BEGIN CATCH
    SELECT XACT_STATE() AS x, @@TRANCOUNT AS n;
    COMMIT;
END CATCH;
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 1 | 1
-- expect set
-- expect row: 2

-- case: xact_abort_dooms
CREATE TABLE [$(s)].t (a INT PRIMARY KEY);
INSERT [$(s)].t VALUES (1);
SET XACT_ABORT ON;
BEGIN TRAN;
BEGIN TRY
    INSERT [$(s)].t VALUES (2);
    INSERT [$(s)].t VALUES (1);
END TRY
BEGIN CATCH
    SELECT XACT_STATE() AS x, @@TRANCOUNT AS n;
    ROLLBACK;
END CATCH;
SELECT COUNT(*) AS n, XACT_STATE() AS x FROM [$(s)].t;
-- expect row: -1 | 1
-- expect set
-- expect row: 1 | 0

-- case: a_failed_conversion_dooms_even_with_xact_abort_off
SET XACT_ABORT OFF;
BEGIN TRAN;
BEGIN TRY
    DECLARE @a INT;
    SET @a = CAST('x' AS INT);
END TRY
BEGIN CATCH
    SELECT XACT_STATE() AS x;
    ROLLBACK;
END CATCH;
-- expect row: -1

-- case: a_doomed_transaction_cannot_write
CREATE TABLE [$(s)].t (a INT);
GO
SET XACT_ABORT ON;
BEGIN TRAN;
BEGIN TRY
    THROW 51000, N'x', 1;
END TRY
BEGIN CATCH
    INSERT [$(s)].t VALUES (1);
END CATCH;
-- expect error 3930 16 1 The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.

-- case: a_doomed_transaction_cannot_commit
SET XACT_ABORT ON;
BEGIN TRAN;
BEGIN TRY
    THROW 51000, N'x', 1;
END TRY
BEGIN CATCH
    COMMIT;
END CATCH;
-- expect error 3930 16 1 The current transaction cannot be committed

-- case: a_doomed_transaction_can_read
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (7);
SET XACT_ABORT ON;
BEGIN TRAN;
BEGIN TRY
    THROW 51000, N'x', 1;
END TRY
BEGIN CATCH
    SELECT a FROM [$(s)].t;
    ROLLBACK;
END CATCH;
-- expect row: 7

-- case: a_doomed_transaction_ends_with_the_batch
SET XACT_ABORT ON;
BEGIN TRAN;
BEGIN TRY
    THROW 51000, N'x', 1;
END TRY
BEGIN CATCH
    SELECT XACT_STATE() AS x;
END CATCH;
-- expect error 3998 16 1 Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.
-- expect row: -1
GO
SELECT @@TRANCOUNT AS n;
-- expect row: 0

-- case: a_doomed_transaction_cannot_go_back_to_a_savepoint
SET XACT_ABORT ON;
BEGIN TRAN;
SAVE TRAN here;
BEGIN TRY
    THROW 51000, N'x', 1;
END TRY
BEGIN CATCH
    ROLLBACK TRAN here;
END CATCH;
-- expect error 3931 16 1 The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the entire transaction.

-- case: xact_abort_without_try_rolls_back_and_ends_the_batch
CREATE TABLE [$(s)].t (a INT PRIMARY KEY);
INSERT [$(s)].t VALUES (1);
GO
SET XACT_ABORT ON;
BEGIN TRAN;
INSERT [$(s)].t VALUES (2);
INSERT [$(s)].t VALUES (1);
SELECT 'not reached' AS a;
-- expect error 2627 14 1
-- expect no result
GO
SELECT @@TRANCOUNT AS n, COUNT(*) AS c FROM [$(s)].t;
-- expect row: 0 | 1

-- case: without_xact_abort_the_transaction_stays_open
CREATE TABLE [$(s)].t (a INT PRIMARY KEY);
INSERT [$(s)].t VALUES (1);
GO
SET XACT_ABORT OFF;
BEGIN TRAN;
INSERT [$(s)].t VALUES (2);
INSERT [$(s)].t VALUES (1);
INSERT [$(s)].t VALUES (3);
COMMIT;
-- expect error 2627 14 1
GO
SELECT @@TRANCOUNT AS n, COUNT(*) AS c FROM [$(s)].t;
-- expect row: 0 | 3

-- case: raiserror_does_not_heed_xact_abort
SET XACT_ABORT ON;
BEGIN TRAN;
RAISERROR(N'x', 16, 1);
SELECT @@TRANCOUNT AS n, XACT_STATE() AS x;
ROLLBACK;
-- expect error 50000 16 1 x
-- expect row: 1 | 1

-- Caught, it dooms the transaction as any other error does: github.com/RyanLamansky/sql-server-simulator, XactAbortTests, seen on SQL
-- Server 2025.
-- case: raiserror_in_try_dooms_with_xact_abort
SET XACT_ABORT ON;
BEGIN TRAN;
BEGIN TRY
    RAISERROR(N'x', 16, 1);
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS e, @@TRANCOUNT AS n, XACT_STATE() AS x;
END CATCH;
ROLLBACK;
-- expect row: 50000 | 1 | -1
GO
SET XACT_ABORT OFF;
BEGIN TRAN;
BEGIN TRY
    RAISERROR(N'x', 16, 1);
END TRY
BEGIN CATCH
    SELECT XACT_STATE() AS x;
END CATCH;
ROLLBACK;
-- expect row: 1

-- case: throw_heeds_xact_abort
SET XACT_ABORT ON;
BEGIN TRAN;
THROW 51000, N'x', 1;
-- expect error 51000 16 1 x
GO
SELECT @@TRANCOUNT AS n;
-- expect row: 0

-- case: xact_abort_in_a_procedure_ends_with_it
CREATE PROCEDURE [$(s)].p AS BEGIN SET XACT_ABORT ON; SELECT CASE WHEN @@OPTIONS & 16384 = 0 THEN 'off' ELSE 'on' END AS inside; END;
GO
SET XACT_ABORT OFF;
EXEC [$(s)].p;
SELECT CASE WHEN @@OPTIONS & 16384 = 0 THEN 'off' ELSE 'on' END AS outside;
-- expect row: 'on'
-- expect set
-- expect row: 'off'

-- case: the_usual_procedure_shape
CREATE TABLE [$(s)].t (a INT PRIMARY KEY);
GO
CREATE PROCEDURE [$(s)].p @a INT AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    BEGIN TRY
        BEGIN TRAN;
        INSERT [$(s)].t VALUES (@a);
        INSERT [$(s)].t VALUES (@a + 1);
        COMMIT;
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK;
        THROW;
    END CATCH;
END;
GO
EXEC [$(s)].p 1;
GO
EXEC [$(s)].p 2;
-- expect error 2627 14 1 The duplicate key value is (2).
GO
EXEC [$(s)].p 0;
-- expect error 2627 14 1 The duplicate key value is (1).
GO
SELECT COUNT(*) AS c, @@TRANCOUNT AS n FROM [$(s)].t;
-- expect row: 2 | 0
