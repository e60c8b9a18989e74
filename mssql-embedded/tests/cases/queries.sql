-- Joins, APPLY and subqueries. A condition in ON decides what matches, one in WHERE what remains. A scalar
-- subquery without rows is NULL and with two rows an error.

-- case: inner_join
SELECT a.x, b.y FROM (VALUES (1), (2), (3)) a(x) JOIN (VALUES (2, 'b'), (3, 'c'), (4, 'd')) b(x, y) ON a.x = b.x ORDER BY a.x;
-- expect columns: x int, y varchar
-- expect row: 2 | 'b'
-- expect row: 3 | 'c'

-- case: left_join_on_versus_where
SELECT a.x, b.y FROM (VALUES (1), (2)) a(x) LEFT JOIN (VALUES (1, 10), (2, 20)) b(x, y) ON a.x = b.x AND b.y > 15 ORDER BY a.x;
SELECT a.x, b.y FROM (VALUES (1), (2)) a(x) LEFT JOIN (VALUES (1, 10), (2, 20)) b(x, y) ON a.x = b.x WHERE b.y > 15 ORDER BY a.x;
-- expect row: 1 | NULL
-- expect row: 2 | 20
-- expect set
-- expect row: 2 | 20

-- case: right_and_full_join
SELECT a.x, b.x AS y FROM (VALUES (1), (2)) a(x) RIGHT JOIN (VALUES (2), (3)) b(x) ON a.x = b.x ORDER BY b.x;
SELECT a.x, b.x AS y FROM (VALUES (1), (2)) a(x) FULL OUTER JOIN (VALUES (2), (3)) b(x) ON a.x = b.x ORDER BY COALESCE(a.x, b.x);
-- expect row: 2 | 2
-- expect row: NULL | 3
-- expect set
-- expect row: 1 | NULL
-- expect row: 2 | 2
-- expect row: NULL | 3

-- case: cross_join
SELECT a.x, b.y FROM (VALUES (1), (2)) a(x) CROSS JOIN (VALUES ('p'), ('q')) b(y) ORDER BY a.x, b.y;
-- expect row: 1 | 'p'
-- expect row: 1 | 'q'
-- expect row: 2 | 'p'
-- expect row: 2 | 'q'

-- case: comma_is_a_cross_join
SELECT COUNT(*) AS n FROM (VALUES (1), (2)) a(x), (VALUES (1), (2), (3)) b(y) WHERE a.x <= b.y;
-- expect row: 5

-- case: cross_apply_is_correlated
SELECT a.x, b.y FROM (VALUES (1), (2)) a(x) CROSS APPLY (SELECT a.x * 10 AS y UNION ALL SELECT a.x * 100 WHERE a.x = 2) b ORDER BY a.x, b.y;
-- expect row: 1 | 10
-- expect row: 2 | 20
-- expect row: 2 | 200

-- case: outer_apply_keeps_the_left_row
SELECT a.x, b.y FROM (VALUES (1), (2)) a(x) OUTER APPLY (SELECT TOP (1) v.y FROM (VALUES (2, 'p'), (2, 'q')) v(x, y) WHERE v.x = a.x ORDER BY v.y DESC) b ORDER BY a.x;
-- expect row: 1 | NULL
-- expect row: 2 | 'q'

-- case: nested_joins_with_parentheses
SELECT a.x, b.x AS y, c.x AS z FROM (VALUES (1), (2)) a(x) LEFT JOIN ((VALUES (1), (2)) b(x) JOIN (VALUES (2)) c(x) ON b.x = c.x) ON a.x = b.x ORDER BY a.x;
-- expect row: 1 | NULL | NULL
-- expect row: 2 | 2 | 2

-- case: self_join_on_a_table
CREATE TABLE [$(s)].emp (id INT PRIMARY KEY, boss INT NULL, name VARCHAR(10));
INSERT [$(s)].emp VALUES (1, NULL, 'ann'), (2, 1, 'bob'), (3, 2, 'cid');
SELECT e.name, b.name AS boss FROM [$(s)].emp e LEFT JOIN [$(s)].emp AS b ON b.id = e.boss ORDER BY e.id;
-- expect columns: name varchar, boss varchar
-- expect row: 'ann' | NULL
-- expect row: 'bob' | 'ann'
-- expect row: 'cid' | 'bob'

-- case: scalar_subquery
SELECT (SELECT MAX(x) FROM (VALUES (1), (5)) v(x)) AS a, (SELECT 1 WHERE 1 = 0) AS b;
-- expect row: 5 | NULL

-- case: scalar_subquery_of_two_rows
SELECT (SELECT x FROM (VALUES (1), (2)) v(x)) AS a;
-- expect error 512 16 1 Subquery returned more than 1 value.

-- case: scalar_subquery_of_two_columns
SELECT (SELECT 1, 2) AS a;
-- expect error 116 16 1 Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.

-- case: correlated_exists_and_in
CREATE TABLE [$(s)].a (x INT); CREATE TABLE [$(s)].b (x INT);
INSERT [$(s)].a VALUES (1), (2), (3); INSERT [$(s)].b VALUES (2), (3), (3);
SELECT x FROM [$(s)].a t WHERE EXISTS (SELECT 1 FROM [$(s)].b WHERE b.x = t.x) ORDER BY x;
SELECT x FROM [$(s)].a WHERE x NOT IN (SELECT x FROM [$(s)].b);
-- expect row: 2
-- expect row: 3
-- expect set
-- expect row: 1

-- case: quantified_comparison
SELECT x FROM (VALUES (1), (2), (3)) v(x) WHERE x >= ALL (SELECT y FROM (VALUES (1), (2)) w(y)) ORDER BY x;
SELECT x FROM (VALUES (1), (2), (3)) v(x) WHERE x = ANY (SELECT y FROM (VALUES (1), (2)) w(y)) ORDER BY x;
-- expect row: 2
-- expect row: 3
-- expect set
-- expect row: 1
-- expect row: 2

-- case: star_expansion
SELECT b.*, a.x AS z FROM (VALUES (1)) a(x) CROSS JOIN (VALUES (2, 3)) b(p, q);
-- expect columns: p int, q int, z int
-- expect row: 2 | 3 | 1

-- case: an_alias_by_equals_sign
SELECT a = 1, 'b c' = 2, [d] = 3;
-- expect columns: a int, b c int, d int
-- expect row: 1 | 2 | 3

-- case: ambiguous_column
SELECT x FROM (VALUES (1)) a(x) CROSS JOIN (VALUES (1)) b(x);
-- expect error 209 16 1 Ambiguous column name 'x'.

-- case: invalid_column
SELECT y FROM (VALUES (1)) a(x);
-- expect error 207 16 1 Invalid column name 'y'.

-- case: unbound_multi_part_identifier
SELECT q.x FROM (VALUES (1)) a(x);
-- expect error 4104 16 1 The multi-part identifier "q.x" could not be bound.

-- case: the_same_exposed_name_twice
SELECT 1 AS x FROM (VALUES (1)) a(x) JOIN (VALUES (1)) a(x) ON 1 = 1;
-- expect error 1011 16 1 The correlation name 'a' is specified multiple times in a FROM clause.

-- case: a_derived_column_needs_a_name
SELECT * FROM (SELECT 1) d;
-- expect error 8155 16 2 No column name was specified for column 1 of 'd'.

-- case: a_derived_column_name_must_be_unique
SELECT * FROM (SELECT 1 AS a, 2 AS a) d;
-- expect error 8156 16 1 The column 'a' was specified multiple times for 'd'.

-- case: an_alias_is_not_known_in_where
SELECT x + 1 AS y FROM (VALUES (1)) v(x) WHERE y = 2;
-- expect error 207 16 1 Invalid column name 'y'.

-- case: variables_are_assigned_by_select
DECLARE @a INT = 0, @b INT = 7;
SELECT @a = @a + x FROM (VALUES (1), (2), (3)) v(x);
SELECT @b = x FROM (VALUES (1)) v(x) WHERE 1 = 0;
SELECT @a AS a, @b AS b;
-- expect row: 6 | 7

-- case: view_is_a_stored_query
CREATE TABLE [$(s)].t (a INT, b INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
GO
CREATE VIEW [$(s)].v AS SELECT a, b * 2 AS doubled FROM [$(s)].t WHERE a > 1;
GO
SELECT * FROM [$(s)].v;
-- expect columns: a int, doubled int
-- expect row: 2 | 40

-- case: a_view_is_bound_when_it_is_created
CREATE TABLE [$(s)].t (a INT, b INT);
GO
CREATE VIEW [$(s)].v AS SELECT a FROM [$(s)].missing;
-- expect error 208 16 1 Invalid object name '$(s).missing'.
GO
CREATE VIEW [$(s)].v AS SELECT c FROM [$(s)].t;
-- expect error 207 16 1 Invalid column name 'c'.
-- expect at line 1 in v
GO
CREATE VIEW [$(s)].v AS SELECT a, a + b FROM [$(s)].t;
-- expect error 4511 16 1 Create View or Function failed because no column name was specified for column 2.
GO
CREATE VIEW [$(s)].v AS SELECT a, b AS a FROM [$(s)].t;
-- expect error 4506 16 1 Column names in each view or function must be unique. Column name 'a' in view or function 'v' is specified more than once.
GO
CREATE VIEW [$(s)].v (x, y) AS SELECT a FROM [$(s)].t;
-- expect error 8159 16 1 'v' has fewer columns than were specified in the column list.
GO
SELECT COUNT(*) AS n FROM sys.views WHERE schema_id = SCHEMA_ID(N'$(s)');
-- expect row: 0

-- case: case_expressions
SELECT CASE x WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END AS a, IIF(x > 1, 'y', 'n') AS b, CHOOSE(x, 'p', 'q') AS c
FROM (VALUES (1), (2), (3)) v(x) ORDER BY x;
-- expect row: 'one' | 'n' | 'p'
-- expect row: 'two' | 'y' | 'q'
-- expect row: 'many' | 'y' | NULL

-- case: case_expressions_nest_to_level_10
SELECT CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN 7 END END END END END END END END END END AS x;
-- expect row: 7
GO
SELECT CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN CASE WHEN 1 = 1 THEN 7 END END END END END END END END END END END AS x;
-- expect error 125 15 * Case expressions may only be nested to level 10.

-- case: iif_is_a_case_and_nests_no_deeper
SELECT IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, 7, 0), 0), 0), 0), 0), 0), 0), 0), 0), 0) AS x;
-- expect row: 7
GO
SELECT IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, IIF(1 = 1, 7, 0), 0), 0), 0), 0), 0), 0), 0), 0), 0), 0) AS x;
-- expect error 125 15 * Case expressions may only be nested to level 10.

-- "Columns per SELECT statement: 4,096" (Maximum capacity specifications for SQL Server), whether they are written out or not.
-- case: at_most_4096_elements
DECLARE @s NVARCHAR(MAX) = N'SELECT 1' + REPLICATE(CAST(N', 1' AS NVARCHAR(MAX)), 4096);
EXEC (@s);
-- expect error 1056 15 * The number of elements in the select list exceeds the maximum allowed number of 4096 elements.
GO
DECLARE @s NVARCHAR(MAX) = N'IF 1 = 0 SELECT 1' + REPLICATE(CAST(N', 1' AS NVARCHAR(MAX)), 4095);
EXEC (@s);
-- expect no result
GO
DECLARE @s NVARCHAR(MAX) = N'SELECT *' + REPLICATE(CAST(N', 1' AS NVARCHAR(MAX)), 4095) + N' FROM (VALUES (1, 2)) t (a, b)';
EXEC (@s);
-- expect error 1056 15 *
