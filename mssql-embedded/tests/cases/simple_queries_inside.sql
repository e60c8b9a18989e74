-- A derived table, CTE or view that only picks columns and rows gives what it would give by itself, whatever is
-- joined to it and whatever names are used inside and outside.

-- case: the_same_table_inside_and_outside
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20), (3, 30);
SELECT t.id, d.a FROM [$(s)].t JOIN (SELECT id, a FROM [$(s)].t WHERE a > 10) AS d ON d.id = t.id ORDER BY t.id;
-- expect row: 2 | 20
-- expect row: 3 | 30

-- case: star_shows_each_column_once
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10);
SELECT * FROM (SELECT a, id FROM [$(s)].t) AS d (x, y) CROSS JOIN (SELECT id AS z FROM [$(s)].t) AS e;
-- expect columns: x int, y int, z int
-- expect row: 10 | 1 | 1

-- case: the_outer_side_of_a_join
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
CREATE TABLE [$(s)].u (id INT PRIMARY KEY, b INT NOT NULL);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
INSERT [$(s)].u VALUES (1, 5), (2, 6);
SELECT t.id, d.b FROM [$(s)].t LEFT JOIN (SELECT id, b FROM [$(s)].u WHERE b > 5) AS d ON d.id = t.id ORDER BY t.id;
SELECT t.id, d.b FROM (SELECT id, b FROM [$(s)].u WHERE b > 5) AS d FULL JOIN [$(s)].t ON d.id = t.id ORDER BY t.id;
SELECT t.id, d.b FROM [$(s)].t LEFT JOIN (SELECT id, b FROM [$(s)].u) AS d ON d.id = t.id AND d.b = 6 WHERE d.b IS NULL;
-- expect row: 1 | NULL
-- expect row: 2 | 6
-- expect set
-- expect row: 1 | NULL
-- expect row: 2 | 6
-- expect set
-- expect row: 1 | NULL

-- case: names_inside_are_not_seen_outside
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
GO
SELECT x.a FROM (SELECT x.id FROM [$(s)].t AS x) AS d;
-- expect error 4104 16 1 The multi-part identifier "x.a" could not be bound.
GO
SELECT a FROM (SELECT id FROM [$(s)].t) AS d;
-- expect error 207 16 1 Invalid column name 'a'.
GO
SELECT d.id FROM [$(s)].t AS o JOIN (SELECT id FROM [$(s)].t WHERE a = o.a) AS d ON 1 = 1;
-- expect error 4104 16 1 The multi-part identifier "o.a" could not be bound.

-- case: a_correlated_derived_table
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
SELECT id, (SELECT d.a FROM (SELECT a FROM [$(s)].t AS i WHERE i.id = o.id) AS d) AS a FROM [$(s)].t AS o ORDER BY id;
-- expect row: 1 | 10
-- expect row: 2 | 20

-- case: apply_reads_the_left_side
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20);
SELECT o.id, d.a FROM [$(s)].t AS o CROSS APPLY (SELECT i.a FROM [$(s)].t AS i WHERE i.id = o.id + 1) AS d;
-- expect row: 1 | 20

-- case: groups_over_a_view
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10), (2, 10), (3, 30);
GO
CREATE VIEW [$(s)].v (k, w) AS SELECT id, a FROM [$(s)].t WHERE a < 30;
GO
SELECT v.w, COUNT(*) AS n FROM [$(s)].v GROUP BY v.w;
SELECT k FROM [$(s)].v WHERE k = 2;
-- expect row: 10 | 2
-- expect set
-- expect row: 2
GO
SELECT w, COUNT(k) AS n FROM [$(s)].v;
-- expect error 8120 16 1

-- case: subqueries_inside
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, a INT);
INSERT [$(s)].t VALUES (1, 10), (2, 20), (3, 30);
WITH c AS (SELECT id, a FROM [$(s)].t AS x WHERE EXISTS (SELECT 1 FROM [$(s)].t AS y WHERE y.id = x.id + 1) AND id IN (1, 2, 3))
SELECT c.id FROM c WHERE c.id IN (SELECT id FROM c WHERE a > 10);
-- expect row: 2
