-- ORDER BY takes columns, aliases, positions and expressions; TOP and OFFSET limit the ordered rows. Without
-- TOP, an inner query must not be ordered.

-- case: top_and_order
SELECT TOP (2) x FROM (VALUES (3), (1), (2)) v(x) ORDER BY x;
SELECT TOP 1 x FROM (VALUES (3), (1), (2)) v(x) ORDER BY x DESC;
-- expect row: 1
-- expect row: 2
-- expect set
-- expect row: 3

-- case: top_zero_keeps_the_columns
SELECT TOP (0) 1 AS a, N'x' AS b;
-- expect columns: a int, b nvarchar
-- expect rows: none

-- case: top_with_ties
SELECT TOP (2) WITH TIES x FROM (VALUES (1), (2), (2), (3)) v(x) ORDER BY x;
-- expect row: 1
-- expect row: 2
-- expect row: 2

-- case: top_percent_rounds_up
SELECT TOP (50) PERCENT x FROM (VALUES (1), (2), (3)) v(x) ORDER BY x;
-- expect row: 1
-- expect row: 2

-- case: top_of_a_variable
DECLARE @n BIGINT = 1;
SELECT TOP (@n) x FROM (VALUES (1), (2)) v(x) ORDER BY x;
-- expect row: 1

-- case: offset_and_fetch
SELECT x FROM (VALUES (1), (2), (3), (4)) v(x) ORDER BY x OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY;
SELECT x FROM (VALUES (1), (2), (3)) v(x) ORDER BY x OFFSET 2 ROWS;
-- expect row: 2
-- expect row: 3
-- expect set
-- expect row: 3

-- case: order_by_position_and_alias
SELECT x * -1 AS y FROM (VALUES (1), (2)) v(x) ORDER BY 1;
SELECT x * -1 AS y FROM (VALUES (1), (2)) v(x) ORDER BY y DESC;
-- expect row: -2
-- expect row: -1
-- expect set
-- expect row: -1
-- expect row: -2

-- case: order_by_a_column_that_is_not_selected
SELECT x FROM (VALUES (1, 'b'), (2, 'a')) v(x, y) ORDER BY y;
-- expect row: 2
-- expect row: 1

-- case: order_by_position_out_of_range
SELECT 1 AS a ORDER BY 2;
-- expect error 108 * 1 The ORDER BY position number 2 is out of range of the number of items in the select list.

-- case: distinct_orders_by_selected_columns_only
SELECT DISTINCT x FROM (VALUES (1, 2)) v(x, y) ORDER BY y;
-- expect error 145 15 1 ORDER BY items must appear in the select list if SELECT DISTINCT is specified.

-- case: an_inner_query_must_not_be_ordered
SELECT * FROM (SELECT x FROM (VALUES (1)) v(x) ORDER BY x) d;
-- expect error 1033 15 1 The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table expressions, unless TOP, OFFSET or FOR XML is also specified.

-- case: an_inner_query_with_top_may
SELECT x FROM (SELECT TOP (1) x FROM (VALUES (1), (2)) v(x) ORDER BY x DESC) d;
-- expect row: 2

-- case: top_and_offset_exclude_each_other
SELECT TOP (1) x FROM (VALUES (1)) v(x) ORDER BY x OFFSET 0 ROWS;
-- expect error 10741 15 *

-- case: fetch_needs_offset
SELECT x FROM (VALUES (1)) v(x) ORDER BY x FETCH NEXT 1 ROWS ONLY;
-- expect error 153 15 2 Invalid usage of the option NEXT in the FETCH statement.

-- case: distinct_removes_duplicates
SELECT DISTINCT x, y FROM (VALUES (1, 'a'), (1, 'A'), (2, 'b')) v(x, y) ORDER BY x;
-- expect row: 1 | *
-- expect row: 2 | 'b'

-- What has digits after the point is no number of rows, and neither is a text that looks like one
-- (github.com/RyanLamansky/sql-server-simulator, docs/claude/query.md, seen on SQL Server 2025).
-- case: a_number_of_rows_is_whole
SELECT TOP (1.5) name FROM sys.objects;
-- expect error 1060 15 1 The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.
GO
DECLARE @n DECIMAL(10, 1) = 1;
SELECT TOP (@n) name FROM sys.objects;
-- expect error 1060 15 1
GO
SELECT TOP ('1') name FROM sys.objects;
-- expect error 1060 15 1
GO
SELECT 1 AS a ORDER BY a OFFSET 0 ROWS FETCH NEXT 1e0 ROWS ONLY;
-- expect error 1060 15 1
GO
DECLARE @n DECIMAL(10, 0) = 1;
SELECT TOP (@n) a FROM (VALUES (1), (2)) AS v (a) ORDER BY a;
-- expect row: 1

-- What is computed from literals is a constant, not a position.
-- case: order_by_a_constant_expression
SELECT name FROM sys.objects ORDER BY 1 + 0;
-- expect error 408 16 1 A constant expression was encountered in the ORDER BY list, position 1.
GO
SELECT name FROM sys.objects ORDER BY name, 'a' + 'b';
-- expect error 408 16 1 position 2.
GO
SELECT name FROM sys.objects ORDER BY CAST(1 AS INT);
-- expect error 408 16 1
GO
DECLARE @v INT = 1;
SELECT a FROM (VALUES (2), (1)) AS v (a) ORDER BY a + 0, @v + 1, (SELECT 1);
-- expect row: 1
-- expect row: 2
