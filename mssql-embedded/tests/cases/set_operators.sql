-- UNION, EXCEPT and INTERSECT remove duplicates; only UNION ALL keeps them. INTERSECT binds tighter. Names
-- come from the first query, types from all of them.

-- case: union_and_union_all
SELECT x FROM (VALUES (1), (1)) a(x) UNION SELECT 2 ORDER BY x;
SELECT COUNT(*) AS n FROM (SELECT 1 AS x UNION ALL SELECT 1) d;
-- expect row: 1
-- expect row: 2
-- expect set
-- expect row: 2

-- case: except_and_intersect
SELECT x FROM (VALUES (1), (2), (2), (3)) a(x) EXCEPT SELECT 3 ORDER BY x;
SELECT x FROM (VALUES (1), (2), (2)) a(x) INTERSECT SELECT 2;
-- expect row: 1
-- expect row: 2
-- expect set
-- expect row: 2

-- case: intersect_binds_tighter
SELECT 1 AS x UNION SELECT 2 INTERSECT SELECT 3;
-- expect row: 1

-- case: parentheses_group
(SELECT 1 AS x UNION SELECT 2) INTERSECT SELECT 2;
-- expect row: 2

-- case: names_come_from_the_first
SELECT 1 AS a UNION SELECT 2 AS b ORDER BY a;
-- expect columns: a int
-- expect row: 1
-- expect row: 2

-- case: column_counts_must_agree
SELECT 1 AS a UNION SELECT 1, 2;
-- expect error 205 16 1 All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.

-- case: types_are_reconciled
SELECT 1 AS a UNION ALL SELECT 'x';
-- expect error 245 16 1 Conversion failed when converting the varchar value 'x' to data type int.

-- case: text_is_widened
SELECT 'a' AS x UNION ALL SELECT N'bcd' ORDER BY x;
-- expect columns: x nvarchar
-- expect row: 'a'
-- expect row: 'bcd'

-- case: order_by_must_be_in_the_list
SELECT 1 AS a UNION SELECT 2 ORDER BY a + 1;
-- expect error 104 16 1 ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.
