-- ALTER TABLE, CREATE and DROP INDEX, DROP and TRUNCATE TABLE need the schema-modification lock of their table,
-- and a foreign key that of the table it refers to. Who has waited for it finds the table as it is then, and not
-- as it was when the wait began.

-- case: a_column_that_was_rolled_back_meanwhile
CREATE TABLE [$(s)].t (id INT NOT NULL);
INSERT [$(s)].t VALUES (1);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t ADD a INT;
GO
-- on b
-- blocks
ALTER TABLE [$(s)].t ADD b INT NOT NULL DEFAULT 5;
GO
ROLLBACK;
GO
-- on b
SELECT * FROM [$(s)].t;
-- expect columns: id int, b int
-- expect row: 1 | 5

-- case: a_column_that_was_added_meanwhile
CREATE TABLE [$(s)].t (id INT NOT NULL);
INSERT [$(s)].t VALUES (1);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t ADD a INT;
GO
-- on b
-- blocks
ALTER TABLE [$(s)].t ADD b INT NOT NULL DEFAULT 5;
GO
-- on c
-- blocks
ALTER TABLE [$(s)].t ADD a INT;
-- expect error 2705 16 * Column name 'a' in table
GO
COMMIT;
GO
-- on b
SELECT * FROM [$(s)].t;
-- expect columns: id int, a int, b int
-- expect row: 1 | NULL | 5
GO
-- on c
SELECT COUNT(*) FROM [$(s)].t;
-- expect row: 1

-- case: a_column_that_was_dropped_meanwhile
CREATE TABLE [$(s)].t (id INT NOT NULL, a INT, b INT);
INSERT [$(s)].t VALUES (1, 2, 3);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t DROP COLUMN a;
GO
-- on b
-- blocks
ALTER TABLE [$(s)].t DROP COLUMN a;
-- expect error 4924 16 1 because column 'a' does not exist
GO
-- on c
-- blocks
ALTER TABLE [$(s)].t ALTER COLUMN b BIGINT;
GO
COMMIT;
GO
-- on b
SELECT COUNT(*) FROM [$(s)].t;
-- expect row: 1
GO
-- on c
SELECT * FROM [$(s)].t;
-- expect columns: id int, b bigint
-- expect row: 1 | 3

-- case: a_constraint_that_was_dropped_meanwhile
CREATE TABLE [$(s)].t (id INT NOT NULL CONSTRAINT ck_id CHECK (id > 0));
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t DROP CONSTRAINT ck_id;
GO
-- on b
-- blocks
ALTER TABLE [$(s)].t DROP CONSTRAINT ck_id;
-- expect error 3728 16 1 'ck_id' is not a constraint.
-- expect error 3727 16 *
GO
COMMIT;

-- case: an_index_of_that_name_was_created_meanwhile
CREATE TABLE [$(s)].t (id INT NOT NULL, a INT);
INSERT [$(s)].t VALUES (1, 2);
GO
BEGIN TRANSACTION;
CREATE INDEX ix_a ON [$(s)].t (a);
GO
-- on b
-- blocks
CREATE INDEX ix_a ON [$(s)].t (a);
-- expect error 1913 16 1 already exists
GO
COMMIT;

-- case: an_index_that_was_dropped_meanwhile
CREATE TABLE [$(s)].t (id INT NOT NULL, a INT);
CREATE INDEX ix_a ON [$(s)].t (a);
GO
BEGIN TRANSACTION;
DROP INDEX ix_a ON [$(s)].t;
GO
-- on b
-- blocks
ALTER TABLE [$(s)].t ADD b INT;
GO
-- on c
-- blocks
CREATE INDEX ix_c ON [$(s)].t (a);
GO
COMMIT;
GO
-- on b
SELECT * FROM [$(s)].t;
-- expect columns: id int, a int, b int
GO
-- on c
INSERT [$(s)].t VALUES (1, 2, 3);
SELECT id, b FROM [$(s)].t WITH (INDEX (ix_c)) WHERE a = 2;
-- expect row: 1 | 3

-- case: an_index_on_a_table_whose_column_was_rolled_back
CREATE TABLE [$(s)].t (id INT NOT NULL, a INT);
INSERT [$(s)].t VALUES (1, 2);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].t ADD x INT;
GO
-- on b
-- blocks
CREATE CLUSTERED INDEX ix_a ON [$(s)].t (a);
GO
ROLLBACK;
GO
-- on b
SELECT * FROM [$(s)].t WHERE a = 2;
-- expect columns: id int, a int
-- expect row: 1 | 2

-- case: the_table_was_dropped_meanwhile
CREATE TABLE [$(s)].t (id INT NOT NULL, a INT);
CREATE INDEX ix_a ON [$(s)].t (a);
GO
BEGIN TRANSACTION;
INSERT [$(s)].t VALUES (1, 2);
GO
-- on b
-- blocks
ALTER TABLE [$(s)].t ADD b INT;
-- expect error 4902 16 1 Cannot find the object "$(s).t"
GO
-- on c
-- blocks
CREATE INDEX ix_b ON [$(s)].t (a);
-- expect error 1088 16 12 Cannot find the object "$(s).t"
GO
-- on d
-- blocks
DROP INDEX ix_a ON [$(s)].t;
-- expect error 3701 11 * Cannot drop the index '$(s).t.ix_a'
GO
-- on e
-- blocks
DROP TABLE [$(s)].t;
-- expect error 3701 11 5 Cannot drop the table '$(s).t'
GO
-- on f
-- blocks
TRUNCATE TABLE [$(s)].t;
-- expect error 4701 16 1 Cannot find the object "$(s).t"
GO
-- on g
-- blocks
DROP TABLE IF EXISTS [$(s)].t;
GO
DROP TABLE [$(s)].t;
COMMIT;

-- case: the_table_was_replaced_meanwhile
CREATE TABLE [$(s)].t (id INT NOT NULL);
GO
BEGIN TRANSACTION;
INSERT [$(s)].t VALUES (1);
GO
-- on b
-- blocks
ALTER TABLE [$(s)].t ADD b INT NOT NULL DEFAULT 5;
GO
DROP TABLE [$(s)].t;
CREATE TABLE [$(s)].t (other INT);
INSERT [$(s)].t VALUES (7);
COMMIT;
GO
-- on b
SELECT * FROM [$(s)].t;
-- expect columns: other int, b int
-- expect row: 7 | 5

-- case: truncated_after_its_definition_was_rolled_back
CREATE TABLE [$(s)].t (id INT NOT NULL, a INT);
INSERT [$(s)].t VALUES (1, 2);
GO
BEGIN TRANSACTION;
CREATE INDEX ix_a ON [$(s)].t (a);
GO
-- on b
-- blocks
TRUNCATE TABLE [$(s)].t;
GO
ROLLBACK;
GO
-- on b
INSERT [$(s)].t VALUES (3, 4);
SELECT id FROM [$(s)].t WHERE a = 4;
-- expect row: 3
GO
CREATE INDEX ix_a ON [$(s)].t (a);
GO
SELECT id FROM [$(s)].t WITH (INDEX (ix_a)) WHERE a = 4;
-- expect row: 3

-- case: a_foreign_key_was_added_meanwhile
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
GO
BEGIN TRANSACTION;
CREATE TABLE [$(s)].c (p_id INT CONSTRAINT fk_c REFERENCES [$(s)].p (id));
GO
-- on b
-- blocks
TRUNCATE TABLE [$(s)].p;
-- expect error 4712 16 1
GO
-- on c
-- blocks
DROP TABLE [$(s)].p;
-- expect error 3726 16 1
GO
COMMIT;

-- case: the_parent_of_a_new_table_changed_back_meanwhile
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
INSERT [$(s)].p VALUES (1);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].p ADD x INT;
GO
-- on b
-- blocks
CREATE TABLE [$(s)].c (p_id INT CONSTRAINT fk_c REFERENCES [$(s)].p (id));
GO
ROLLBACK;
GO
-- on b
SELECT * FROM [$(s)].p;
-- expect columns: id int
-- expect row: 1
GO
INSERT [$(s)].c VALUES (2);
-- expect error 547 16 0 "fk_c"
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].p ADD x INT;
GO
-- on b
-- blocks
DROP TABLE [$(s)].c;
GO
ROLLBACK;
GO
-- on b
SELECT * FROM [$(s)].p;
-- expect columns: id int
-- expect row: 1

-- case: the_parent_was_dropped_meanwhile
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].t (a INT);
GO
BEGIN TRANSACTION;
INSERT [$(s)].p VALUES (1);
GO
-- on b
-- blocks
CREATE TABLE [$(s)].c (p_id INT CONSTRAINT fk_c REFERENCES [$(s)].p (id));
-- expect error 1767 16 0 Foreign key 'fk_c' references invalid table '$(s).p'.
-- expect error 1750 16 *
GO
-- on c
-- blocks
ALTER TABLE [$(s)].t ADD CONSTRAINT fk_t FOREIGN KEY (a) REFERENCES [$(s)].p (id);
-- expect error 1767 16 0 Foreign key 'fk_t' references invalid table '$(s).p'.
-- expect error 1750 16 *
GO
DROP TABLE [$(s)].p;
COMMIT;

-- case: the_key_of_the_parent_was_rolled_back_meanwhile
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY, x INT);
CREATE TABLE [$(s)].t (a INT);
GO
BEGIN TRANSACTION;
ALTER TABLE [$(s)].p ADD CONSTRAINT uq_x UNIQUE (x);
GO
-- on b
-- blocks
CREATE TABLE [$(s)].c (x INT CONSTRAINT fk_c REFERENCES [$(s)].p (x));
-- expect error 1776 16 0 There are no primary or candidate keys
-- expect error 1750 16 *
GO
-- on c
-- blocks
ALTER TABLE [$(s)].t ADD b INT CONSTRAINT fk_t REFERENCES [$(s)].p (x);
-- expect error 1776 16 0 There are no primary or candidate keys
-- expect error 1750 16 *
GO
ROLLBACK;

-- case: the_procedure_was_dropped_meanwhile
CREATE PROCEDURE [$(s)].p AS SELECT 1;
GO
BEGIN TRANSACTION;
EXEC (N'ALTER PROCEDURE [$(s)].p AS SELECT 2');
GO
-- on b
-- blocks
DROP PROCEDURE [$(s)].p;
-- expect error 3701 11 5 Cannot drop the procedure '$(s).p'
GO
-- on c
-- blocks
ALTER PROCEDURE [$(s)].p AS SELECT 3;
-- expect error 208 16 6
GO
DROP PROCEDURE [$(s)].p;
COMMIT;
