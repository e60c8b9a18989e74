-- ROLLUP, CUBE and GROUPING SETS group the same rows several times; a key that a set leaves out is NULL in its
-- rows, and GROUPING tells such a NULL from one in the data.

-- case: rollup
SELECT g, h, SUM(v) AS s FROM (VALUES ('a', 1, 10), ('a', 2, 20), ('b', 1, 30)) t (g, h, v)
GROUP BY ROLLUP (g, h) ORDER BY GROUPING(g), g, GROUPING(h), h;
-- expect row: 'a' | 1 | 10
-- expect row: 'a' | 2 | 20
-- expect row: 'a' | NULL | 30
-- expect row: 'b' | 1 | 30
-- expect row: 'b' | NULL | 30
-- expect row: NULL | NULL | 60

-- case: with_rollup
SELECT g, COUNT(*) AS n FROM (VALUES ('a'), ('b'), ('a')) t (g) GROUP BY g WITH ROLLUP ORDER BY GROUPING(g), g;
-- expect row: 'a' | 2
-- expect row: 'b' | 1
-- expect row: NULL | 3

-- case: cube
SELECT g, h, COUNT(*) AS n FROM (VALUES ('a', 1), ('b', 1)) t (g, h) GROUP BY CUBE (g, h) ORDER BY GROUPING_ID(g, h), g, h;
-- expect row: 'a' | 1 | 1
-- expect row: 'b' | 1 | 1
-- expect row: 'a' | NULL | 1
-- expect row: 'b' | NULL | 1
-- expect row: NULL | 1 | 2
-- expect row: NULL | NULL | 2

-- case: grouping_sets
SELECT g, h, SUM(v) AS s FROM (VALUES ('a', 1, 10), ('b', 1, 20)) t (g, h, v)
GROUP BY GROUPING SETS ((g), (h), ()) ORDER BY GROUPING_ID(g, h), g;
-- expect row: 'a' | NULL | 10
-- expect row: 'b' | NULL | 20
-- expect row: NULL | 1 | 30
-- expect row: NULL | NULL | 30

-- case: grouping_tells_nulls_apart
SELECT g, GROUPING(g) AS total, COUNT(*) AS n FROM (VALUES ('a'), (NULL)) t (g) GROUP BY ROLLUP (g) ORDER BY total, g;
-- expect columns: g varchar, total tinyint, n int
-- expect row: NULL | 0 | 1
-- expect row: 'a' | 0 | 1
-- expect row: NULL | 1 | 2

-- case: grouping_id_is_a_number_of_bits
SELECT GROUPING_ID(g, h) AS id, COUNT(*) AS n FROM (VALUES ('a', 1)) t (g, h) GROUP BY ROLLUP (g, h) ORDER BY id;
-- expect columns: id int, n int
-- expect row: 0 | 1
-- expect row: 1 | 1
-- expect row: 3 | 1

-- case: having_over_totals
SELECT g, SUM(v) AS s FROM (VALUES ('a', 1), ('b', 5)) t (g, v) GROUP BY ROLLUP (g) HAVING SUM(v) > 1 AND GROUPING(g) = 1;
-- expect row: NULL | 6

-- case: grouping_of_what_is_no_key
SELECT g, GROUPING(h) AS x FROM (VALUES ('a', 1)) t (g, h) GROUP BY g;
-- expect error 8161 16 1 Argument 1 of the GROUPING function does not match any of the expressions in the GROUP BY clause.

-- "The maximum number of groups is 4,096 (2^12)" and "the maximum number of expressions is 32" (GROUP BY): 10703 and
-- 10706 of sys.messages, whether the sets are written out or not.
-- case: more_than_4096_sets
SELECT COUNT(*) AS n FROM (VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13) GROUP BY CUBE (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13);
-- expect error 10703 15 * Too many grouping sets. The maximum number is 4096.
GO
SELECT COUNT(*) AS n FROM (VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13) GROUP BY c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13 WITH CUBE;
-- expect error 10703 15 *
GO
SELECT COUNT(*) AS n FROM (VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14) GROUP BY CUBE (c1, c2, c3, c4, c5, c6, c7), CUBE (c8, c9, c10, c11, c12, c13, c14);
-- expect error 10703 15 *
GO
SELECT COUNT(*) AS n FROM (VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12) GROUP BY GROUPING SETS (CUBE (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12), ());
-- expect error 10703 15 *

-- case: more_than_32_expressions_in_sets
SELECT COUNT(*) AS n FROM (VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33) GROUP BY ROLLUP (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33);
-- expect error 10706 15 * Too many expressions are specified in the GROUP BY clause. The maximum number is 32 when grouping sets are supplied.
GO
SELECT COUNT(*) AS n FROM (VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33) GROUP BY c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33 WITH ROLLUP;
-- expect error 10706 15 *
GO
SELECT COUNT(*) AS n FROM (VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33) GROUP BY GROUPING SETS ((c1), (c2), (c3), (c4), (c5), (c6), (c7), (c8), (c9), (c10), (c11), (c12), (c13), (c14), (c15), (c16), (c17), (c18), (c19), (c20), (c21), (c22), (c23), (c24), (c25), (c26), (c27), (c28), (c29), (c30), (c31), (c32), (c33));
-- expect error 10706 15 *
GO
SELECT COUNT(*) AS n FROM (SELECT COUNT(*) AS n FROM (VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)) t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32) GROUP BY ROLLUP (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32)) s;
-- expect columns: n int
-- expect row: 33

-- case: too_many_keys
SELECT COUNT(*) AS n FROM (VALUES (1)) t (a)
GROUP BY ROLLUP (a, a+1, a+2, a+3, a+4, a+5, a+6, a+7, a+8, a+9, a+10, a+11, a+12, a+13, a+14, a+15, a+16,
                 a+17, a+18, a+19, a+20, a+21, a+22, a+23, a+24, a+25, a+26, a+27, a+28, a+29, a+30, a+31, a+32);
-- expect error 10706 15 * Too many expressions are specified in the GROUP BY clause. The maximum number is 32 when grouping sets are supplied.

-- case: grouping_id_of_31_keys
SELECT GROUPING_ID(a, a+1, a+2, a+3, a+4, a+5, a+6, a+7, a+8, a+9, a+10, a+11, a+12, a+13, a+14, a+15,
                   a+16, a+17, a+18, a+19, a+20, a+21, a+22, a+23, a+24, a+25, a+26, a+27, a+28, a+29, a+30) AS id
FROM (VALUES (1)) t (a)
GROUP BY GROUPING SETS ((a, a+1, a+2, a+3, a+4, a+5, a+6, a+7, a+8, a+9, a+10, a+11, a+12, a+13, a+14, a+15,
                   a+16, a+17, a+18, a+19, a+20, a+21, a+22, a+23, a+24, a+25, a+26, a+27, a+28, a+29, a+30), ())
ORDER BY id;
-- expect columns: id int
-- expect row: 0
-- expect row: 2147483647
