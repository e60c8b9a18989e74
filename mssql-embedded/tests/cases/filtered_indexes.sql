-- A filtered index holds only the rows its WHERE admits, so a unique one constrains only those. Whoever
-- writes to such a table needs QUOTED_IDENTIFIER and ANSI_NULLS on; a procedure keeps the setting it was
-- created with.

-- case: uniqueness_inside_the_filter_only
CREATE TABLE [$(s)].t (id INT, state INT);
CREATE UNIQUE INDEX ix_t ON [$(s)].t (id) WHERE state = 1;
INSERT [$(s)].t VALUES (1, 0), (1, 0), (1, 1);
GO
INSERT [$(s)].t VALUES (1, 1);
-- expect error 2601 14 1 with unique index 'ix_t'
GO
UPDATE [$(s)].t SET state = 1 WHERE state = 0;
-- expect error 2601 14 1 The duplicate key value is (1).

-- case: several_nulls_through_a_filter
CREATE TABLE [$(s)].t (a INT NULL);
CREATE UNIQUE INDEX ix_t ON [$(s)].t (a) WHERE a IS NOT NULL;
INSERT [$(s)].t VALUES (NULL), (NULL), (1);
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 3
GO
INSERT [$(s)].t VALUES (1);
-- expect error 2601 14 1

-- case: leaving_the_filter_frees_the_key
CREATE TABLE [$(s)].t (id INT, done BIT NOT NULL);
CREATE UNIQUE INDEX ix_t ON [$(s)].t (id) INCLUDE (done) WHERE done = 0;
INSERT [$(s)].t VALUES (1, 0);
UPDATE [$(s)].t SET done = 1;
INSERT [$(s)].t VALUES (1, 0);
SELECT COUNT(*) AS n FROM [$(s)].t WHERE done = 0;
-- expect row: 1

-- case: quoted_identifier_off_cannot_write
CREATE TABLE [$(s)].t (a INT);
CREATE INDEX ix_t ON [$(s)].t (a) WHERE a > 0;
GO
SET QUOTED_IDENTIFIER OFF;
GO
INSERT [$(s)].t VALUES (1);
-- expect error 1934 16 1 INSERT failed because the following SET options have incorrect settings: 'QUOTED_IDENTIFIER'.
GO
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 0

-- case: a_procedure_keeps_its_setting
CREATE TABLE [$(s)].t (a INT);
CREATE INDEX ix_t ON [$(s)].t (a) WHERE a > 0;
GO
SET QUOTED_IDENTIFIER OFF;
GO
CREATE PROCEDURE [$(s)].p AS DELETE FROM [$(s)].t;
GO
SET QUOTED_IDENTIFIER ON;
GO
EXEC [$(s)].p;
-- expect error 1934 16 1 DELETE failed because the following SET options have incorrect settings: 'QUOTED_IDENTIFIER'.

-- case: the_catalog_shows_the_filter
CREATE TABLE [$(s)].t (a INT, b INT);
CREATE INDEX ix_t ON [$(s)].t (a) WHERE a > 0 AND b IS NOT NULL;
SELECT name, has_filter, filter_definition FROM sys.indexes WHERE object_id = OBJECT_ID(N'[$(s)].t') AND name = N'ix_t';
-- expect row: 'ix_t' | 1 | '([a]>(0) AND [b] IS NOT NULL)'

-- case: a_filter_is_made_of_comparisons_and_and
CREATE TABLE [$(s)].t (a INT, b INT);
GO
CREATE INDEX ix_t ON [$(s)].t (b) WHERE b = 1 OR a = 1;
-- expect error 10735 15 1 Incorrect WHERE clause for filtered index 'ix_t' on table '
GO
CREATE INDEX ix_t ON [$(s)].t (b) WHERE b NOT IN (1, 2);
-- expect error 10735 15 1
GO
CREATE INDEX ix_t ON [$(s)].t (b) WHERE b IN (1, 2) AND a IS NOT NULL AND a <> 3;

-- "<comparison> ::= column_name <comparison_op> constant": nothing that is computed, no other column. What is converted is the constant.
-- case: a_filter_compares_columns_with_constants
CREATE TABLE [$(s)].t (a INT, b INT, c DATETIME, d VARBINARY(4));
GO
CREATE INDEX ix_t ON [$(s)].t (b) WHERE a > b;
-- expect error 10735 15 1 Incorrect WHERE clause for filtered index 'ix_t' on table '
GO
CREATE INDEX ix_t ON [$(s)].t (b) WHERE c > GETDATE();
-- expect error 10735 15 1
GO
CREATE INDEX ix_t ON [$(s)].t (b) WHERE ABS(a) = 1;
-- expect error 10735 15 1
GO
CREATE INDEX ix_t ON [$(s)].t (b) WHERE d = CONVERT(VARBINARY(4), 1) AND a > -1;
