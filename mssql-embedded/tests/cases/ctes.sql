-- A common table expression names a query for one statement. A recursive one runs its second part on the
-- rows of the round before, at most 100 rounds unless MAXRECURSION says otherwise.

-- case: simple_and_chained
WITH a AS (SELECT 1 AS x UNION ALL SELECT 2), b (y) AS (SELECT x * 10 FROM a) SELECT y FROM b ORDER BY y;
-- expect columns: y int
-- expect row: 10
-- expect row: 20

-- case: recursion_counts
WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT COUNT(*) AS n, MAX(i) AS m FROM n;
-- expect row: 5 | 5

-- case: recursion_walks_a_tree
CREATE TABLE [$(s)].node (id INT PRIMARY KEY, parent INT NULL);
INSERT [$(s)].node VALUES (1, NULL), (2, 1), (3, 1), (4, 2), (5, NULL);
WITH tree AS (SELECT id, 0 AS depth FROM [$(s)].node WHERE id = 1 UNION ALL SELECT c.id, t.depth + 1 FROM [$(s)].node c JOIN tree t ON c.parent = t.id)
SELECT id, depth FROM tree ORDER BY id;
-- expect row: 1 | 0
-- expect row: 2 | 1
-- expect row: 3 | 1
-- expect row: 4 | 2

-- case: recursion_stops_at_100
WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT COUNT(*) AS n FROM n;
-- expect error 530 16 1 The statement terminated. The maximum recursion 100 has been exhausted before statement completion.

-- case: maxrecursion_raises_the_limit
WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT COUNT(*) AS n FROM n OPTION (MAXRECURSION 0);
-- expect row: 1000

-- case: the_previous_statement_needs_a_semicolon
PRINT 'x'
WITH a AS (SELECT 1 AS x) SELECT x FROM a;
-- expect error 319 15 1 the previous statement must be terminated with a semicolon.

-- case: delete_through_a_cte
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 1), (2, 1), (3, 2);
WITH d AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY v ORDER BY id) AS n FROM [$(s)].t) DELETE FROM d WHERE n > 1;
SELECT id FROM [$(s)].t ORDER BY id;
-- expect row: 1
-- expect row: 3

-- case: update_through_a_cte
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v INT);
INSERT [$(s)].t VALUES (1, 1), (2, 1), (3, 2);
WITH d AS (SELECT TOP (1) id, v FROM [$(s)].t ORDER BY id DESC) UPDATE d SET v = 9;
SELECT id, v FROM [$(s)].t ORDER BY id;
-- expect row: 1 | 1
-- expect row: 2 | 1
-- expect row: 3 | 9

-- case: insert_from_a_cte
CREATE TABLE [$(s)].t (id INT);
WITH a AS (SELECT 7 AS x) INSERT [$(s)].t (id) SELECT x FROM a;
SELECT id FROM [$(s)].t;
-- expect row: 7

-- case: columns_need_names
WITH a AS (SELECT 1) SELECT * FROM a;
-- expect error 8155 16 * No column name was specified for column 1 of 'a'.

-- case: the_column_list_must_fit
WITH a (p, q) AS (SELECT 1 AS x) SELECT * FROM a;
-- expect error 8159 16 1 'a' has fewer columns than were specified in the column list.

-- The recursive part ("WITH common_table_expression", guidelines for recursive common table expressions).

-- case: the_recursive_part_does_not_aggregate
WITH c AS (SELECT 1 AS n UNION ALL SELECT MAX(n) + 1 FROM c WHERE n < 3) SELECT n FROM c;
-- expect error 467 16 1 GROUP BY, HAVING, or aggregate functions are not allowed in the recursive part of a recursive common table expression 'c'.
GO
WITH c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 3 GROUP BY n) SELECT n FROM c;
-- expect error 467 16 1
GO
WITH c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < (SELECT MAX(x) FROM (VALUES (3)) AS v (x))) SELECT n FROM c;
-- expect error 467 16 1

-- case: the_recursive_part_has_no_distinct
WITH c AS (SELECT 1 AS n UNION ALL SELECT DISTINCT n + 1 FROM c WHERE n < 3) SELECT n FROM c;
-- expect error 460 16 1 DISTINCT operator is not allowed in the recursive part of a recursive common table expression 'c'.

-- case: the_recursive_part_has_no_top
WITH c AS (SELECT 1 AS n UNION ALL SELECT TOP (1) n + 1 FROM c WHERE n < 3) SELECT n FROM c;
-- expect error 461 16 1 The TOP or OFFSET operator is not allowed in the recursive part of a recursive common table expression 'c'.
GO
WITH c AS (SELECT 1 AS n UNION ALL SELECT x FROM c CROSS APPLY (SELECT TOP (1) n + 1 AS x FROM (VALUES (1)) AS v (y)) AS d WHERE n < 3) SELECT n FROM c;
-- expect error 461 16 1

-- case: the_recursive_part_has_no_outer_join
WITH c AS (SELECT 1 AS n UNION ALL SELECT c.n + 1 FROM (SELECT 1 AS x) AS z LEFT JOIN c ON 1 = 1 WHERE n < 3) SELECT n FROM c;
-- expect error 462 16 1 Outer join is not allowed in the recursive part of a recursive common table expression 'c'.

-- case: the_recursive_part_has_one_reference
WITH c AS (SELECT 1 AS n UNION ALL SELECT c.n + d.n FROM c JOIN c AS d ON 1 = 1 WHERE c.n < 3) SELECT n FROM c;
-- expect error 253 16 1 Recursive member of a common table expression 'c' has multiple recursive references.

-- case: the_reference_stands_in_no_subquery
CREATE TABLE [$(s)].t (a INT);
GO
WITH c AS (SELECT 1 AS n UNION ALL SELECT a FROM [$(s)].t WHERE EXISTS (SELECT 1 FROM c WHERE n < 3)) SELECT n FROM c;
-- expect error 465 16 1 Recursive references are not allowed in subqueries.

-- case: the_recursive_part_may_rank
WITH c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY n) AS r FROM c) AS d WHERE r = 1 AND n < 3) SELECT n FROM c ORDER BY n;
-- expect row: 1
-- expect row: 2
-- expect row: 3

-- case: the_anchor_may_aggregate
WITH c AS (SELECT TOP (1) COUNT(*) AS n FROM (VALUES (1)) AS v (x) UNION ALL SELECT n + 1 FROM c WHERE n < 2) SELECT DISTINCT n FROM c ORDER BY n;
-- expect row: 1
-- expect row: 2
