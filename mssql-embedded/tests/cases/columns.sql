-- ALTER TABLE can drop a column or change its type, as long as nothing depends on the column. What is not said
-- of NULL in ALTER COLUMN makes the column take NULL.

-- case: a_column_of_an_index_cannot_be_dropped
CREATE TABLE [$(s)].t (a INT, b INT);
CREATE INDEX ix_b ON [$(s)].t (b);
GO
ALTER TABLE [$(s)].t DROP COLUMN b;
-- expect error 5074 16 1 The index 'ix_b' is dependent on column 'b'.
-- expect error 4922 16 9

-- case: dropping_moves_the_others
CREATE TABLE [$(s)].t (a INT, b INT, c INT NOT NULL CONSTRAINT pk_t PRIMARY KEY, d VARCHAR(5));
CREATE INDEX ix_d ON [$(s)].t (d) INCLUDE (a);
INSERT [$(s)].t VALUES (1, 2, 3, 'x'), (4, 5, 6, 'y');
ALTER TABLE [$(s)].t DROP COLUMN b;
GO
SELECT a, c, d FROM [$(s)].t WHERE c = 6;
SELECT a FROM [$(s)].t WHERE d = 'x';
INSERT [$(s)].t (a, c, d) VALUES (7, 9, 'z');
SELECT * FROM [$(s)].t ORDER BY c;
-- expect row: 4 | 6 | 'y'
-- expect set
-- expect row: 1
-- expect columns: a int, c int, d varchar
-- expect row: 1 | 3 | 'x'
-- expect row: 4 | 6 | 'y'
-- expect row: 7 | 9 | 'z'

-- case: dropping_what_is_not_there
CREATE TABLE [$(s)].t (a INT, b INT);
GO
ALTER TABLE [$(s)].t DROP COLUMN nowhere;
-- expect error 4924 16 1 ALTER TABLE DROP COLUMN failed because column 'nowhere' does not exist in table 't'.
GO
ALTER TABLE [$(s)].t DROP COLUMN IF EXISTS nowhere;
ALTER TABLE [$(s)].t DROP COLUMN a;
GO
ALTER TABLE [$(s)].t DROP COLUMN b;
-- expect error 4923 16 1 is the only data column in table 't'.

-- case: a_wider_type
CREATE TABLE [$(s)].t (a INT NOT NULL, b VARCHAR(3));
INSERT [$(s)].t VALUES (1, 'abc');
ALTER TABLE [$(s)].t ALTER COLUMN a BIGINT NOT NULL;
ALTER TABLE [$(s)].t ALTER COLUMN b VARCHAR(10) NOT NULL;
GO
INSERT [$(s)].t VALUES (3000000000, 'abcdefghij');
SELECT a, b FROM [$(s)].t ORDER BY a;
-- expect columns: a bigint, b varchar
-- expect row: 1 | 'abc'
-- expect row: 3000000000 | 'abcdefghij'
GO
INSERT [$(s)].t VALUES (2, NULL);
-- expect error 515 16 2 Cannot insert the value NULL into column 'b'

-- case: null_unless_said_otherwise
CREATE TABLE [$(s)].t (a INT NOT NULL);
ALTER TABLE [$(s)].t ALTER COLUMN a BIGINT;
GO
INSERT [$(s)].t VALUES (NULL);
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 1

-- case: rows_that_do_not_fit
CREATE TABLE [$(s)].t (a VARCHAR(10) NULL, b INT NULL);
INSERT [$(s)].t VALUES ('abcdef', 70000), (NULL, NULL);
GO
ALTER TABLE [$(s)].t ALTER COLUMN a VARCHAR(3);
-- expect error 2628 16 *
GO
ALTER TABLE [$(s)].t ALTER COLUMN a INT;
-- expect error 245 16 1 Conversion failed when converting the varchar value 'abcdef' to data type int.
GO
ALTER TABLE [$(s)].t ALTER COLUMN b INT NOT NULL;
-- expect error 515 16 2 Cannot insert the value NULL into column 'b'
GO
SELECT a, b FROM [$(s)].t ORDER BY b;
-- expect row: NULL | NULL
-- expect row: 'abcdef' | 70000

-- case: what_depends_on_a_column
CREATE TABLE [$(s)].t (id INT NOT NULL CONSTRAINT pk_t PRIMARY KEY, a INT CONSTRAINT ck_a CHECK (a > 0), b VARCHAR(5), c AS a + 1);
CREATE INDEX ix_b ON [$(s)].t (b);
GO
ALTER TABLE [$(s)].t ALTER COLUMN id BIGINT NOT NULL;
-- expect error 5074 16 1 The object 'pk_t' is dependent on column 'id'.
-- expect error 4922 16 9
GO
ALTER TABLE [$(s)].t ALTER COLUMN b VARCHAR(9);
GO
ALTER TABLE [$(s)].t ALTER COLUMN b NVARCHAR(9);
-- expect error 5074 16 1 The index 'ix_b' is dependent on column 'b'.
-- expect error 4922 16 9
GO
ALTER TABLE [$(s)].t ALTER COLUMN c INT;
-- expect error 4928 16 1 Cannot alter column 'c' because it is 'COMPUTED'.
GO
ALTER TABLE [$(s)].t ALTER COLUMN nowhere INT;
-- expect error 4924 16 1 ALTER TABLE ALTER COLUMN failed because column 'nowhere' does not exist in table 't'.
