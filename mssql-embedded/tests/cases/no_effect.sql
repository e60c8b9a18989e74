-- Options that concern how SQL Server stores, builds or plans, and never what a client sees. They are accepted,
-- their values are checked, and results are the same with and without them.

-- case: query_hints_of_plans
CREATE TABLE [$(s)].t (a INT, b INT);
INSERT [$(s)].t VALUES (1, 2), (3, 4);
DECLARE @x INT = 3;
SELECT t.a FROM [$(s)].t AS t INNER LOOP JOIN [$(s)].t AS u ON u.a = t.a WHERE t.a = @x
OPTION (RECOMPILE, MAXDOP 1, OPTIMIZE FOR (@x = 1), FAST 10, KEEPFIXED PLAN);
-- expect row: 3
GO
SELECT a, COUNT(*) FROM [$(s)].t GROUP BY a ORDER BY a OPTION (HASH GROUP, FORCE ORDER, OPTIMIZE FOR UNKNOWN);
-- expect row: 1 | 1
-- expect row: 3 | 1

-- case: storage_options_of_indexes
CREATE TABLE [$(s)].t (a INT NOT NULL, b INT, CONSTRAINT pk PRIMARY KEY (a) WITH (FILLFACTOR = 90, PAD_INDEX = ON)) ON [PRIMARY] WITH (DATA_COMPRESSION = PAGE);
CREATE INDEX ix ON [$(s)].t (b) WITH (FILLFACTOR = 80, SORT_IN_TEMPDB = ON, STATISTICS_NORECOMPUTE = OFF, OPTIMIZE_FOR_SEQUENTIAL_KEY = ON, MAXDOP = 1, DROP_EXISTING = OFF);
SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID(N'[$(s)].t') ORDER BY index_id;
-- expect row: 'pk'
-- expect row: 'ix'

-- case: values_of_index_options_are_checked
CREATE TABLE [$(s)].t (a INT);
GO
CREATE INDEX ix ON [$(s)].t (a) WITH (PAD_INDEX = MAYBE);
-- expect error 102 15 *
GO
CREATE INDEX ix ON [$(s)].t (a) WITH (FILLFACTOR = ON);
-- expect error 156 15 *
GO
CREATE INDEX ix ON [$(s)].t (a) WITH (NO_SUCH_OPTION = ON);
-- expect error 155 15 *

-- case: recompile_of_procedures
CREATE PROCEDURE [$(s)].p @a INT WITH RECOMPILE AS SELECT @a;
GO
EXEC [$(s)].p 1 WITH RECOMPILE;
-- expect row: 1

-- case: settings_that_are_so_already
SET ANSI_NULLS, ANSI_WARNINGS, ANSI_PADDING, CONCAT_NULL_YIELDS_NULL, ARITHABORT ON;
SET NUMERIC_ROUNDABORT, CURSOR_CLOSE_ON_COMMIT, ARITHIGNORE OFF;
SET STATISTICS IO, TIME OFF;
SET TEXTSIZE 2147483647;
SET LANGUAGE us_english;
SET DATEFORMAT mdy;
SELECT 1;
-- expect row: 1

-- case: raiserror_with_log_needs_an_administrator
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
EXECUTE AS USER = N'$(s)_u';
RAISERROR (N'x', 10, 1) WITH LOG;
REVERT;
-- expect error 2778 16 1 Only System Administrator can specify WITH LOG option for RAISERROR command.
GO
RAISERROR (N'x', 19, 1);
-- expect error 2754 16 1 Error severity levels greater than 18 can only be specified by members of the sysadmin role, using the WITH LOG option.
GO
RAISERROR (N'logged', 19, 2) WITH LOG;
SELECT 1;
-- expect error 50000 19 2 logged
-- expect row: 1

-- case: fatal_errors_end_the_connection
-- on x
RAISERROR (N'fatal', 20, 3) WITH LOG;
-- expect error 2745 16 2 has raised user error 50000, severity 20. SQL Server is terminating this process.
-- expect error 50000 20 3 fatal
-- expect error 596 21 1
