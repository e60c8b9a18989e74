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

-- What a column definition may not be: texts and numbers of sys.messages; "CREATE TABLE", "Computed columns".

-- case: a_default_and_an_identity_exclude_each_other
CREATE TABLE [$(s)].t (a INT DEFAULT 1 IDENTITY);
-- expect error 1754 16 * Defaults cannot be created on columns with an IDENTITY attribute. Table 't', column 'a'.
-- expect error 1750 16 *

-- case: a_column_has_one_default
CREATE TABLE [$(s)].t (a INT DEFAULT 1 DEFAULT 2);
-- expect error 8148 16 * More than one column DEFAULT constraint specified for column 'a', table 't'.

-- case: a_column_is_null_or_not
CREATE TABLE [$(s)].t (a INT NOT NULL NULL);
-- expect error 8150 16 * Multiple NULL constraints were specified for column 'a', table 't'.

-- case: a_column_is_primary_key_or_unique
CREATE TABLE [$(s)].t (a INT PRIMARY KEY UNIQUE);
-- expect error 8151 16 * Both a PRIMARY KEY and UNIQUE constraint have been defined for column 'a', table 't'. Only one is allowed.

-- case: no_computed_column_of_a_computed_column
CREATE TABLE [$(s)].t (a INT, b AS a + 1, c AS b + 1);
-- expect error 1759 16 * Computed column 'b' in table 't' is not allowed to be used in another computed-column definition.

-- case: what_varies_is_not_persisted
CREATE TABLE [$(s)].t (a INT, b AS GETDATE() PERSISTED);
-- expect error 4936 16 * Computed column 'b' in table 't' cannot be persisted because the column is non-deterministic.
GO
CREATE TABLE [$(s)].t (a INT, b AS GETDATE(), c AS DATEADD(DAY, a, CAST(0 AS DATETIME)) PERSISTED);

-- case: an_identity_moves
CREATE TABLE [$(s)].t (a INT IDENTITY(1, 0));
-- expect error 2753 16 * Identity column 'a' contains invalid INCREMENT.

-- case: an_identity_begins_within_its_type
CREATE TABLE [$(s)].t (a TINYINT IDENTITY(300, 1));
-- expect error 2752 16 * Identity column 'a' contains invalid SEED.

-- case: constraints_of_one_table_have_different_names
CREATE TABLE [$(s)].t (a INT, CONSTRAINT xx CHECK (a > 1), CONSTRAINT xx CHECK (a > 2));
-- expect error 2714 16 * There is already an object named 'xx' in the database.
-- expect error 1750 16 *

-- "If the added column allows null values and WITH VALUES is specified, the default value is stored in the
-- new column, added to existing rows" (ALTER TABLE column_definition).
-- case: with_values_fills_a_nullable_column
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
ALTER TABLE [$(s)].t ADD b INT NULL DEFAULT 7 WITH VALUES, c INT NULL DEFAULT 8, d INT NOT NULL DEFAULT 9 WITH VALUES;
GO
SELECT a, b, c, d FROM [$(s)].t;
-- expect row: 1 | 7 | NULL | 9

-- "By default, sysname is NOT NULL", and it is a type of its own in the catalogue.
-- case: sysname_is_not_null
CREATE TABLE [$(s)].t (a sysname, b sysname NULL, c NVARCHAR(128));
SELECT is_nullable, system_type_id, user_type_id FROM sys.columns WHERE object_id = OBJECT_ID(N'[$(s)].t') ORDER BY column_id;
-- expect row: 0 | 231 | 256
-- expect row: 1 | 231 | 256
-- expect row: 1 | 231 | 231

-- "Associated with a default definition. However, the length, precision, or scale of a column can be changed
-- if the data type isn't changed" (ALTER COLUMN).
-- case: a_default_bears_another_length
CREATE TABLE [$(s)].t (v VARCHAR(10) NOT NULL DEFAULT 'q', d DECIMAL(5, 2) CONSTRAINT df_$(s) DEFAULT 1);
ALTER TABLE [$(s)].t ALTER COLUMN v VARCHAR(5) NOT NULL;
ALTER TABLE [$(s)].t ALTER COLUMN d DECIMAL(10, 2);
GO
ALTER TABLE [$(s)].t ALTER COLUMN d INT;
-- expect error 5074 16 1 The object 'df_$(s)' is dependent on column 'd'.
-- expect error 4922 16 9

-- "Columns per table: 1,024" (Maximum capacity specifications for SQL Server); a view has as many (CREATE VIEW).
-- case: at_most_1024_columns
DECLARE @s NVARCHAR(MAX) = N'CREATE TABLE $(s).fits (c1 INT', @i INT = 2;
WHILE @i <= 1024 BEGIN SET @s += N', c' + CAST(@i AS NVARCHAR(4)) + N' INT'; SET @i += 1 END
SET @s += N')'; EXEC (@s);
SELECT COUNT(*) AS n FROM sys.columns WHERE object_id = OBJECT_ID(N'$(s).fits');
-- expect row: 1024
GO
DECLARE @s NVARCHAR(MAX) = N'CREATE TABLE $(s).wide (c1 INT', @i INT = 2;
WHILE @i <= 1025 BEGIN SET @s += N', c' + CAST(@i AS NVARCHAR(4)) + N' INT'; SET @i += 1 END
SET @s += N')'; EXEC (@s);
-- expect error 1702 16 * CREATE TABLE failed because column 'c1025' in table 'wide' exceeds the maximum of 1024 columns.
GO
DECLARE @s NVARCHAR(MAX) = N'DECLARE @t TABLE (c1 INT', @i INT = 2;
WHILE @i <= 1025 BEGIN SET @s += N', c' + CAST(@i AS NVARCHAR(4)) + N' INT'; SET @i += 1 END
SET @s += N')'; EXEC (@s);
-- expect error 1702 16 *
GO
DECLARE @s NVARCHAR(MAX) = N'CREATE VIEW $(s).w AS SELECT 1 AS c1', @i INT = 2;
WHILE @i <= 1025 BEGIN SET @s += N', 1 AS c' + CAST(@i AS NVARCHAR(4)); SET @i += 1 END
EXEC (@s);
-- expect error 4505 16 * CREATE VIEW failed because column 'c1025' in view 'w' exceeds the maximum of 1024 columns.

-- "Columns per index key: 32", "Nonclustered indexes per table: 999" (Maximum capacity specifications for SQL Server).
-- case: at_most_32_columns_in_a_key
CREATE TABLE $(s).t (c1 INT, c2 INT, c3 INT, c4 INT, c5 INT, c6 INT, c7 INT, c8 INT, c9 INT, c10 INT, c11 INT, c12 INT, c13 INT, c14 INT, c15 INT, c16 INT, c17 INT, c18 INT, c19 INT, c20 INT, c21 INT, c22 INT, c23 INT, c24 INT, c25 INT, c26 INT, c27 INT, c28 INT, c29 INT, c30 INT, c31 INT, c32 INT, c33 INT);
CREATE INDEX ix32 ON $(s).t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32);
GO
CREATE INDEX ix33 ON $(s).t (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33);
-- expect error 1904 16 * has 33 columns in the key list. The maximum limit for index key column list is 32.

-- case: at_most_999_nonclustered_indexes
CREATE TABLE $(s).t (a INT);
GO
DECLARE @i INT = 1, @s NVARCHAR(MAX) = N'';
WHILE @i <= 999 BEGIN SET @s += N'CREATE INDEX ix' + CAST(@i AS NVARCHAR(4)) + N' ON $(s).t (a);'; SET @i += 1 END
EXEC (@s);
GO
CREATE INDEX ix ON $(s).t (a);
-- expect error 1910 16 * Could not create nonclustered index 'ix' because it exceeds the maximum of 999 allowed per table or view.

-- The overhead is 6 bytes and one for every eight columns; a column of variable length adds nothing that could not be
-- moved out of the row: github.com/RyanLamansky/sql-server-simulator, CreateTableTests.cs, seen on SQL Server 2025.
-- case: a_row_that_no_page_can_hold
CREATE TABLE [$(s)].t (a CHAR(8000), b CHAR(54));
-- expect error 1701 16 1 Creating or altering table 't' failed because the minimum row size would be 8061, including 7 bytes of internal overhead. This exceeds the maximum allowable table row size of 8060 bytes.
GO
CREATE TABLE [$(s)].t (a INT IDENTITY NOT NULL, b CHAR(4000), c CHAR(4000), d CHAR(1000));
-- expect error 1701 16 1 would be 9011, including 7 bytes
GO
CREATE TABLE [$(s)].t (a CHAR(8000), b CHAR(53));
GO
ALTER TABLE [$(s)].t ADD c TINYINT NULL;
-- expect error 1701 16 1
GO
ALTER TABLE [$(s)].t ALTER COLUMN b CHAR(54);
-- expect error 1701 16 1
GO
CREATE TABLE [$(s)].u (a CHAR(8000), b CHAR(50), c BIT, d BIT, e BIT, f BIT, g BIT, h BIT, i BIT, j BIT, k BIT);
CREATE TABLE [$(s)].v (a NVARCHAR(4000), b NVARCHAR(4000), c VARCHAR(8000), d NVARCHAR(MAX));
INSERT [$(s)].v (a, b, c) VALUES (REPLICATE(N'a', 4000), REPLICATE(N'b', 4000), REPLICATE('c', 8000));
-- expect rowcount 1
