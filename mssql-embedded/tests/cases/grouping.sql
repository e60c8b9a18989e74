-- Everything selected beside an aggregate must be grouped by. The average of integers is an integer, a sum
-- keeps INT (and can overflow), and COUNT_BIG is the BIGINT form of COUNT.

-- case: group_and_having
SELECT k, COUNT(*) AS n, SUM(v) AS s FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) t(k, v) GROUP BY k HAVING COUNT(*) > 1;
-- expect columns: k varchar, n int, s int
-- expect row: 'a' | 2 | 4

-- case: average_of_integers_is_an_integer
SELECT AVG(x) AS a, AVG(CAST(x AS DECIMAL(5, 2))) AS b, AVG(CAST(x AS FLOAT)) AS c FROM (VALUES (1), (2)) v(x);
-- expect columns: a int, b decimal, c float
-- expect row: 1 | 1.500000 | 1.5

-- case: types_of_aggregates
SELECT SUM(CAST(1 AS TINYINT)) AS a, SUM(CAST(1 AS BIGINT)) AS b, SUM(1.5) AS c, COUNT(*) AS d, COUNT_BIG(*) AS e, MAX('x') AS f;
-- expect columns: a int, b bigint, c decimal, d int, e bigint, f varchar
-- expect row: 1 | 1 | 1.5 | 1 | 1 | 'x'

-- case: a_sum_of_ints_can_overflow
SELECT SUM(x) AS a FROM (VALUES (2147483647), (1)) v(x);
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type int.

-- case: distinct_aggregates
SELECT COUNT(DISTINCT x) AS a, SUM(DISTINCT x) AS b FROM (VALUES (1), (1), (2), (NULL)) v(x);
-- expect row: 2 | 3

-- case: group_by_an_expression
SELECT x % 2 AS odd, MAX(x) AS m FROM (VALUES (1), (2), (3), (4)) v(x) GROUP BY x % 2 ORDER BY odd;
-- expect row: 0 | 4
-- expect row: 1 | 3

-- case: a_column_that_is_not_grouped
CREATE TABLE [$(s)].t (a INT, b INT);
GO
SELECT a, b FROM [$(s)].t GROUP BY a;
-- expect error 8120 16 1 is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.

-- case: a_bare_column_beside_an_aggregate
CREATE TABLE [$(s)].t (a INT, b INT);
GO
SELECT a, COUNT(*) AS n FROM [$(s)].t;
-- expect error 8120 16 1

-- case: a_having_column_that_is_not_grouped
CREATE TABLE [$(s)].t (a INT, b INT);
GO
SELECT a FROM [$(s)].t GROUP BY a HAVING b > 1;
-- expect error 8121 16 1 is invalid in the HAVING clause because it is not contained in either an aggregate function or the GROUP BY clause.

-- case: an_aggregate_in_where
SELECT 1 AS a FROM (VALUES (1)) v(x) WHERE COUNT(*) > 0;
-- expect error 147 15 1 An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select list

-- case: an_aggregate_of_an_aggregate
SELECT SUM(COUNT(*)) AS a FROM (VALUES (1)) v(x);
-- expect error 130 * 1 Cannot perform an aggregate function on an expression containing an aggregate or a subquery.

-- case: having_without_group_by
SELECT COUNT(*) AS n FROM (VALUES (1), (2)) v(x) HAVING COUNT(*) > 5;
-- expect rows: none

-- case: group_by_no_rows_gives_no_groups
SELECT x, COUNT(*) AS n FROM (VALUES (1)) v(x) WHERE 1 = 0 GROUP BY x;
-- expect rows: none

-- case: string_agg
SELECT STRING_AGG(x, ',') WITHIN GROUP (ORDER BY x DESC) AS a FROM (VALUES ('a'), ('c'), ('b'), (NULL)) v(x);
-- expect row: 'c,b,a'

-- case: group_by_several_columns
SELECT a, b, COUNT(*) AS n FROM (VALUES (1, 'x'), (1, 'y'), (1, 'x')) v(a, b) GROUP BY a, b ORDER BY b;
-- expect row: 1 | 'x' | 2
-- expect row: 1 | 'y' | 1

-- case: order_by_an_aggregate
SELECT k FROM (VALUES ('a', 1), ('b', 5), ('a', 2)) v(k, x) GROUP BY k ORDER BY SUM(x) DESC;
-- expect row: 'b'
-- expect row: 'a'

-- case: the_separator_of_string_agg_is_no_column
SELECT STRING_AGG(x, CAST(x AS VARCHAR(5))) FROM (VALUES ('a'), ('b')) AS v (x);
-- expect error 8733 16 1 Separator parameter for STRING_AGG must be a string literal or variable.
GO
SELECT STRING_AGG(x, CHAR(44) + ' ') WITHIN GROUP (ORDER BY x) AS s FROM (VALUES ('a'), ('b')) AS v (x);
-- expect row: 'a, b'

-- The table is shown as it was written; the message of ORDER BY has quotation marks of its own.
-- case: a_column_outside_of_the_grouping_by_name
CREATE TABLE [$(s)].t (a INT, b INT);
CREATE TABLE #t (a INT, b INT);
GO
SELECT a, COUNT(*) FROM [$(s)].t;
-- expect error 8120 16 1 Column '$(s).t.a' is invalid in the select list
GO
SELECT a, COUNT(*) FROM [$(s)].t AS x;
-- expect error 8120 16 1 Column 'x.a' is invalid in the select list
GO
SELECT a, COUNT(*) FROM #t;
-- expect error 8120 16 1 Column '#t.a' is invalid in the select list
GO
SELECT a FROM #t GROUP BY a ORDER BY b;
-- expect error 8127 16 1 Column "#t.b" is invalid in the ORDER BY clause

-- "STRING_AGG ( expression, separator ) [ <order_clause> ]" has neither DISTINCT nor ALL, and an aggregate that has them takes one argument.
-- case: distinct_has_one_argument
SELECT STRING_AGG(DISTINCT v, ',') AS a FROM (VALUES ('a'), ('a')) AS t (v);
-- expect error 102 15 1 Incorrect syntax near ','.
GO
SELECT COUNT(DISTINCT v, w) AS a FROM (VALUES (1, 2)) AS t (v, w);
-- expect error 102 15 1 Incorrect syntax near ','.
