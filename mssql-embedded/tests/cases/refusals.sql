-- What SQL Server does and the embedded engine refuses by name, because it could only pretend. Each case shows
-- the answer of SQL Server that pretending would miss.

-- case: ansi_warnings_off_cuts_silently
-- embedded refuses SET ANSI_WARNINGS OFF
CREATE TABLE [$(s)].t (a VARCHAR(2));
GO
SET ANSI_WARNINGS OFF;
INSERT [$(s)].t VALUES ('abc');
SELECT a FROM [$(s)].t;
-- expect row: 'ab'

-- case: arithabort_off_gives_null
-- embedded refuses SET ARITHABORT OFF
SET ARITHABORT OFF;
SET ANSI_WARNINGS OFF;
SELECT 1 / 0;
-- expect row: NULL

-- case: concat_null_yields_null_off
-- embedded refuses SET CONCAT_NULL_YIELDS_NULL OFF
SET CONCAT_NULL_YIELDS_NULL OFF;
GO
DECLARE @n VARCHAR(5);
SELECT 'a' + @n;
-- expect row: 'a'

-- case: ansi_padding_off_trims
-- embedded refuses SET ANSI_PADDING OFF
SET ANSI_PADDING OFF;
GO
CREATE TABLE [$(s)].t (a VARCHAR(5));
INSERT [$(s)].t VALUES ('a  ');
SELECT DATALENGTH(a) FROM [$(s)].t;
-- expect row: 1

-- case: numeric_roundabort_on
-- embedded refuses SET NUMERIC_ROUNDABORT ON
SET NUMERIC_ROUNDABORT ON;
GO
SELECT CAST(1.55 AS DECIMAL(3, 1));
-- expect error 8115 16 7 Arithmetic overflow error converting numeric to data type numeric.

-- case: ansi_defaults_on_begins_transactions
-- embedded refuses SET ANSI_DEFAULTS ON
CREATE TABLE [$(s)].t (a INT);
SET ANSI_DEFAULTS ON;
INSERT [$(s)].t VALUES (1);
SELECT @@TRANCOUNT;
ROLLBACK;
-- expect row: 1

-- case: statistics_io_on_sends_figures
-- embedded refuses SET STATISTICS IO ON
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
SET STATISTICS IO ON;
SELECT a FROM [$(s)].t;
-- expect row: 1
-- expect info Table 't'. Scan count

-- case: applock_for_a_principal
-- embedded refuses @DbPrincipal
DECLARE @rc INT;
EXEC @rc = sp_getapplock @Resource = N'$(s)', @LockMode = N'Shared', @LockOwner = N'Session', @DbPrincipal = N'dbo';
SELECT @rc;
-- expect row: 0

-- case: paglock_locks_neighbours
-- embedded refuses PAGLOCK
CREATE TABLE [$(s)].t (id INT PRIMARY KEY);
INSERT [$(s)].t VALUES (1), (2);
BEGIN TRAN;
SELECT id FROM [$(s)].t WITH (PAGLOCK, XLOCK) WHERE id = 1;
-- expect row: 1
GO
-- on b
SET LOCK_TIMEOUT 0;
SELECT id FROM [$(s)].t WITH (READCOMMITTEDLOCK) WHERE id = 2;
-- expect error 1222 16 *
GO
ROLLBACK;

-- case: drop_existing_needs_an_index
-- embedded refuses DROP_EXISTING = ON
CREATE TABLE [$(s)].t (a INT);
CREATE INDEX ix ON [$(s)].t (a) WITH (DROP_EXISTING = ON);
-- expect error 7999 16 9 Could not find any index named 'ix' for table '$(s).t'.

-- case: transaction_mark
-- embedded refuses BEGIN TRANSACTION WITH MARK
BEGIN TRAN m WITH MARK N'a mark';
SELECT @@TRANCOUNT;
COMMIT;
-- expect row: 1

-- case: password_policy
-- embedded refuses CHECK_POLICY = ON
CREATE LOGIN [$(s)_l] WITH PASSWORD = N'abc', CHECK_POLICY = ON;
-- expect error 15118 16 1 Password validation failed.

-- case: login_from_windows
-- embedded refuses CREATE LOGIN … FROM
CREATE LOGIN [$(s)_l] FROM WINDOWS;
-- expect error 15407 16 1 is not a valid Windows NT name.

-- case: unknown_login_option
-- embedded refuses the login option SID
CREATE LOGIN [$(s)_l] WITH PASSWORD = N'R1ght-password', SID = 0x241C11948AEEB749B0D22646DB1A19F2, CHECK_POLICY = OFF;
SELECT SUSER_SNAME(0x241C11948AEEB749B0D22646DB1A19F2);
-- expect row: '$(s)_l'

-- case: grant_option
-- embedded refuses WITH GRANT OPTION
CREATE ROLE [$(s)_r];
GRANT EXECUTE ON SCHEMA::[$(s)] TO [$(s)_r] WITH GRANT OPTION;
SELECT state FROM sys.database_permissions WHERE grantee_principal_id = USER_ID(N'$(s)_r');
-- expect row: 'W'

-- case: result_sets
-- embedded refuses WITH RESULT SETS
EXEC (N'SELECT 1 AS a') WITH RESULT SETS ((b BIGINT));
-- expect columns: b bigint
-- expect row: 1

-- case: sql_variant_property_names_the_type_of_a_literal
-- embedded refuses function SQL_VARIANT_PROPERTY
SELECT CAST(SQL_VARIANT_PROPERTY(1.5, 'BaseType') AS NVARCHAR(20));
-- expect row: 'numeric'

-- case: use_hint
-- embedded refuses the query hint USE
SELECT 1 AS a OPTION (USE HINT ('NO_SUCH_HINT'));
-- expect error 10715 15 1

-- case: waitfor_time
-- embedded refuses WAITFOR TIME
DECLARE @t DATETIME = DATEADD(SECOND, 1, GETDATE());
WAITFOR TIME @t;
SELECT CASE WHEN GETDATE() >= @t THEN 1 ELSE 0 END;
-- expect row: 1

-- case: language
-- embedded refuses SET LANGUAGE
SET LANGUAGE Deutsch;
SELECT DATENAME(MONTH, '20240301');
-- expect row: 'März'

-- case: dateformat
-- embedded refuses SET DATEFORMAT
SET DATEFORMAT dmy;
SELECT MONTH(CAST('02/03/2024' AS DATETIME));
-- expect row: 3

-- case: view_schemabinding
-- embedded refuses CREATE VIEW … WITH
CREATE TABLE [$(s)].t (a INT);
GO
CREATE VIEW [$(s)].v WITH SCHEMABINDING AS SELECT a FROM [$(s)].t;
GO
DROP TABLE [$(s)].t;
-- expect error 3729 16 1

-- case: sparse_columns
-- embedded refuses SPARSE
CREATE TABLE [$(s)].t (a INT SPARSE NULL);
SELECT is_sparse FROM sys.columns WHERE object_id = OBJECT_ID(N'[$(s)].t');
-- expect row: 1

-- case: system_procedures
-- embedded refuses the system procedure sp_helptext
CREATE PROCEDURE [$(s)].p AS SELECT 1;
GO
EXEC sp_helptext N'[$(s)].p';
-- expect row: 'CREATE PROCEDURE [$(s)].p AS SELECT 1;\n'

-- case: collations
-- embedded refuses the collation Turkish_CI_AS
SELECT CASE WHEN 'i' COLLATE Turkish_CI_AS = 'I' THEN 1 ELSE 0 END;
-- expect row: 0

-- case: row_locks_off
-- embedded refuses ALLOW_ROW_LOCKS = OFF
CREATE TABLE [$(s)].t (a INT);
CREATE INDEX ix ON [$(s)].t (a) WITH (ALLOW_ROW_LOCKS = OFF);
SELECT allow_row_locks FROM sys.indexes WHERE object_id = OBJECT_ID(N'[$(s)].t') AND name = N'ix';
-- expect row: 0

-- case: any_permission
-- embedded refuses the permission ANY
SELECT HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'ANY') AS a;
-- expect row: 1
