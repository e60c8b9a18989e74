-- A violated PRIMARY KEY or UNIQUE constraint is 2627, a violated unique index 2601, CHECK and FOREIGN KEY
-- are 547, NULL in a NOT NULL column 515. They end the statement; without XACT_ABORT the batch goes on.

-- case: primary_key
CREATE TABLE [$(s)].t (id INT NOT NULL CONSTRAINT pk_t PRIMARY KEY);
INSERT [$(s)].t VALUES (1);
GO
INSERT [$(s)].t VALUES (1);
SELECT 'went on' AS a;
-- expect error 2627 14 1 Violation of PRIMARY KEY constraint 'pk_t'. Cannot insert duplicate key in object '$(s).t'. The duplicate key value is (1).
-- expect row: 'went on'

-- case: unique_constraint_of_two_columns
CREATE TABLE [$(s)].t (a INT, b VARCHAR(5), CONSTRAINT uq_t UNIQUE (a, b));
INSERT [$(s)].t VALUES (1, 'x'), (1, 'y');
GO
INSERT [$(s)].t VALUES (1, 'x');
-- expect error 2627 14 1 Violation of UNIQUE KEY constraint 'uq_t'.
GO
UPDATE [$(s)].t SET b = 'x' WHERE b = 'y';
-- expect error 2627 14 1 The duplicate key value is (1, x).

-- case: unique_index
CREATE TABLE [$(s)].t (a INT);
CREATE UNIQUE INDEX ix_t ON [$(s)].t (a);
INSERT [$(s)].t VALUES (1);
GO
INSERT [$(s)].t VALUES (1);
-- expect error 2601 14 1 Cannot insert duplicate key row in object '$(s).t' with unique index 'ix_t'. The duplicate key value is (1).

-- case: unique_index_on_duplicates
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1), (1);
GO
CREATE UNIQUE INDEX ix_t ON [$(s)].t (a);
-- expect error 1505 16 1 The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the object name '$(s).t' and the index name 'ix_t'. The duplicate key value is (1).

-- case: not_null
CREATE TABLE [$(s)].t (id INT NOT NULL, a INT NOT NULL);
GO
INSERT [$(s)].t (id, a) VALUES (1, NULL);
-- expect error 515 16 2 Cannot insert the value NULL into column 'a', table
GO
INSERT [$(s)].t (id) VALUES (1);
-- expect error 515 16 2 column does not allow nulls. INSERT fails.
GO
INSERT [$(s)].t (id, a) VALUES (1, 1);
UPDATE [$(s)].t SET a = NULL;
-- expect error 515 16 2 column does not allow nulls. UPDATE fails.

-- case: check
CREATE TABLE [$(s)].t (a INT CONSTRAINT ck_a CHECK (a > 0));
INSERT [$(s)].t VALUES (1), (NULL);
GO
INSERT [$(s)].t VALUES (0);
-- expect error 547 16 0 The INSERT statement conflicted with the CHECK constraint "ck_a".
GO
UPDATE [$(s)].t SET a = -1 WHERE a = 1;
-- expect error 547 16 0 The UPDATE statement conflicted with the CHECK constraint "ck_a".

-- case: check_over_two_columns
CREATE TABLE [$(s)].t (a INT, b INT, CONSTRAINT ck_ab CHECK (a < b));
INSERT [$(s)].t VALUES (1, 2);
GO
INSERT [$(s)].t VALUES (2, 2);
-- expect error 547 16 0 "ck_ab"

-- case: foreign_key
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].c (id INT, p_id INT NULL CONSTRAINT fk_c REFERENCES [$(s)].p (id));
INSERT [$(s)].p VALUES (1);
INSERT [$(s)].c VALUES (1, 1), (2, NULL);
GO
INSERT [$(s)].c VALUES (3, 9);
-- expect error 547 16 0 The INSERT statement conflicted with the FOREIGN KEY constraint "fk_c".
GO
DELETE FROM [$(s)].p;
-- expect error 547 16 0 The DELETE statement conflicted with the REFERENCE constraint "fk_c".
GO
DROP TABLE [$(s)].p;
-- expect error 3726 16 1 Could not drop object '$(s).p' because it is referenced by a FOREIGN KEY constraint.

-- case: foreign_key_cascade
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].c (id INT, p_id INT REFERENCES [$(s)].p (id) ON DELETE CASCADE);
INSERT [$(s)].p VALUES (1), (2);
INSERT [$(s)].c VALUES (1, 1), (2, 2);
DELETE FROM [$(s)].p WHERE id = 1;
SELECT id FROM [$(s)].c;
-- expect row: 2

-- case: defaults
CREATE TABLE [$(s)].t (a INT CONSTRAINT df_a DEFAULT 1, b VARCHAR(5) DEFAULT ('x'), c INT DEFAULT (1 + 2));
INSERT [$(s)].t (a) VALUES (9);
SELECT a, b, c FROM [$(s)].t;
-- expect row: 9 | 'x' | 3

-- case: computed_column
CREATE TABLE [$(s)].t (a INT, b AS (a * 2));
INSERT [$(s)].t (a) VALUES (4);
SELECT b FROM [$(s)].t;
-- expect columns: b int
-- expect row: 8

-- case: the_table_exists_already
CREATE TABLE [$(s)].t (a INT);
GO
CREATE TABLE [$(s)].t (a INT);
-- expect error 2714 16 6 There is already an object named 't' in the database.

-- case: a_column_twice
CREATE TABLE [$(s)].t (a INT, A INT);
-- expect error 2705 16 3 Column names in each table must be unique. Column name 'A' in table 't' is specified more than once.

-- case: a_nullable_primary_key
CREATE TABLE [$(s)].t (a INT NULL, CONSTRAINT pk_t PRIMARY KEY (a));
-- expect error 8111 16 1 Cannot define PRIMARY KEY constraint on nullable column in table 't'.
-- expect error 1750 16 0

-- case: two_primary_keys
CREATE TABLE [$(s)].t (a INT NOT NULL PRIMARY KEY, b INT NOT NULL, PRIMARY KEY (b));
-- expect error 8110 16 0 Cannot add multiple PRIMARY KEY constraints to table 't'.

-- case: two_clustered_indexes
CREATE TABLE [$(s)].t (a INT NOT NULL PRIMARY KEY, b INT);
GO
CREATE CLUSTERED INDEX ix_b ON [$(s)].t (b);
-- expect error 1902 16 3 Cannot create more than one clustered index on table

-- case: an_index_on_an_unknown_column
CREATE TABLE [$(s)].t (a INT);
GO
CREATE INDEX ix_b ON [$(s)].t (b);
-- expect error 1911 16 1 Column name 'b' does not exist in the target table or view.

-- case: an_index_name_twice
CREATE TABLE [$(s)].t (a INT);
CREATE INDEX ix_a ON [$(s)].t (a);
GO
CREATE INDEX ix_a ON [$(s)].t (a);
-- expect error 1913 16 1 because an index or statistics with name 'ix_a' already exists

-- case: alter_table_add
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
ALTER TABLE [$(s)].t ADD b INT NOT NULL CONSTRAINT df_b DEFAULT 5, c VARCHAR(5) NULL;
GO
SELECT a, b, c FROM [$(s)].t;
-- expect row: 1 | 5 | NULL

-- case: alter_table_drop
CREATE TABLE [$(s)].t (a INT, b INT CONSTRAINT df_b DEFAULT 5, c VARCHAR(5) NULL);
INSERT [$(s)].t (a) VALUES (1);
GO
ALTER TABLE [$(s)].t DROP CONSTRAINT df_b;
ALTER TABLE [$(s)].t DROP COLUMN b;
GO
SELECT * FROM [$(s)].t;
-- expect columns: a int, c varchar
-- expect row: 1 | NULL

-- case: a_column_with_a_default_cannot_be_dropped
CREATE TABLE [$(s)].t (a INT, b INT CONSTRAINT df_b DEFAULT 5);
GO
ALTER TABLE [$(s)].t DROP COLUMN b;
-- expect error 5074 16 1 The object 'df_b' is dependent on column 'b'.
-- expect error 4922 16 9

-- case: adding_not_null_to_rows_needs_a_default
CREATE TABLE [$(s)].t (a INT);
INSERT [$(s)].t VALUES (1);
GO
ALTER TABLE [$(s)].t ADD b INT NOT NULL;
-- expect error 4901 16 1 ALTER TABLE only allows columns to be added that can contain nulls

-- case: dropping_what_is_not_there
DROP TABLE [$(s)].nope;
-- expect error 3701 11 5 Cannot drop the table '$(s).nope', because it does not exist or you do not have permission.
GO
DROP TABLE IF EXISTS [$(s)].nope;

-- case: a_key_value_longer_than_900_bytes
CREATE TABLE [$(s)].t (a NVARCHAR(500) NOT NULL CONSTRAINT pk_t PRIMARY KEY CLUSTERED);
INSERT [$(s)].t VALUES (REPLICATE(N'x', 450));
GO
INSERT [$(s)].t VALUES (REPLICATE(N'x', 451));
-- expect error 1946 16 * The index entry of length 902 bytes for the index 'pk_t' exceeds the maximum length of 900 bytes

-- case: ignore_dup_key
CREATE TABLE [$(s)].t (a INT);
CREATE UNIQUE INDEX ix_a ON [$(s)].t (a) WITH (IGNORE_DUP_KEY = ON);
INSERT [$(s)].t VALUES (1), (1), (2);
SELECT a FROM [$(s)].t ORDER BY a;
-- expect info Duplicate key was ignored.
-- expect row: 1
-- expect row: 2

-- A CHECK that stands at a column is about that column; one that stands for itself is about the table.
-- case: a_check_of_a_column_reads_no_other
CREATE TABLE [$(s)].t (a INT CHECK (b > 0), b INT);
-- expect error 8141 16 0 Column CHECK constraint for column 'a' references another column, table 't'.
-- expect error 1750 16 *
GO
CREATE TABLE [$(s)].t (a INT, b INT, CHECK (b > a));
GO
ALTER TABLE [$(s)].t ADD c INT CHECK (c > a);
-- expect error 8141 16 0 Column CHECK constraint for column 'c' references another column, table 't'.
-- expect error 1750 16 *

-- case: one_constraint_of_a_kind_at_a_column
CREATE TABLE [$(s)].t (a INT CHECK (a > 0) CHECK (a < 5));
-- expect error 8148 16 0 More than one column CHECK constraint specified for column 'a', table 't'.
GO
CREATE TABLE [$(s)].t (a INT UNIQUE UNIQUE);
-- expect error 8148 16 0 More than one column UNIQUE constraint specified for column 'a', table 't'.
GO
CREATE TABLE [$(s)].t (a INT UNIQUE CONSTRAINT ck CHECK (a > 0), CHECK (a < 5));

-- "CHECK, FOREIGN KEY, and NOT NULL constraints require that computed columns be persisted".
-- case: a_check_reads_no_column_that_is_not_stored
CREATE TABLE [$(s)].t (a INT, b AS a + 1 CHECK (b > 0));
-- expect error 8183 16 * Only UNIQUE or PRIMARY KEY constraints can be created on computed columns
GO
CREATE TABLE [$(s)].t (a INT, b AS a + 1, CONSTRAINT ck CHECK (b > 0));
-- expect error 1764 16 * Computed Column 'b' in table 't' is invalid for use in 'CHECK CONSTRAINT' because it is not persisted.
-- expect error 1750 16 *
GO
CREATE TABLE [$(s)].t (a INT, b AS a + 1 PERSISTED CHECK (b > 0));
INSERT [$(s)].t VALUES (-1);
-- expect error 547 16 0 conflicted with the CHECK constraint

-- "IGNORE_DUP_KEY can't be set to ON for indexes created on a view, nonunique indexes, XML indexes, spatial indexes, and filtered
-- indexes" (CREATE INDEX).
-- case: ignore_dup_key_is_for_unique_indexes
CREATE TABLE [$(s)].t (a INT, b INT);
CREATE INDEX ix ON [$(s)].t (a) WITH (IGNORE_DUP_KEY = ON);
-- expect error 1916 16 * CREATE INDEX options nonunique and ignore_dup_key are mutually exclusive.
GO
CREATE UNIQUE INDEX ix ON [$(s)].t (a) WHERE b = 1 WITH (IGNORE_DUP_KEY = ON);
-- expect error 10618 16 * Cannot create filtered index 'ix' on table
GO
CREATE INDEX ix ON [$(s)].t (a) WITH (IGNORE_DUP_KEY = OFF);
