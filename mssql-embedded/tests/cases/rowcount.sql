-- @@ROWCOUNT tells the rows of the statement just before, and nearly every statement sets it: an assignment to
-- 1, PRINT, SET of an option, BEGIN and COMMIT to 0. NOCOUNT silences the counts on the wire, not @@ROWCOUNT.

-- case: of_data_statements
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1), (2), (3);
SELECT @@ROWCOUNT AS n;
UPDATE [$(s)].t SET a = a WHERE a > 1;
SELECT @@ROWCOUNT AS n;
DELETE FROM [$(s)].t WHERE a = 99;
SELECT @@ROWCOUNT AS n;
SELECT a FROM [$(s)].t ORDER BY a;
SELECT @@ROWCOUNT AS n;
-- expect columns: n int
-- expect row: 3
-- expect set
-- expect row: 2
-- expect set
-- expect row: 0
-- expect set
-- expect row: 1
-- expect row: 2
-- expect row: 3
-- expect set
-- expect row: 3

-- case: an_assignment_sets_it_to_one
DECLARE @a INT, @n INT;
SELECT x FROM (VALUES (1), (2)) v(x) ORDER BY x;
SET @a = 5;
SELECT @@ROWCOUNT AS n;
-- expect row: 1
-- expect row: 2
-- expect set
-- expect row: 1

-- case: reading_it_resets_it
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1), (2);
IF @@ROWCOUNT = 2 SELECT @@ROWCOUNT AS n;
-- expect row: 0

-- case: option_print_and_transaction_reset_it
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1), (2);
PRINT 'x';
SELECT @@ROWCOUNT AS a;
INSERT [$(s)].t VALUES (1), (2);
SET NOCOUNT ON;
SELECT @@ROWCOUNT AS b;
INSERT [$(s)].t VALUES (1), (2);
BEGIN TRAN;
SELECT @@ROWCOUNT AS c;
COMMIT;
-- expect row: 0
-- expect set
-- expect row: 0
-- expect set
-- expect row: 0

-- case: nocount_does_not_change_it
CREATE TABLE [$(s)].t (a INT);
SET NOCOUNT ON;
INSERT [$(s)].t VALUES (1), (2);
SELECT @@ROWCOUNT AS n, ROWCOUNT_BIG() AS b;
-- expect columns: n int, b bigint
-- expect row: 2 | 2

-- case: select_assignment_counts_rows
DECLARE @a INT;
SELECT @a = x FROM (VALUES (1), (2), (3)) v(x);
SELECT @@ROWCOUNT AS n;
-- expect row: 3

-- case: after_a_procedure_it_is_that_of_its_last_statement
CREATE TABLE [$(s)].t (a INT);
GO
CREATE PROCEDURE [$(s)].p AS INSERT [$(s)].t VALUES (1), (2), (3), (4);
GO
EXEC [$(s)].p;
SELECT @@ROWCOUNT AS n;
-- expect row: 4

-- case: counts_on_the_wire
CREATE TABLE [$(s)].t (a INT);
GO
INSERT [$(s)].t VALUES (1), (2), (3); UPDATE [$(s)].t SET a = 0 WHERE a > 1; DELETE FROM [$(s)].t;
-- expect rowcount 3, 2, 3

-- case: no_counts_on_the_wire
CREATE TABLE [$(s)].t (a INT);
GO
SET NOCOUNT ON; INSERT [$(s)].t VALUES (1), (2), (3);
-- expect rowcount none

-- case: set_rowcount_limits
SET ROWCOUNT 2;
SELECT x FROM (VALUES (1), (2), (3)) v(x) ORDER BY x;
SET ROWCOUNT 0;
-- expect row: 1
-- expect row: 2

-- case: set_rowcount_limits_changes
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 0), (2, 0), (3, 0);
SET ROWCOUNT 2;
UPDATE [$(s)].t SET a = 1;
DELETE [$(s)].t WHERE a = 1;
SET ROWCOUNT 0;
SELECT id, a FROM [$(s)].t;
-- expect row: 3 | 0
