-- "Specifies the properties of a PRIMARY KEY, FOREIGN KEY, UNIQUE, or CHECK constraint that is part of a new
-- column definition added to a table by using ALTER TABLE" (ALTER TABLE column_constraint): they bind the rows
-- to come and, because WITH CHECK is assumed for new constraints, those there are.

-- case: an_inline_check_binds_new_rows
CREATE TABLE [$(s)].t (a INT);
ALTER TABLE [$(s)].t ADD b INT CONSTRAINT ck_b CHECK (b > 0), c INT CHECK (c < 10);
GO
INSERT [$(s)].t VALUES (1, -1, 1);
-- expect error 547 16 0 The INSERT statement conflicted with the CHECK constraint "ck_b".
GO
INSERT [$(s)].t VALUES (1, 1, 10);
-- expect error 547 16 0 column 'c'
GO
INSERT [$(s)].t VALUES (1, 1, 9), (2, NULL, NULL);
SELECT name FROM sys.check_constraints WHERE parent_object_id = OBJECT_ID(N'[$(s)].t') AND is_system_named = 0;
-- expect row: 'ck_b'

-- case: an_inline_check_binds_the_rows_there_are
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
GO
ALTER TABLE [$(s)].t ADD b INT NOT NULL DEFAULT -1 CONSTRAINT ck_b CHECK (b > 0);
-- expect error 547 16 0 The ALTER TABLE statement conflicted with the CHECK constraint "ck_b".
GO
ALTER TABLE [$(s)].t ADD b INT NULL CONSTRAINT ck_b CHECK (b IS NOT NULL);
-- expect error 547 16 0
GO
-- NULL is not false: a nullable column without WITH VALUES passes.
ALTER TABLE [$(s)].t ADD b INT NULL DEFAULT -1 CONSTRAINT ck_b CHECK (b > 0);
GO
SELECT a, b FROM [$(s)].t;
-- expect row: 1 | NULL

-- case: an_inline_reference
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
INSERT [$(s)].p VALUES (1);
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
GO
ALTER TABLE [$(s)].t ADD p_id INT NOT NULL DEFAULT 2 CONSTRAINT fk_p REFERENCES [$(s)].p (id);
-- expect error 547 16 0 The ALTER TABLE statement conflicted with the FOREIGN KEY constraint "fk_p".
GO
ALTER TABLE [$(s)].t ADD p_id INT CONSTRAINT fk_p REFERENCES [$(s)].p;
GO
INSERT [$(s)].t VALUES (2, 2);
-- expect error 547 16 0 The INSERT statement conflicted with the FOREIGN KEY constraint "fk_p".
GO
INSERT [$(s)].t VALUES (2, 1);
DELETE [$(s)].p;
-- expect error 547 16 0 The DELETE statement conflicted with the REFERENCE constraint "fk_p".
GO
ALTER TABLE [$(s)].t ADD q INT CONSTRAINT fk_q REFERENCES [$(s)].nope (id);
-- expect error 1767 16 0 Foreign key 'fk_q' references invalid table
-- expect error 1750 16 *

-- case: an_inline_unique
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
GO
ALTER TABLE [$(s)].t ADD b INT CONSTRAINT uq_b UNIQUE;
GO
INSERT [$(s)].t VALUES (2, NULL);
-- expect error 2627 14 1 Violation of UNIQUE KEY constraint 'uq_b'.
GO
INSERT [$(s)].t VALUES (2, 2);
GO
ALTER TABLE [$(s)].t ADD c INT CONSTRAINT uq_c UNIQUE;
-- expect error 1505 16 1 The duplicate key value is (<NULL>).
-- expect error 1750 16 *
GO
SELECT COUNT(*) FROM sys.columns WHERE object_id = OBJECT_ID(N'[$(s)].t');
-- expect row: 2

-- case: an_inline_primary_key
CREATE TABLE [$(s)].t (a INT);
GO
ALTER TABLE [$(s)].t ADD id INT NULL CONSTRAINT pk_t PRIMARY KEY;
-- expect error 8111 16 1 Cannot define PRIMARY KEY constraint on nullable column in table 't'.
-- expect error 1750 16 *
GO
ALTER TABLE [$(s)].t ADD id INT NOT NULL CONSTRAINT pk_t PRIMARY KEY;
GO
SELECT type_desc, is_primary_key FROM sys.indexes WHERE object_id = OBJECT_ID(N'[$(s)].t');
-- expect row: 'CLUSTERED' | 1
GO
INSERT [$(s)].t VALUES (1, 1), (1, 1);
-- expect error 2627 14 1 Violation of PRIMARY KEY constraint 'pk_t'.
GO
ALTER TABLE [$(s)].t ADD other INT NOT NULL PRIMARY KEY;
-- expect error 1779 16 0 Table 't' already has a primary key defined on it.
-- expect error 1750 16 *

-- case: an_inline_primary_key_and_rows
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1), (2);
GO
ALTER TABLE [$(s)].t ADD id INT NOT NULL PRIMARY KEY;
-- expect error 4901 16 1
GO
ALTER TABLE [$(s)].t ADD id INT NOT NULL DEFAULT 5 PRIMARY KEY;
-- expect error 1505 16 1 The duplicate key value is (5).
-- expect error 1750 16 *
GO
DELETE [$(s)].t WHERE a = 2;
ALTER TABLE [$(s)].t ADD id INT NOT NULL DEFAULT 5 PRIMARY KEY;
GO
SELECT a, id FROM [$(s)].t;
-- expect row: 1 | 5

-- "If nullability isn't specified, all columns participating in a PRIMARY KEY constraint have their nullability set
-- to NOT NULL."
-- case: an_inline_primary_key_of_which_nothing_is_said
CREATE TABLE [$(s)].t (a INT);
ALTER TABLE [$(s)].t ADD id INT PRIMARY KEY NONCLUSTERED;
GO
SELECT is_nullable FROM sys.columns WHERE object_id = OBJECT_ID(N'[$(s)].t') ORDER BY column_id;
-- expect row: 1
-- expect row: 0

-- case: constraints_of_one_addition_have_different_names
CREATE TABLE [$(s)].t (a INT);
GO
ALTER TABLE [$(s)].t ADD b INT CONSTRAINT xx CHECK (b > 1), CONSTRAINT xx CHECK (a > 2);
-- expect error 2714 16 * There is already an object named 'xx' in the database.
-- expect error 1750 16 *

-- case: a_constraint_without_a_name_after_one_was_dropped
CREATE TABLE [$(s)].t (a INT UNIQUE);
ALTER TABLE [$(s)].t ADD b INT UNIQUE;
DECLARE @sql NVARCHAR(400) = N'ALTER TABLE [$(s)].t DROP CONSTRAINT ' +
    (SELECT TOP (1) name FROM sys.indexes WHERE object_id = OBJECT_ID(N'[$(s)].t') AND is_unique = 1 ORDER BY index_id);
EXEC (@sql);
ALTER TABLE [$(s)].t ADD c INT UNIQUE;
GO
INSERT [$(s)].t VALUES (1, 1, 1), (1, 2, 2);
GO
INSERT [$(s)].t VALUES (1, 3, 2);
-- expect error 2627 14 1 The duplicate key value is (2).

-- What a default may be does not depend on there being rows.
-- case: a_wrong_default_of_an_empty_table
CREATE TABLE [$(s)].t (a INT);
GO
ALTER TABLE [$(s)].t ADD b INT DEFAULT (nosuch);
-- expect error 128 15 1 is not permitted in this context
GO
ALTER TABLE [$(s)].t ADD b INT NOT NULL DEFAULT (a);
-- expect error 128 15 1 is not permitted in this context
GO
SELECT COUNT(*) FROM sys.columns WHERE object_id = OBJECT_ID(N'[$(s)].t');
-- expect row: 1

-- case: each_row_gets_a_default_of_its_own
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1), (2), (3);
ALTER TABLE [$(s)].t ADD b UNIQUEIDENTIFIER NOT NULL DEFAULT NEWID(), c UNIQUEIDENTIFIER NULL DEFAULT NEWID() WITH VALUES,
    d DATETIME2 NOT NULL DEFAULT SYSDATETIME(), e UNIQUEIDENTIFIER NULL DEFAULT NEWID();
GO
SELECT COUNT(DISTINCT b), COUNT(DISTINCT c), COUNT(DISTINCT d), COUNT(e) FROM [$(s)].t;
-- expect row: 3 | 3 | 1 | 0
