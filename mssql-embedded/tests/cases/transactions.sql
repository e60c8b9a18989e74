-- BEGIN TRAN nests only as a counter: an inner COMMIT decrements it, any ROLLBACK undoes everything and sets it
-- to zero. A procedure that leaves the counter changed raises 266. Definitions are transactional too.

-- case: commit_and_rollback
CREATE TABLE [$(s)].t (a INT);
BEGIN TRAN; INSERT [$(s)].t VALUES (1); COMMIT;
BEGIN TRANSACTION; INSERT [$(s)].t VALUES (2); ROLLBACK TRANSACTION;
SELECT a FROM [$(s)].t;
-- expect row: 1

-- case: the_counter
SELECT @@TRANCOUNT AS a;
BEGIN TRAN; BEGIN TRAN;
SELECT @@TRANCOUNT AS b;
COMMIT;
SELECT @@TRANCOUNT AS c;
ROLLBACK;
SELECT @@TRANCOUNT AS d;
-- expect columns: a int
-- expect row: 0
-- expect set
-- expect row: 2
-- expect set
-- expect row: 1
-- expect set
-- expect row: 0

-- case: an_inner_rollback_undoes_everything
CREATE TABLE [$(s)].t (a INT);
BEGIN TRAN; INSERT [$(s)].t VALUES (1);
BEGIN TRAN; INSERT [$(s)].t VALUES (2);
ROLLBACK;
SELECT COUNT(*) AS c, @@TRANCOUNT AS n FROM [$(s)].t;
-- expect row: 0 | 0

-- case: commit_without_begin
COMMIT;
-- expect error 3902 16 1 The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.

-- case: rollback_without_begin
ROLLBACK;
-- expect error 3903 16 1 The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.

-- case: savepoints
CREATE TABLE [$(s)].t (a INT);
BEGIN TRAN;
INSERT [$(s)].t VALUES (1);
SAVE TRAN here;
INSERT [$(s)].t VALUES (2);
ROLLBACK TRAN here;
SELECT @@TRANCOUNT AS n;
INSERT [$(s)].t VALUES (3);
COMMIT;
SELECT a FROM [$(s)].t ORDER BY a;
-- expect row: 1
-- expect set
-- expect row: 1
-- expect row: 3

-- case: a_savepoint_that_is_not_there
BEGIN TRAN;
ROLLBACK TRAN nowhere;
-- expect error 6401 16 1 Cannot roll back nowhere. No transaction or savepoint of that name was found.

-- case: save_outside_a_transaction
SAVE TRAN here;
-- expect error 628 16 * Cannot issue SAVE TRANSACTION when there is no active transaction.

-- case: a_named_transaction_is_rolled_back_by_its_outermost_name
CREATE TABLE [$(s)].t (a INT);
BEGIN TRAN outer_one;
INSERT [$(s)].t VALUES (1);
BEGIN TRAN inner_one;
ROLLBACK TRAN outer_one;
SELECT COUNT(*) AS c, @@TRANCOUNT AS n FROM [$(s)].t;
-- expect row: 0 | 0

-- case: an_inner_name_cannot_be_rolled_back
BEGIN TRAN outer_one;
BEGIN TRAN inner_one;
ROLLBACK TRAN inner_one;
-- expect error 6401 16 1 Cannot roll back inner_one.

-- case: the_transaction_outlives_its_batch
CREATE TABLE [$(s)].t (a INT);
BEGIN TRAN;
INSERT [$(s)].t VALUES (1);
GO
SELECT @@TRANCOUNT AS n;
ROLLBACK;
SELECT COUNT(*) AS c FROM [$(s)].t;
-- expect row: 1
-- expect set
-- expect row: 0

-- case: a_procedure_that_begins_and_does_not_end
CREATE PROCEDURE [$(s)].p AS BEGIN TRAN;
GO
EXEC [$(s)].p;
SELECT @@TRANCOUNT AS n;
-- expect error 266 16 2 Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = 0, current count = 1.
-- expect row: 1

-- case: a_procedure_that_rolls_back_its_caller
CREATE PROCEDURE [$(s)].p AS ROLLBACK;
GO
BEGIN TRAN;
EXEC [$(s)].p;
SELECT @@TRANCOUNT AS n;
-- expect error 266 16 2 Previous count = 1, current count = 0.
-- expect row: 0

-- case: a_table_is_rolled_back
BEGIN TRAN;
CREATE TABLE [$(s)].t (a INT);
ROLLBACK;
SELECT OBJECT_ID(N'[$(s)].t') AS a;
-- expect row: NULL

-- case: a_drop_is_rolled_back
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (5);
GO
BEGIN TRAN;
DROP TABLE [$(s)].t;
ROLLBACK;
GO
SELECT a FROM [$(s)].t;
-- expect row: 5

-- case: truncate_is_rolled_back
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (5);
BEGIN TRAN; TRUNCATE TABLE [$(s)].t; ROLLBACK;
SELECT a FROM [$(s)].t;
-- expect row: 5

-- case: variables_are_not_rolled_back
DECLARE @a INT = 1;
BEGIN TRAN; SET @a = 2; ROLLBACK;
SELECT @a AS a;
-- expect row: 2

-- case: others_see_it_after_the_commit
CREATE TABLE [$(s)].t (a INT);
BEGIN TRAN;
INSERT [$(s)].t VALUES (1);
GO
-- on other
SELECT COUNT(*) AS n FROM [$(s)].t WITH (READPAST);
-- expect row: 0
GO
COMMIT;
GO
-- on other
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 1

-- case: update_then_undo_restores_indexes
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
CREATE UNIQUE INDEX ix_v ON [$(s)].t (v);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
BEGIN TRAN;
UPDATE [$(s)].t SET v = v + 100;
DELETE FROM [$(s)].t WHERE id = 1;
INSERT [$(s)].t VALUES (3, 10);
ROLLBACK;
SELECT id FROM [$(s)].t WHERE v = 10;
SELECT COUNT(*) AS n FROM [$(s)].t WHERE v > 100;
-- expect row: 1
-- expect set
-- expect row: 0

-- case: implicit_transactions_begin_with_tables_and_definitions
CREATE TABLE [$(s)].t (a INT);
GO
SET IMPLICIT_TRANSACTIONS ON;
SELECT 1;
SELECT @@TRANCOUNT;
-- expect row: 1
-- expect set
-- expect row: 0
GO
SELECT a FROM [$(s)].t;
SELECT @@TRANCOUNT;
COMMIT;
-- expect columns: a int
-- expect rows: none
-- expect set
-- expect row: 1
GO
CREATE TABLE [$(s)].u (a INT);
SELECT @@TRANCOUNT;
ROLLBACK;
-- expect row: 1
GO
SELECT OBJECT_ID(N'[$(s)].u');
-- expect row: NULL

-- A commit may say that it need not wait for the log; a database that does not allow it ignores that.
-- Syntax and levels: learn.microsoft.com/sql/relational-databases/logs/control-transaction-durability.
-- case: delayed_durability
CREATE TABLE [$(s)].t (a INT);
BEGIN TRAN; INSERT [$(s)].t VALUES (1); COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
BEGIN TRAN; INSERT [$(s)].t VALUES (2); COMMIT TRAN WITH (DELAYED_DURABILITY = OFF);
BEGIN TRAN; BEGIN TRAN; INSERT [$(s)].t VALUES (3); COMMIT WITH (DELAYED_DURABILITY = ON);
SELECT @@TRANCOUNT;
COMMIT WITH (DELAYED_DURABILITY = ON);
SELECT a FROM [$(s)].t ORDER BY a;
-- expect row: 1
-- expect set
-- expect row: 1
-- expect row: 2
-- expect row: 3

-- "When IMPLICIT_TRANSACTIONS = ON an explicit BEGIN TRANSACTION will start two nested transactions."
-- case: implicit_transactions_and_an_explicit_one_are_two
SET IMPLICIT_TRANSACTIONS ON;
BEGIN TRAN;
SELECT @@TRANCOUNT;
BEGIN TRAN;
SELECT @@TRANCOUNT;
COMMIT;
COMMIT;
SELECT @@TRANCOUNT;
COMMIT;
SELECT @@TRANCOUNT;
-- expect row: 2
-- expect set
-- expect row: 3
-- expect set
-- expect row: 1
-- expect set
-- expect row: 0

-- "More than 32 characters can be passed to the variable, but only the first 32 characters are used" (SAVE TRANSACTION).
-- case: a_variable_names_a_savepoint_with_32_characters
CREATE TABLE $(s).t (id INT);
GO
DECLARE @name VARCHAR(40) = REPLICATE('a', 40), @first VARCHAR(40) = REPLICATE('a', 32);
BEGIN TRAN;
INSERT $(s).t VALUES (1);
SAVE TRAN @name;
INSERT $(s).t VALUES (2);
ROLLBACK TRAN @first;
SAVE TRAN aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
INSERT $(s).t VALUES (3);
ROLLBACK TRAN @name;
COMMIT;
SELECT id FROM $(s).t;
-- expect row: 1
