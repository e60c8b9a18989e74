-- A name may say which database it means. What it means there follows that database: its schemas, its users, its
-- settings. A procedure runs in its own database, wherever it was called from. The user of a login in one database
-- is nobody in another (916), and no ownership chain reaches across. An empty part stands for the default.

-- case: a_table_of_another_database
CREATE DATABASE [$(s)_other];
GO
-- on b
USE [$(s)_other];
CREATE TABLE dbo.t (id INT NOT NULL PRIMARY KEY, v INT NOT NULL CHECK (v < 100));
INSERT dbo.t VALUES (1, 10);
GO
SELECT id, v FROM [$(s)_other].dbo.t;
-- expect row: 1 | 10
GO
INSERT [$(s)_other].dbo.t VALUES (2, 20), (3, 30);
UPDATE [$(s)_other]..t SET v += 1 WHERE id = 1;
DELETE FROM [$(s)_other].dbo.t WHERE id = 3;
SELECT x.id, x.v FROM [$(s)_other]..t AS x ORDER BY x.id;
-- expect row: 1 | 11
-- expect row: 2 | 20
GO
INSERT [$(s)_other].dbo.t VALUES (4, 100);
-- expect error 547 16 0 The conflict occurred in database "$(s)_other", table "dbo.t"
GO
CREATE TABLE [$(s)].own (id INT NOT NULL);
INSERT [$(s)].own SELECT id FROM [$(s)_other].dbo.t;
SELECT COUNT(*) AS n FROM [$(s)].own AS o JOIN [$(s)_other].dbo.t ON [$(s)_other].dbo.t.id = o.id;
-- expect row: 2
GO
-- on b
USE master;
DROP DATABASE [$(s)_other];

-- case: a_transaction_over_two_databases
CREATE DATABASE [$(s)_other];
GO
-- on b
USE [$(s)_other];
CREATE TABLE dbo.t (id INT NOT NULL PRIMARY KEY);
GO
CREATE TABLE [$(s)].t (id INT NOT NULL PRIMARY KEY);
BEGIN TRAN;
INSERT [$(s)].t VALUES (1);
INSERT [$(s)_other].dbo.t VALUES (1);
ROLLBACK;
SELECT (SELECT COUNT(*) FROM [$(s)].t) + (SELECT COUNT(*) FROM [$(s)_other].dbo.t) AS n;
-- expect row: 0
GO
-- on b
USE master;
DROP DATABASE [$(s)_other];

-- case: a_missing_table_or_database
SELECT * FROM master.dbo.[$(s)_nope];
-- expect error 208 16 1 Invalid object name 'master.dbo.$(s)_nope'.
GO
SELECT * FROM [$(s)_nope].dbo.t;
-- expect error 208 16 1 Invalid object name '$(s)_nope.dbo.t'.
GO
INSERT [$(s)_nope].dbo.t VALUES (1);
-- expect error 208 16 1 Invalid object name '$(s)_nope.dbo.t'.

-- case: a_definition_changes_in_the_other_database
CREATE DATABASE [$(s)_other];
GO
-- on b
USE [$(s)_other];
CREATE TABLE dbo.t (a INT);
INSERT dbo.t VALUES (1);
GO
CREATE PROCEDURE [$(s)].p AS SELECT * FROM [$(s)_other].dbo.t;
GO
EXEC [$(s)].p;
-- expect columns: a int
-- expect row: 1
GO
-- on b
ALTER TABLE dbo.t ADD b INT;
GO
EXEC [$(s)].p;
-- expect columns: a int, b int
-- expect row: 1 | NULL
GO
-- on b
USE master;
DROP DATABASE [$(s)_other];

-- case: a_procedure_runs_in_its_own_database
CREATE DATABASE [$(s)_other];
GO
-- on b
USE [$(s)_other];
CREATE TABLE dbo.t (id INT NOT NULL);
GO
-- on b
CREATE PROCEDURE dbo.p @id INT AS
BEGIN
    INSERT t VALUES (@id);
    SELECT DB_NAME() AS d, COUNT(*) AS n FROM t;
    RETURN @id + 1;
END;
GO
EXEC [$(s)_other].dbo.p 5;
-- expect row: '$(s)_other' | 1
GO
DECLARE @status INT, @here NVARCHAR(128) = DB_NAME();
EXEC @status = [$(s)_other]..p @id = 6;
SELECT @status AS status, CASE WHEN DB_NAME() = @here THEN 'here' END AS still;
-- expect row: '$(s)_other' | 2
-- expect set
-- expect row: 7 | 'here'
GO
EXEC [$(s)_other].sys.sp_executesql N'SELECT DB_NAME() AS d';
-- expect row: '$(s)_other'
GO
EXEC [$(s)_other].dbo.nope;
-- expect error 2812 16 62 Could not find stored procedure '$(s)_other.dbo.nope'.
GO
-- on b
USE master;
DROP DATABASE [$(s)_other];

-- case: a_view_reads_its_own_database
CREATE DATABASE [$(s)_other];
GO
-- on b
USE [$(s)_other];
GO
-- on b
CREATE SCHEMA [far];
GO
-- on b
CREATE TABLE [far].t (id INT NOT NULL);
INSERT [far].t VALUES (9);
GO
-- on b
CREATE VIEW [far].v AS SELECT id FROM t;
GO
-- on b
CREATE VIEW [far].w AS SELECT MAX(id) AS id FROM t;
GO
SELECT v.id, w.id FROM [$(s)_other].[far].v CROSS JOIN [$(s)_other].[far].w AS w;
-- expect row: 9 | 9
GO
-- on b
USE master;
DROP DATABASE [$(s)_other];

-- case: system_views_show_the_database_they_are_asked_in
CREATE DATABASE [$(s)_other];
GO
-- on b
USE [$(s)_other];
CREATE TABLE dbo.[$(s)_lonely] (id INT NOT NULL);
GO
SELECT (SELECT COUNT(*) FROM sys.tables WHERE name = N'$(s)_lonely') AS here,
    (SELECT COUNT(*) FROM [$(s)_other].sys.tables WHERE name = N'$(s)_lonely') AS there,
    OBJECT_ID(N'dbo.[$(s)_lonely]') AS id_here,
    CASE WHEN OBJECT_ID(N'[$(s)_other].dbo.[$(s)_lonely]') IS NOT NULL THEN 1 END AS id_there;
-- expect row: 0 | 1 | NULL | 1
GO
-- on b
USE master;
DROP DATABASE [$(s)_other];

-- case: a_user_is_nobody_in_another_database
CREATE DATABASE [$(s)_other];
GO
-- on b
USE [$(s)_other];
CREATE TABLE dbo.t (id INT NOT NULL);
GO
-- on b
CREATE PROCEDURE dbo.p AS SELECT 1 AS one;
GO
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
CREATE PROCEDURE [$(s)].chained AS SELECT * FROM [$(s)_other].dbo.t;
GO
GRANT EXECUTE ON [$(s)].chained TO [$(s)_u];
EXECUTE AS USER = N'$(s)_u';
SELECT * FROM [$(s)_other].dbo.t;
-- expect error 916 14 * is not able to access the database "$(s)_other" under the current security context.
GO
INSERT [$(s)_other].dbo.t VALUES (1);
-- expect error 916 14 *
GO
EXEC [$(s)_other].dbo.p;
-- expect error 916 14 *
GO
EXEC [$(s)].chained;
-- expect error 916 14 *
GO
REVERT;
GO
-- on b
USE master;
DROP DATABASE [$(s)_other];

-- case: empty_parts_stand_for_the_default
CREATE TABLE dbo.[$(s)_t] (id INT NOT NULL);
INSERT ..[$(s)_t] VALUES (3);
GO
CREATE PROCEDURE dbo.[$(s)_p] AS SELECT id FROM ..[$(s)_t];
GO
EXEC ..[$(s)_p];
-- expect row: 3
GO
EXEC .[$(s)_p];
-- expect row: 3
GO
DROP PROCEDURE dbo.[$(s)_p];
DROP TABLE dbo.[$(s)_t];

-- case: names_in_a_procedure_mean_its_schema_first
CREATE TABLE dbo.[$(s)_t] (who VARCHAR(10) NOT NULL);
INSERT dbo.[$(s)_t] VALUES ('dbo');
CREATE TABLE [$(s)].[$(s)_t] (who VARCHAR(10) NOT NULL);
INSERT [$(s)].[$(s)_t] VALUES ('schema');
GO
CREATE PROCEDURE [$(s)].p AS SELECT who FROM [$(s)_t];
GO
EXEC [$(s)].p;
-- expect row: 'schema'
GO
SELECT who FROM [$(s)_t];
-- expect row: 'dbo'
GO
DROP TABLE dbo.[$(s)_t];

-- case: index_hints_follow_the_database_collation
CREATE DATABASE [$(s)_bin] COLLATE Latin1_General_100_BIN2;
GO
-- on b
USE [$(s)_bin];
CREATE TABLE dbo.t (a INT NOT NULL, b INT NOT NULL);
CREATE INDEX ix ON dbo.t (a);
CREATE INDEX IX ON dbo.t (b);
INSERT dbo.t VALUES (1, 2), (2, 1);
GO
-- on b
SELECT b FROM dbo.t WITH (INDEX(IX), FORCESEEK) WHERE b > 0 ORDER BY b;
-- expect row: 1
-- expect row: 2
GO
-- on b
SELECT b FROM dbo.t WITH (INDEX(Ix)) WHERE b > 0;
-- expect error 308 16 1 Index 'Ix' on table
GO
SELECT b FROM [$(s)_bin].dbo.t WITH (INDEX(Ix)) WHERE b > 0;
-- expect error 308 16 1 Index 'Ix' on table
GO
-- on b
USE master;
DROP DATABASE [$(s)_bin];

-- case: a_database_that_somebody_is_in_is_not_dropped
CREATE DATABASE [$(s)_used];
GO
-- on b
USE [$(s)_used];
GO
DROP DATABASE [$(s)_used];
-- expect error 3702 16 * Cannot drop database "$(s)_used" because it is currently in use.
GO
-- on b
USE master;
GO
DROP DATABASE [$(s)_used];
SELECT DB_ID(N'$(s)_used') AS id;
-- expect row: NULL
