-- Window functions are computed after WHERE and GROUP BY. With ORDER BY and no frame the frame is RANGE up
-- to the current row and its peers, so equal rows share a running sum.

-- case: ranking_functions
SELECT x, ROW_NUMBER() OVER (ORDER BY x) AS a, RANK() OVER (ORDER BY x) AS b, DENSE_RANK() OVER (ORDER BY x) AS c, NTILE(2) OVER (ORDER BY x) AS d
FROM (VALUES (10), (20), (20), (30)) v(x) ORDER BY x, a;
-- expect columns: x int, a bigint, b bigint, c bigint, d bigint
-- expect row: 10 | 1 | 1 | 1 | 1
-- expect row: 20 | 2 | 2 | 2 | 1
-- expect row: 20 | 3 | 2 | 2 | 2
-- expect row: 30 | 4 | 4 | 3 | 2

-- case: row_number_per_partition
SELECT k, x, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) AS n FROM (VALUES ('a', 1), ('a', 2), ('b', 5)) v(k, x) ORDER BY k, n;
-- expect row: 'a' | 2 | 1
-- expect row: 'a' | 1 | 2
-- expect row: 'b' | 5 | 1

-- case: lag_and_lead
SELECT x, LAG(x) OVER (ORDER BY x) AS a, LEAD(x, 1, -1) OVER (ORDER BY x) AS b FROM (VALUES (1), (2), (3)) v(x) ORDER BY x;
-- expect row: 1 | NULL | 2
-- expect row: 2 | 1 | 3
-- expect row: 3 | 2 | -1

-- case: running_sum_shares_peers
SELECT x, SUM(x) OVER (ORDER BY x) AS a, SUM(x) OVER (ORDER BY x ROWS UNBOUNDED PRECEDING) AS b, SUM(x) OVER () AS c
FROM (VALUES (1), (2), (2), (3)) v(x) ORDER BY x, b;
-- expect row: 1 | 1 | 1 | 8
-- expect row: 2 | 5 | 3 | 8
-- expect row: 2 | 5 | 5 | 8
-- expect row: 3 | 8 | 8 | 8

-- case: moving_frame
SELECT x, SUM(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS a FROM (VALUES (1), (2), (3), (4)) v(x) ORDER BY x;
-- expect row: 1 | 3
-- expect row: 2 | 6
-- expect row: 3 | 9
-- expect row: 4 | 7

-- case: first_and_last_value
SELECT x, FIRST_VALUE(x) OVER (ORDER BY x) AS a, LAST_VALUE(x) OVER (ORDER BY x) AS b, LAST_VALUE(x) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c
FROM (VALUES (1), (2), (3)) v(x) ORDER BY x;
-- expect row: 1 | 1 | 1 | 3
-- expect row: 2 | 1 | 2 | 3
-- expect row: 3 | 1 | 3 | 3

-- case: count_per_partition
SELECT k, COUNT(*) OVER (PARTITION BY k) AS n, MAX(x) OVER (PARTITION BY k) AS m FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) v(k, x) ORDER BY k, x;
-- expect row: 'a' | 2 | 3
-- expect row: 'a' | 2 | 3
-- expect row: 'b' | 1 | 2

-- case: ranking_needs_order_by
SELECT ROW_NUMBER() OVER () AS a FROM (VALUES (1)) v(x);
-- expect error 4112 15 * The function 'ROW_NUMBER' must have an OVER clause with ORDER BY.

-- case: not_in_where
SELECT 1 AS a FROM (VALUES (1)) v(x) WHERE ROW_NUMBER() OVER (ORDER BY x) = 1;
-- expect error 4108 15 * Windowed functions can only appear in the SELECT or ORDER BY clauses.

-- case: over_groups
SELECT k, SUM(x) AS s, RANK() OVER (ORDER BY SUM(x) DESC) AS r FROM (VALUES ('a', 1), ('b', 5), ('a', 1)) v(k, x) GROUP BY k ORDER BY r;
-- expect row: 'b' | 5 | 1
-- expect row: 'a' | 2 | 2

-- case: top_row_per_group_through_a_derived_table
SELECT k, x FROM (SELECT k, x, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) AS n FROM (VALUES ('a', 1), ('a', 9), ('b', 4)) v(k, x)) d WHERE n = 1 ORDER BY k;
-- expect row: 'a' | 9
-- expect row: 'b' | 4

-- case: offsets_and_frames_as_large_as_there_are
-- "LEAD": the offset is converted to bigint. "OVER clause": the bound of a frame is an unsigned integer literal, for
-- which it names no limit. Beyond the partition there is no row.
SELECT x, LEAD(x, 9223372036854775807) OVER (ORDER BY x) AS a, LAG(x, 9223372036854775807, 0) OVER (ORDER BY x) AS b,
    SUM(x) OVER (ORDER BY x ROWS BETWEEN 2147483647 PRECEDING AND 2147483647 FOLLOWING) AS c
FROM (VALUES (1), (2)) v(x) ORDER BY x;
-- expect row: 1 | NULL | 0 | 3
-- expect row: 2 | NULL | 0 | 3

-- The bound at which a frame starts lies before the one at which it ends, as far as the words say. Only an aggregate that keeps an order takes
-- WITHIN GROUP. Both were seen on SQL Server 2025: github.com/RyanLamansky/sql-server-simulator.
-- case: frames_that_end_before_they_start
SELECT SUM(v) OVER (ORDER BY v ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) AS a FROM (VALUES (1)) AS t (v);
-- expect error 4193 16 1 'BETWEEN ... FOLLOWING AND ... PRECEDING' is not a valid window frame and cannot be used with the OVER clause.
GO
SELECT SUM(v) OVER (ORDER BY v ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) AS a FROM (VALUES (1)) AS t (v);
-- expect error 4193 16 1
GO
SELECT SUM(v) OVER (ORDER BY v ROWS 1 FOLLOWING) AS a FROM (VALUES (1)) AS t (v);
-- expect error 4193 16 1
GO
SELECT SUM(v) WITHIN GROUP (ORDER BY v) AS a FROM (VALUES (1)) AS t (v);
-- expect error 10757 15 * may not have a WITHIN GROUP clause.
