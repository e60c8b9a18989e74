-- The default collation ignores case and minds accents. Trailing spaces never count in =, in keys, in
-- GROUP BY or in joins, not even under a binary collation: the shorter string is padded with spaces.

-- case: trailing_spaces_are_equal
SELECT CASE WHEN 'abc' = 'abc   ' THEN 1 ELSE 0 END AS a,
       CASE WHEN N'abc' = N'abc   ' THEN 1 ELSE 0 END AS b,
       CASE WHEN '' = '  ' THEN 1 ELSE 0 END AS c,
       CASE WHEN 'abc' = ' abc' THEN 1 ELSE 0 END AS d;
-- expect row: 1 | 1 | 1 | 0

-- case: trailing_spaces_are_equal_in_bin2_too
SELECT CASE WHEN N'a' COLLATE Latin1_General_100_BIN2 = N'a ' THEN 1 ELSE 0 END AS a;
-- expect row: 1

-- case: case_is_ignored_by_default
SELECT CASE WHEN 'ABC' = 'abc' THEN 1 ELSE 0 END AS a,
       CASE WHEN 'ABC' COLLATE Latin1_General_BIN2 = 'abc' THEN 1 ELSE 0 END AS b,
       CASE WHEN 'ABC' COLLATE Latin1_General_CS_AS = 'abc' THEN 1 ELSE 0 END AS c;
-- expect row: 1 | 0 | 0

-- case: accents_are_minded
SELECT CASE WHEN N'e' = N'é' THEN 1 ELSE 0 END AS a, CASE WHEN N'É' = N'é' THEN 1 ELSE 0 END AS b;
-- expect row: 0 | 1

-- case: a_primary_key_folds_case_and_trailing_spaces
CREATE TABLE [$(s)].t (a NVARCHAR(10) NOT NULL CONSTRAINT pk_t PRIMARY KEY);
INSERT [$(s)].t VALUES (N'a');
GO
INSERT [$(s)].t VALUES (N'A');
-- expect error 2627 14 1 The duplicate key value is (A).
GO
INSERT [$(s)].t VALUES (N'a ');
-- expect error 2627 14 1 Violation of PRIMARY KEY constraint 'pk_t'.

-- case: a_bin2_key_minds_case_and_folds_trailing_spaces
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT pk_t PRIMARY KEY);
INSERT [$(s)].t VALUES (N'a'), (N'A');
GO
INSERT [$(s)].t VALUES (N'a  ');
-- expect error 2627 14 1
GO
SELECT a FROM [$(s)].t ORDER BY a;
-- expect row: 'A'
-- expect row: 'a'

-- case: group_by_folds_case_and_trailing_spaces
SELECT COUNT(*) AS n FROM (VALUES ('a'), ('A'), ('a '), ('b')) v(x) GROUP BY x ORDER BY n;
-- expect row: 1
-- expect row: 3

-- case: distinct_folds_case
SELECT COUNT(DISTINCT x) AS n FROM (VALUES (N'a'), (N'A'), (N'B')) v(x);
-- expect row: 2

-- case: order_by_follows_the_collation
SELECT x FROM (VALUES ('b'), ('A'), ('a'), ('B'), ('c')) v(x) ORDER BY x COLLATE Latin1_General_BIN2;
-- expect row: 'A'
-- expect row: 'B'
-- expect row: 'a'
-- expect row: 'b'
-- expect row: 'c'

-- case: words_sort_without_regard_to_case
SELECT x FROM (VALUES ('banana'), ('Apple'), ('cherry'), ('Date')) v(x) ORDER BY x;
-- expect row: 'Apple'
-- expect row: 'banana'
-- expect row: 'cherry'
-- expect row: 'Date'

-- case: like_ignores_case_by_default
SELECT CASE WHEN 'ABC' LIKE 'a%' THEN 1 ELSE 0 END AS a,
       CASE WHEN 'ABC' COLLATE Latin1_General_BIN2 LIKE 'a%' THEN 1 ELSE 0 END AS b;
-- expect row: 1 | 0

-- case: two_explicit_collations_conflict
SELECT 1 AS a WHERE 'a' COLLATE Latin1_General_BIN2 = 'a' COLLATE Latin1_General_CS_AS;
-- expect error 468 16 * Cannot resolve the collation conflict between

-- case: two_column_collations_conflict
CREATE TABLE [$(s)].t (a VARCHAR(10) COLLATE Latin1_General_BIN2, b VARCHAR(10) COLLATE Latin1_General_CS_AS);
GO
SELECT 1 AS x FROM [$(s)].t WHERE a = b;
-- expect error 468 16 * Cannot resolve the collation conflict between

-- case: a_column_collation_wins_over_a_literal
CREATE TABLE [$(s)].t (a VARCHAR(10) COLLATE Latin1_General_BIN2);
INSERT [$(s)].t VALUES ('x');
SELECT COUNT(*) AS n FROM [$(s)].t WHERE a = 'X';
-- expect row: 0

-- case: an_unknown_collation_is_refused
SELECT 'a' COLLATE No_Such_Collation AS a;
-- expect error 448 16 * Invalid collation 'No_Such_Collation'.

-- case: joins_fold_trailing_spaces
SELECT a.x + '|' AS x FROM (VALUES ('k ')) a(x) JOIN (VALUES ('K')) b(y) ON a.x = b.y;
-- expect row: 'k |'

-- case: identifiers_follow_the_database_collation
CREATE TABLE [$(s)].MixedCase (SomeColumn INT);
INSERT [$(s)].mixedcase (somecolumn) VALUES (1);
SELECT SOMECOLUMN FROM [$(s)].MIXEDCASE;
-- expect columns: SOMECOLUMN int
-- expect row: 1
