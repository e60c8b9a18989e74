-- Which collation a text has when texts of two collations meet: "Collation Precedence (Transact-SQL)". COLLATE is
-- explicit, a column is implicit, literals, variables and what is computed from other than texts give way. A function,
-- CASE or CAST passes on the label of its text. Two columns that disagree leave no collation: comparing refuses that at
-- once (468), joining texts refuses it where a collation is needed. Wording and states of 451 are those of real servers
-- (microsoft/mssql-jdbc pull 2867, dbt-msft/dbt-sqlserver issue 85, microsoft/tigertoolbox issue 175), of 446 those of
-- Straight-Path-Solutions/sp_CheckBackup issue 1, of 457 those of darwin-eu/CodelistGenerator issue 222; 4191 and which
-- set operators answer 468 are from published captures of SQL Server's answers. A statement is refused when it is
-- compiled, so no row is needed.

-- case: union_all_of_two_column_collations_is_refused
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
GO
SELECT 1 AS n, a FROM [$(s)].t UNION ALL SELECT 2, b FROM [$(s)].t;
-- expect error 451 16 1 Cannot resolve collation conflict between "SQL_Latin1_General_CP1_CI_AS" and "Latin1_General_100_BIN2" in UNION ALL operator occurring in SELECT statement column 2.

-- case: set_operators_that_compare_refuse_two_column_collations
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
GO
SELECT a FROM [$(s)].t UNION SELECT b FROM [$(s)].t;
-- expect error 468 16 9 Cannot resolve the collation conflict between "SQL_Latin1_General_CP1_CI_AS" and "Latin1_General_100_BIN2" in the UNION operation.
GO
SELECT a FROM [$(s)].t EXCEPT SELECT b FROM [$(s)].t;
-- expect error 468 16 9 in the EXCEPT operation.
GO
SELECT a FROM [$(s)].t INTERSECT SELECT b FROM [$(s)].t;
-- expect error 468 16 9 in the INTERSECT operation.

-- case: a_view_is_refused_when_it_is_created
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
GO
CREATE VIEW [$(s)].v AS SELECT a AS x FROM [$(s)].t UNION ALL SELECT b FROM [$(s)].t;
-- expect error 451 16 1 in UNION ALL operator occurring in
GO
SELECT COUNT(*) AS n FROM sys.views WHERE schema_id = SCHEMA_ID(N'$(s)');
-- expect row: 0

-- case: a_procedure_is_refused_when_it_is_created
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
GO
CREATE PROCEDURE [$(s)].p AS SELECT a AS x FROM [$(s)].t UNION ALL SELECT b FROM [$(s)].t;
-- expect error 451 16 1 in UNION ALL operator occurring in SELECT statement column 1.

-- case: functions_pass_on_the_label_of_their_text
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(4000));
GO
SELECT a FROM [$(s)].t UNION ALL SELECT JSON_VALUE(b, '$.x') FROM [$(s)].t;
-- expect error 451 16 1
GO
SELECT LEFT(a, 1) FROM [$(s)].t UNION ALL SELECT UPPER(SUBSTRING(b, 1, 2)) FROM [$(s)].t;
-- expect error 451 16 1
GO
SELECT REPLACE(a, N'x', N'y') FROM [$(s)].t UNION ALL SELECT CONCAT(b, N'-', 1) FROM [$(s)].t;
-- expect error 451 16 1
GO
SELECT a + N'x' FROM [$(s)].t UNION ALL SELECT CAST(b AS NVARCHAR(20)) FROM [$(s)].t;
-- expect error 451 16 1
GO
SELECT MAX(a) FROM [$(s)].t UNION ALL SELECT MAX(b) FROM [$(s)].t;
-- expect error 451 16 1

-- case: conditional_expressions_pass_on_the_label_of_their_text
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
GO
SELECT a FROM [$(s)].t UNION ALL SELECT CASE WHEN 1 = 1 THEN b END FROM [$(s)].t;
-- expect error 451 16 1
GO
SELECT COALESCE(a, N'') FROM [$(s)].t UNION ALL SELECT COALESCE(b, N'') FROM [$(s)].t;
-- expect error 451 16 1
GO
SELECT ISNULL(a, N'') FROM [$(s)].t UNION ALL SELECT NULLIF(b, N'') FROM [$(s)].t;
-- expect error 451 16 1
GO
SELECT IIF(1 = 0, a, N'') FROM [$(s)].t UNION ALL SELECT (SELECT b) FROM [$(s)].t;
-- expect error 451 16 1

-- case: literals_variables_nulls_and_numbers_give_way
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, n INT);
INSERT [$(s)].t VALUES (N'a', 7);
DECLARE @v NVARCHAR(10) = N'v';
SELECT x FROM (SELECT a AS x FROM [$(s)].t UNION ALL SELECT N'l' UNION ALL SELECT @v UNION ALL SELECT NULL
               UNION ALL SELECT CAST(n AS NVARCHAR(10)) FROM [$(s)].t UNION ALL SELECT N'A') AS d
ORDER BY x;
-- expect row: NULL
-- expect row: '7'
-- expect row: 'A'
-- expect row: 'a'
-- expect row: 'l'
-- expect row: 'v'

-- case: an_explicit_collation_settles_a_set_operator
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
INSERT [$(s)].t VALUES (N'x', N'X');
GO
SELECT a COLLATE DATABASE_DEFAULT AS x FROM [$(s)].t UNION SELECT b FROM [$(s)].t;
-- expect row: *
GO
SELECT a AS x FROM [$(s)].t UNION ALL SELECT b FROM [$(s)].t UNION ALL SELECT N'y' COLLATE Latin1_General_100_BIN2
ORDER BY x;
-- expect row: 'X'
-- expect row: 'x'
-- expect row: 'y'

-- case: two_explicit_collations_conflict_in_a_set_operator
SELECT N'a' COLLATE Latin1_General_100_BIN2 AS x UNION ALL SELECT N'a' COLLATE Latin1_General_CS_AS;
-- expect error 468 16 9 in the UNION ALL operation.

-- case: columns_of_derived_tables_keep_the_label_of_their_expression
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
INSERT [$(s)].t VALUES (N'x', N'x');
GO
SELECT COUNT(*) AS n FROM [$(s)].t JOIN (SELECT N'x' AS l) AS d ON d.l = a;
-- expect row: 1
GO
SELECT 1 AS n FROM [$(s)].t JOIN (SELECT UPPER(b) AS u FROM [$(s)].t) AS d ON d.u = a;
-- expect error 468 16 9 Cannot resolve the collation conflict between "Latin1_General_100_BIN2" and "SQL_Latin1_General_CP1_CI_AS" in the equal to operation.
GO
SELECT 1 AS n FROM [$(s)].t WHERE a = (SELECT MAX(b) FROM [$(s)].t);
-- expect error 468 16 9
GO
SELECT 1 AS n FROM [$(s)].t WHERE a IN (SELECT LEFT(b, 1) FROM [$(s)].t);
-- expect error 468 16 9
GO
SELECT 1 AS n FROM [$(s)].t WHERE a LIKE b;
-- expect error 468 16 9 in the like operation.

-- case: a_conflict_that_no_collation_is_needed_for_travels
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
CREATE TABLE [$(s)].r (x NVARCHAR(20));
INSERT [$(s)].t VALUES (N'x', N'y');
GO
INSERT [$(s)].r SELECT a + b FROM [$(s)].t;
INSERT [$(s)].r SELECT a FROM [$(s)].t UNION ALL SELECT b FROM [$(s)].t;
DECLARE @v NVARCHAR(20);
SELECT @v = a + b FROM [$(s)].t;
SELECT COUNT(*) AS n, @v AS v FROM [$(s)].r;
-- expect row: 3 | 'xy'
GO
SELECT COUNT(*) AS n FROM (SELECT a + b AS x FROM [$(s)].t) AS d;
-- expect row: 1
GO
SELECT (a + b) COLLATE Latin1_General_100_BIN2 AS x FROM [$(s)].t;
-- expect row: 'xy'
GO
SELECT DATALENGTH(a + b) AS n FROM [$(s)].t;
-- expect row: 4

-- case: a_conflict_is_refused_where_a_collation_is_needed
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
GO
SELECT a + b AS x FROM [$(s)].t;
-- expect error 451 16 1 Cannot resolve collation conflict between "SQL_Latin1_General_CP1_CI_AS" and "Latin1_General_100_BIN2" in add operator occurring in SELECT statement column 1.
GO
SELECT 1 AS n, CASE WHEN 1 = 1 THEN a ELSE b END AS x FROM [$(s)].t;
-- expect error 451 16 1 in CASE operator occurring in SELECT statement column 2.
GO
SELECT COALESCE(a, b) AS x FROM [$(s)].t;
-- expect error 451 16 1 in CASE operator occurring in SELECT statement column 1.
GO
SELECT x FROM (SELECT CONCAT(a, b) AS x FROM [$(s)].t) AS d;
-- expect error 451 16 1 in concat operator occurring in SELECT statement column 1.
GO
SELECT 1 AS n FROM [$(s)].t ORDER BY a + b;
-- expect error 451 16 1 in add operator occurring in ORDER BY statement column 1.
GO
SELECT DISTINCT a + b AS x FROM [$(s)].t;
-- expect error 446 16 11 in add operator for DISTINCT operation.
GO
SELECT LEN(a + b) AS n FROM [$(s)].t;
-- expect error 4191 16 9 Cannot resolve collation conflict for len operation.
GO
SELECT 1 AS n FROM [$(s)].t WHERE a + b = N'x';
-- expect error 4191 16 9 Cannot resolve collation conflict for equal to operation.
GO
SELECT REPLACE(a, b, N'') AS x FROM [$(s)].t;
-- expect error 468 16 9 in the replace operation.

-- case: varchar_has_a_code_page_and_is_refused_where_it_is_joined
CREATE TABLE [$(s)].t (a VARCHAR(10) COLLATE Latin1_General_100_BIN2, b VARCHAR(10));
GO
SELECT a + b AS x FROM [$(s)].t;
-- expect error 457 16 1 Implicit conversion of varchar value to varchar cannot be performed because the collation of the value is unresolved due to a collation conflict between "SQL_Latin1_General_CP1_CI_AS" and "Latin1_General_100_BIN2" in add operator.
GO
SELECT a AS x FROM [$(s)].t UNION ALL SELECT b FROM [$(s)].t;
-- expect error 457 16 1 in UNION ALL operator.

-- case: isnull_takes_the_collation_of_its_first_argument
CREATE TABLE [$(s)].t (a NVARCHAR(10) COLLATE Latin1_General_100_BIN2, b NVARCHAR(10));
INSERT [$(s)].t VALUES (NULL, N'x');
SELECT COUNT(*) AS n FROM [$(s)].t WHERE ISNULL(a, b) = N'X';
SELECT COUNT(*) AS n FROM [$(s)].t WHERE ISNULL(b, a) = N'X';
-- expect row: 0
-- expect set
-- expect row: 1

-- case: collate_cannot_be_repeated_with_another_collation
SELECT 1 AS n WHERE N'a' = (N'abc' COLLATE Latin1_General_CI_AS) COLLATE Latin1_General_CS_AS;
-- expect error 449 16 * Collation conflict caused by collate clauses with different collation 'Latin1_General_CI_AS' and 'Latin1_General_CS_AS'.

-- case: json_functions_compare_like_their_input
CREATE TABLE [$(s)].t (a NVARCHAR(100) COLLATE Latin1_General_100_BIN2);
INSERT [$(s)].t VALUES (N'{"k":"v"}');
SELECT COUNT(*) AS n FROM [$(s)].t WHERE JSON_VALUE(a, '$.k') = N'V';
SELECT COUNT(*) AS n FROM [$(s)].t WHERE JSON_VALUE(a COLLATE DATABASE_DEFAULT, '$.k') = N'V';
-- expect row: 0
-- expect set
-- expect row: 1
