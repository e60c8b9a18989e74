-- The catalog views show what exists: schemas, tables, columns, indexes, constraints, procedures and their text,
-- with defaults and checks in the normalised form in which SQL Server stores them.

-- case: tables_and_schemas
CREATE TABLE [$(s)].t (a INT);
SELECT t.name, t.type, t.type_desc FROM sys.tables t JOIN sys.schemas s ON s.schema_id = t.schema_id WHERE s.name = N'$(s)';
-- expect row: 't' | 'U ' | 'USER_TABLE'

-- case: columns
CREATE TABLE [$(s)].t (id BIGINT NOT NULL IDENTITY, n NVARCHAR(40) NULL, d DECIMAL(10, 2) NULL, m VARCHAR(MAX) NULL, t DATETIME2(3) NOT NULL);
SELECT c.name, t.name AS type, c.max_length, c.precision, c.scale, c.is_nullable, c.is_identity
FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID(N'[$(s)].t') ORDER BY c.column_id;
-- expect row: 'id' | 'bigint' | 8 | 19 | 0 | 0 | 1
-- expect row: 'n' | 'nvarchar' | 80 | 0 | 0 | 1 | 0
-- expect row: 'd' | 'decimal' | 9 | 10 | 2 | 1 | 0
-- expect row: 'm' | 'varchar' | -1 | 0 | 0 | 1 | 0
-- expect row: 't' | 'datetime2' | 7 | 23 | 3 | 0 | 0

-- case: information_schema
CREATE TABLE [$(s)].t (a INT NOT NULL, b NVARCHAR(10) NULL);
SELECT COLUMN_NAME, DATA_TYPE, IS_NULLABLE, CHARACTER_MAXIMUM_LENGTH FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = N'$(s)' AND TABLE_NAME = N't' ORDER BY ORDINAL_POSITION;
SELECT TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = N'$(s)';
-- expect row: 'a' | 'int' | 'NO' | NULL
-- expect row: 'b' | 'nvarchar' | 'YES' | 10
-- expect set
-- expect row: 't' | 'BASE TABLE'

-- case: indexes
CREATE TABLE [$(s)].t (a INT NOT NULL CONSTRAINT pk_t PRIMARY KEY CLUSTERED, b INT, c INT);
CREATE UNIQUE INDEX ix_bc ON [$(s)].t (b DESC, c) WHERE b > 1;
SELECT name, type_desc, is_unique, is_primary_key, has_filter FROM sys.indexes WHERE object_id = OBJECT_ID(N'[$(s)].t') ORDER BY index_id;
-- expect row: 'pk_t' | 'CLUSTERED' | 1 | 1 | 0
-- expect row: 'ix_bc' | 'NONCLUSTERED' | 1 | 0 | 1

-- case: index_columns
CREATE TABLE [$(s)].t (a INT, b INT, c INT);
CREATE INDEX ix_t ON [$(s)].t (b DESC, a) INCLUDE (c);
SELECT c.name, ic.key_ordinal, ic.is_descending_key, ic.is_included_column FROM sys.index_columns ic
JOIN sys.columns c ON c.object_id = ic.object_id AND c.column_id = ic.column_id
JOIN sys.indexes i ON i.object_id = ic.object_id AND i.index_id = ic.index_id
WHERE i.object_id = OBJECT_ID(N'[$(s)].t') AND i.name = N'ix_t' ORDER BY ic.is_included_column, ic.key_ordinal;
-- expect row: 'b' | 1 | 1 | 0
-- expect row: 'a' | 2 | 0 | 0
-- expect row: 'c' | 0 | 0 | 1

-- case: default_and_check_texts
CREATE TABLE [$(s)].t (a INT CONSTRAINT df_a DEFAULT 0, b VARCHAR(5) CONSTRAINT df_b DEFAULT 'x', c INT CONSTRAINT ck_c CHECK (c > 1));
SELECT name, definition FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID(N'[$(s)].t') ORDER BY name;
SELECT name, definition FROM sys.check_constraints WHERE parent_object_id = OBJECT_ID(N'[$(s)].t');
-- expect row: 'df_a' | '((0))'
-- expect row: 'df_b' | '(''x'')'
-- expect set
-- expect row: 'ck_c' | '([c]>(1))'

-- case: procedures_and_their_text
CREATE PROCEDURE [$(s)].p @a INT, @b NVARCHAR(10) OUTPUT AS SELECT 1 AS a;
GO
SELECT p.name, m.uses_quoted_identifier, m.uses_ansi_nulls, CASE WHEN m.definition LIKE N'CREATE PROCEDURE%SELECT 1 AS a;%' THEN 1 ELSE 0 END AS text
FROM sys.procedures p JOIN sys.sql_modules m ON m.object_id = p.object_id WHERE p.object_id = OBJECT_ID(N'[$(s)].p');
SELECT name, parameter_id, is_output FROM sys.parameters WHERE object_id = OBJECT_ID(N'[$(s)].p') ORDER BY parameter_id;
-- expect row: 'p' | 1 | 1 | 1
-- expect set
-- expect row: '@a' | 1 | 0
-- expect row: '@b' | 2 | 1

-- case: objects
CREATE TABLE [$(s)].t (a INT CONSTRAINT ck_a CHECK (a > 0));
GO
CREATE VIEW [$(s)].v AS SELECT a FROM [$(s)].t;
GO
SELECT name, RTRIM(type) AS type FROM sys.objects WHERE schema_id = SCHEMA_ID(N'$(s)') ORDER BY name;
-- expect row: 'ck_a' | 'C'
-- expect row: 't' | 'U'
-- expect row: 'v' | 'V'

-- case: server_facts
SELECT CASE WHEN CAST(SERVERPROPERTY('ProductVersion') AS NVARCHAR(50)) LIKE N'[0-9]%.%' THEN 1 ELSE 0 END AS a, CASE WHEN @@VERSION LIKE N'%Microsoft SQL%' THEN 1 ELSE 0 END AS b, CASE WHEN @@SPID > 0 THEN 1 ELSE 0 END AS c, CASE WHEN DB_NAME() IS NULL THEN 0 ELSE 1 END AS d;
-- expect row: 1 | 1 | 1 | 1

-- case: database_settings
SELECT CASE WHEN compatibility_level >= 130 THEN 1 ELSE 0 END AS a, CASE WHEN is_read_committed_snapshot_on IN (0, 1) THEN 1 ELSE 0 END AS b FROM sys.databases WHERE name = DB_NAME();
-- expect row: 1 | 1

-- "sys.dm_exec_sessions".
-- case: settings_of_sessions
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
SET LOCK_TIMEOUT 1500;
SET DEADLOCK_PRIORITY LOW;
SELECT transaction_isolation_level, lock_timeout, deadlock_priority FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
-- expect columns: transaction_isolation_level smallint, lock_timeout int, deadlock_priority int
-- expect row: 4 | 1500 | -5
GO
CREATE PROCEDURE [$(s)].p AS SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT transaction_isolation_level AS l FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
GO
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
EXEC [$(s)].p;
SELECT transaction_isolation_level AS l FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
-- expect row: 3
-- expect set
-- expect row: 2

-- "sys.databases".
-- case: durability_of_databases
SELECT delayed_durability, delayed_durability_desc, recovery_model_desc FROM sys.databases WHERE name = N'tempdb';
-- expect columns: delayed_durability int, delayed_durability_desc nvarchar(60), recovery_model_desc nvarchar(60)
-- expect row: * | * | N'SIMPLE'

-- "sys.types": a type's own sizes, before a column gives it others.
-- case: sizes_of_types
SELECT name, max_length, precision, scale, is_nullable FROM sys.types WHERE name IN (N'bigint', N'datetime2', N'decimal', N'nvarchar', N'sysname') ORDER BY name;
-- expect columns: name nvarchar(128), max_length smallint, precision tinyint, scale tinyint, is_nullable bit
-- expect row: N'bigint' | 8 | 19 | 0 | 1
-- expect row: N'datetime2' | 8 | 27 | 7 | 1
-- expect row: N'decimal' | 17 | 38 | 38 | 1
-- expect row: N'nvarchar' | 8000 | 0 | 0 | 1
-- expect row: N'sysname' | 256 | 0 | 0 | 0

-- case: radix_of_numbers
CREATE TABLE [$(s)].t (a INT, b FLOAT, c NVARCHAR(5), d VARCHAR(5));
SELECT COLUMN_NAME, NUMERIC_PRECISION_RADIX, CHARACTER_SET_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = N'$(s)' ORDER BY ORDINAL_POSITION;
-- expect columns: COLUMN_NAME nvarchar(128), NUMERIC_PRECISION_RADIX smallint, CHARACTER_SET_NAME nvarchar(128)
-- expect row: N'a' | 10 | NULL
-- expect row: N'b' | 2 | NULL
-- expect row: N'c' | NULL | N'UNICODE'
-- expect row: N'd' | NULL | N'iso_1'

-- "sys.dm_tran_locks": the entity of a key is its partition's hobt_id, and each session has its database for itself.
-- case: locks_and_what_they_are_on
-- read_committed_snapshot off, on
CREATE TABLE [$(s)].t (a INT PRIMARY KEY, b INT);
INSERT [$(s)].t VALUES (1, 1);
BEGIN TRANSACTION;
SELECT b FROM [$(s)].t WITH (ROWLOCK, UPDLOCK) WHERE a = 1;
SELECT l.resource_type, l.request_mode, l.request_type, l.request_owner_type FROM sys.dm_tran_locks AS l JOIN sys.partitions AS p ON p.hobt_id = l.resource_associated_entity_id WHERE l.request_session_id = @@SPID AND l.resource_type = N'KEY' AND p.object_id = OBJECT_ID(N'$(s).t');
SELECT resource_database_id - DB_ID() AS d, request_mode, request_status FROM sys.dm_tran_locks WHERE request_session_id = @@SPID AND resource_type = N'DATABASE' AND resource_database_id = DB_ID();
ROLLBACK;
-- expect row: 1
-- expect set
-- expect row: N'KEY' | N'U' | N'LOCK' | N'TRANSACTION'
-- expect set
-- expect row: 0 | N'S' | N'GRANT'

-- case: what_is_no_property_gives_null
-- Names that SQL Server does not know either; what it knows and the engine does not is refused (README).
CREATE TABLE [$(s)].t (a INT CONSTRAINT pk PRIMARY KEY);
SELECT OBJECTPROPERTY(OBJECT_ID(N'[$(s)].t'), N'NoSuch') AS a, COLUMNPROPERTY(OBJECT_ID(N'[$(s)].t'), N'a', N'NoSuch') AS b, INDEXPROPERTY(OBJECT_ID(N'[$(s)].t'), N'pk', N'NoSuch') AS c, COLLATIONPROPERTY(N'Latin1_General_CI_AS', N'NoSuch') AS d;
SELECT CASE WHEN DATABASEPROPERTYEX(DB_NAME(), N'NoSuch') IS NULL THEN 1 ELSE 0 END AS a, CASE WHEN SERVERPROPERTY(N'NoSuch') IS NULL THEN 1 ELSE 0 END AS b, CASE WHEN SESSIONPROPERTY(N'NOCOUNT') IS NULL THEN 1 ELSE 0 END AS c, CASE WHEN HASHBYTES(N'NoSuch', N'x') IS NULL THEN 1 ELSE 0 END AS d;
-- expect row: NULL | NULL | NULL | NULL
-- expect set
-- expect row: 1 | 1 | 1 | 1

-- case: a_property_that_a_variable_names
-- embedded refuses OBJECTPROPERTY with TableHasIndex
CREATE TABLE [$(s)].t (a INT PRIMARY KEY);
DECLARE @property NVARCHAR(30) = N'tablehasindex';
SELECT OBJECTPROPERTY(OBJECT_ID(N'[$(s)].t'), @property) AS a;
-- expect row: 1

-- case: settings_that_a_module_was_created_with
CREATE VIEW [$(s)].v AS SELECT 1 AS a;
GO
SELECT OBJECTPROPERTY(OBJECT_ID(N'[$(s)].v'), N'ExecIsAnsiNullsOn') AS a, OBJECTPROPERTY(OBJECT_ID(N'[$(s)].v'), N'ExecIsQuotedIdentOn') AS b;
-- expect row: 1 | 1

-- case: altering_a_view_or_procedure_keeps_when_it_was_created
CREATE TABLE [$(s)].seen (name SYSNAME, created DATETIME);
GO
CREATE VIEW [$(s)].v AS SELECT 1 AS a;
GO
CREATE PROCEDURE [$(s)].p AS SELECT 1;
GO
INSERT [$(s)].seen SELECT name, create_date FROM sys.objects
WHERE schema_id = SCHEMA_ID(N'$(s)') AND create_date = modify_date AND name IN (N'v', N'p');
WAITFOR DELAY '00:00:00.050';
GO
ALTER VIEW [$(s)].v AS SELECT 2 AS a;
GO
CREATE OR ALTER PROCEDURE [$(s)].p AS SELECT 2;
GO
SELECT o.name FROM sys.objects AS o JOIN [$(s)].seen AS s ON s.name = o.name AND s.created = o.create_date
WHERE o.schema_id = SCHEMA_ID(N'$(s)') AND o.modify_date > o.create_date ORDER BY o.name;
-- expect row: N'p'
-- expect row: N'v'
