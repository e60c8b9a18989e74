-- A result set begins before its rows are computed. When a later row fails, the client has the columns and the rows
-- before it, and then gets the error; with ORDER BY over a sort nothing is sent before all rows are there. An error
-- that is caught leaves its unfinished result set behind.

-- case: rows_before_the_error_arrive
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 1), (2, 2), (3, 0), (4, 4);
GO
SELECT id, 10 / v AS q FROM [$(s)].t;
-- expect columns: id int, q int
-- expect row: 1 | 10
-- expect row: 2 | 5
-- expect error 8134 16 1 Divide by zero error encountered.

-- case: conversion_in_the_third_row
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v VARCHAR(10));
INSERT [$(s)].t VALUES (1, '1'), (2, '2'), (3, 'x'), (4, '4');
GO
SELECT CAST(v AS INT) AS n FROM [$(s)].t;
-- expect columns: n int
-- expect row: 1
-- expect row: 2
-- expect error 245 16 1 Conversion failed when converting the varchar value 'x' to data type int.

-- case: the_index_order_needs_no_sort
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 1), (2, 0);
GO
SELECT 10 / v FROM [$(s)].t ORDER BY id;
-- expect row: 10
-- expect error 8134 16 1

-- case: a_sort_sends_nothing_before_the_error
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 0), (2, 1);
GO
SELECT 10 / v AS q FROM [$(s)].t ORDER BY v DESC;
-- expect columns: q int
-- expect error 8134 16 1

-- case: an_aggregate_sends_nothing_before_the_error
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 1), (2, 0);
GO
SELECT SUM(10 / v) AS q FROM [$(s)].t;
-- expect columns: q int
-- expect error 8134 16 1

-- case: an_error_in_the_first_row_leaves_the_columns
SELECT 1 / 0 AS q;
-- expect columns: q int
-- expect error 8134 16 1

-- case: a_caught_error_leaves_an_empty_result_set
BEGIN TRY
    SELECT 1 / 0 AS q;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n;
END CATCH;
-- expect columns: q int
-- expect rows: none
-- expect columns: n int
-- expect row: 8134

-- case: a_caught_error_leaves_its_rows
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 5), (2, 0);
GO
BEGIN TRY
    SELECT 10 / v AS q FROM [$(s)].t;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n;
END CATCH;
-- expect columns: q int
-- expect row: 2
-- expect columns: n int
-- expect row: 8134

-- case: assignments_have_no_result_set
BEGIN TRY
    DECLARE @q INT;
    SELECT @q = 1 / 0;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS n;
END CATCH;
-- expect columns: n int
-- expect row: 8134

-- case: errors_of_compilation_have_no_result_set
SELECT nope FROM sys.objects;
-- expect error 207 16 1 Invalid column name 'nope'.
-- expect no result

-- case: the_batch_goes_on_after_a_statement_error
SELECT 1 / 0 AS q;
SELECT 2 AS r;
-- expect columns: q int
-- expect rows: none
-- expect columns: r int
-- expect row: 2
-- expect error 8134 16 1

-- case: a_lock_timeout_has_begun_its_result_set
-- read_committed_snapshot off
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 1), (2, 2);
BEGIN TRAN;
UPDATE [$(s)].t SET v = 0 WHERE id = 2;
GO
-- on b
SET LOCK_TIMEOUT 0;
SELECT id FROM [$(s)].t;
-- expect columns: id int
-- expect row: 1
-- expect error 1222 16 *
GO
ROLLBACK;
