-- Table hints. The target of INSERT, UPDATE and DELETE takes <table_hint_limited> behind WITH: how it is locked, not how
-- it is searched ("UPDATE", docs/t-sql/queries/update-transact-sql.md), which the FROM clause may say. A table variable takes no
-- hints. The numbers, which the documents do not tell, were seen on SQL Server 2025: github.com/mirek/bitsql,
-- docs/reference/tail5-b2.md and batch-checks.md, and github.com/RyanLamansky/sql-server-simulator, its notes on locking
-- and query hints. They fail the whole batch.

-- case: an_index_hint_on_the_target_of_a_write
CREATE TABLE [$(s)].t (id INT NOT NULL CONSTRAINT pk_t PRIMARY KEY, v INT NULL);
GO
PRINT 'ran';
UPDATE [$(s)].t WITH (INDEX(pk_t)) SET v = 0;
-- expect no result
-- expect error 1069 15 1 Index hints are only allowed in a FROM or OPTION clause.
GO
UPDATE [$(s)].t WITH (ROWLOCK, INDEX = pk_t) SET v = 0;
-- expect error 1069 15 1
GO
DELETE FROM [$(s)].t WITH (INDEX(1)) WHERE id = 1;
-- expect error 1069 15 1
GO
INSERT INTO [$(s)].t WITH (INDEX(0)) (id) VALUES (1);
-- expect error 1069 15 1
GO
DELETE x FROM [$(s)].t AS x WITH (INDEX(pk_t)) WHERE x.id = 1;
UPDATE x SET x.v = 0 FROM [$(s)].t AS x WITH (INDEX(pk_t)) WHERE x.id = 1;

-- case: seek_and_scan_hints_on_the_target_of_a_write
CREATE TABLE [$(s)].t (id INT NOT NULL CONSTRAINT pk_t PRIMARY KEY, v INT NULL);
GO
UPDATE [$(s)].t WITH (FORCESEEK) SET v = 0 WHERE id = 1;
-- expect error 10724 15 1 The FORCESEEK hint is not allowed for target tables of INSERT, UPDATE, or DELETE statements.
GO
DELETE FROM [$(s)].t WITH (FORCESCAN);
-- expect error 10745 15 1 The FORCESCAN hint is not allowed for target tables of INSERT, UPDATE, or DELETE statements.
GO
INSERT INTO [$(s)].t WITH (FORCESEEK) (id) VALUES (1);
-- expect error 10724 15 1

-- case: readpast_on_the_target_of_insert
CREATE TABLE [$(s)].t (id INT NOT NULL);
GO
INSERT INTO [$(s)].t WITH (READPAST) (id) VALUES (1);
-- expect error 4102 15 1 The READPAST lock hint is only allowed on target tables of UPDATE and DELETE and on tables specified in an explicit FROM clause.

-- case: hints_of_a_target_need_with
CREATE TABLE [$(s)].t (id INT NOT NULL);
GO
UPDATE [$(s)].t (TABLOCK) SET id = 1;
-- expect error 102 15 1
GO
DELETE FROM [$(s)].t (TABLOCK);
-- expect error 102 15 1

-- case: a_table_variable_takes_no_hints
DECLARE @t TABLE (id INT);
UPDATE @t WITH (ROWLOCK) SET id = 1;
-- expect error 156 15 1 Incorrect syntax near the keyword 'WITH'.
GO
DECLARE @t TABLE (id INT);
INSERT INTO @t WITH (TABLOCK) (id) VALUES (1);
-- expect error 156 15 1
GO
DECLARE @t TABLE (id INT);
DELETE FROM @t WITH (ROWLOCK);
-- expect error 156 15 1
GO
DECLARE @t TABLE (id INT);
SELECT id FROM @t AS x WITH (NOLOCK);
-- expect error 319 15 1 Incorrect syntax near the keyword 'with'.

-- case: conflicting_hints
CREATE TABLE [$(s)].t (a INT);
GO
SELECT a FROM [$(s)].t WITH (UPDLOCK, XLOCK);
-- expect error 1047 15 1 Conflicting locking hints specified.
GO
SELECT a FROM [$(s)].t WITH (NOLOCK, UPDLOCK);
-- expect error 1047 15 1
GO
SELECT a FROM [$(s)].t WITH (TABLOCK, TABLOCKX);
-- expect error 1047 15 1
GO
SELECT a FROM [$(s)].t WITH (FORCESEEK, FORCESCAN);
-- expect error 10746 15 1 The FORCESCAN hint is specified simultaneously with the FORCESEEK hint. Remove one of the hints and resubmit the query.
GO
SELECT a FROM [$(s)].t WITH (TABLOCK, UPDLOCK, NOWAIT);
