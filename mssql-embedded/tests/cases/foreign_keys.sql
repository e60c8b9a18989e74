-- A foreign key demands that each row of a table refers to a row of another one, or has a NULL in the key. It is
-- checked when a statement has written all its rows. ON DELETE CASCADE deletes what refers to a deleted row.

-- case: rows_must_have_parents
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].c (id INT NOT NULL PRIMARY KEY, p_id INT NULL, CONSTRAINT fk_c FOREIGN KEY (p_id) REFERENCES [$(s)].p (id));
INSERT [$(s)].p VALUES (1), (2);
INSERT [$(s)].c VALUES (1, 1), (2, NULL);
GO
INSERT [$(s)].c VALUES (3, 1), (4, 9);
-- expect error 547 16 0 The INSERT statement conflicted with the FOREIGN KEY constraint "fk_c".
GO
SELECT id FROM [$(s)].c ORDER BY id;
-- expect row: 1
-- expect row: 2
GO
UPDATE [$(s)].c SET p_id = 7 WHERE id = 1;
-- expect error 547 16 0 The UPDATE statement conflicted with the FOREIGN KEY constraint "fk_c".
GO
UPDATE [$(s)].c SET p_id = 2 WHERE id = 1;
SELECT p_id FROM [$(s)].c WHERE id = 1;
-- expect row: 2

-- case: the_message_names_table_and_column
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].c (p_id INT CONSTRAINT fk_c REFERENCES [$(s)].p);
INSERT [$(s)].p VALUES (1);
INSERT [$(s)].c VALUES (1);
GO
INSERT [$(s)].c VALUES (2);
-- expect error 547 16 0 table "$(s).p", column 'id'.
GO
DELETE [$(s)].p;
-- expect error 547 16 0 table "$(s).c", column 'p_id'.

-- case: a_parent_in_use_stays
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY, a INT);
CREATE TABLE [$(s)].c (p_id INT CONSTRAINT fk_c REFERENCES [$(s)].p (id));
INSERT [$(s)].p VALUES (1, 0), (2, 0);
INSERT [$(s)].c VALUES (1);
GO
DELETE [$(s)].p WHERE id = 1;
-- expect error 547 16 0 The DELETE statement conflicted with the REFERENCE constraint "fk_c".
GO
UPDATE [$(s)].p SET id = 3 WHERE id = 1;
-- expect error 547 16 0 The UPDATE statement conflicted with the REFERENCE constraint "fk_c".
GO
DELETE [$(s)].p WHERE id = 2;
UPDATE [$(s)].p SET a = 5, id = 1;
SELECT id, a FROM [$(s)].p;
-- expect row: 1 | 5

-- case: cascade_reaches_further
CREATE TABLE [$(s)].a (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].b (id INT NOT NULL PRIMARY KEY, a_id INT REFERENCES [$(s)].a (id) ON DELETE CASCADE);
CREATE TABLE [$(s)].c (id INT NOT NULL PRIMARY KEY, b_id INT REFERENCES [$(s)].b (id) ON DELETE CASCADE ON UPDATE NO ACTION);
INSERT [$(s)].a VALUES (1), (2);
INSERT [$(s)].b VALUES (10, 1), (20, 2), (30, 1);
INSERT [$(s)].c VALUES (100, 10), (200, 20);
DELETE [$(s)].a WHERE id = 1;
SELECT @@ROWCOUNT AS n;
SELECT id FROM [$(s)].b;
SELECT id FROM [$(s)].c;
-- expect row: 1
-- expect set
-- expect row: 20
-- expect set
-- expect row: 200

-- case: cascade_stops_at_no_action
CREATE TABLE [$(s)].a (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].b (id INT NOT NULL PRIMARY KEY, a_id INT REFERENCES [$(s)].a (id) ON DELETE CASCADE);
CREATE TABLE [$(s)].c (b_id INT CONSTRAINT fk_stop REFERENCES [$(s)].b (id));
INSERT [$(s)].a VALUES (1);
INSERT [$(s)].b VALUES (10, 1);
INSERT [$(s)].c VALUES (10);
GO
DELETE [$(s)].a;
-- expect error 547 16 0 "fk_stop"
GO
SELECT COUNT(*) AS n FROM [$(s)].b;
-- expect row: 1

-- case: a_table_can_refer_to_itself
CREATE TABLE [$(s)].t (id INT NOT NULL PRIMARY KEY, parent INT NULL CONSTRAINT fk_self REFERENCES [$(s)].t (id));
INSERT [$(s)].t VALUES (2, 1), (1, NULL);
GO
DELETE [$(s)].t WHERE id = 1;
-- expect error 547 16 0 The DELETE statement conflicted with the SAME TABLE REFERENCE constraint "fk_self".
GO
DELETE [$(s)].t;
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 0
GO
INSERT [$(s)].t VALUES (5, 6);
-- expect error 547 16 0 The INSERT statement conflicted with the FOREIGN KEY SAME TABLE constraint "fk_self".

-- case: cascades_may_not_meet
CREATE TABLE [$(s)].t (id INT NOT NULL PRIMARY KEY, parent INT NULL CONSTRAINT fk_self REFERENCES [$(s)].t (id) ON DELETE CASCADE);
-- expect error 1785 16 0 may cause cycles or multiple cascade paths.
-- expect error 1750 16 0

-- case: two_columns
CREATE TABLE [$(s)].p (a INT NOT NULL, b VARCHAR(5) NOT NULL, CONSTRAINT uq_p UNIQUE (a, b));
CREATE TABLE [$(s)].c (x INT, y VARCHAR(5), CONSTRAINT fk_c FOREIGN KEY (x, y) REFERENCES [$(s)].p (a, b));
INSERT [$(s)].p VALUES (1, 'x');
INSERT [$(s)].c VALUES (1, 'X'), (9, NULL), (NULL, 'z');
GO
INSERT [$(s)].c VALUES (1, 'y');
-- expect error 547 16 0 "fk_c"

-- case: what_a_foreign_key_may_refer_to
CREATE TABLE [$(s)].p (id INT NOT NULL, b BIGINT NOT NULL PRIMARY KEY);
GO
CREATE TABLE [$(s)].c (x INT CONSTRAINT fk_c REFERENCES [$(s)].p (id));
-- expect error 1776 16 0 There are no primary or candidate keys in the referenced table
-- expect error 1750 16 0
GO
CREATE TABLE [$(s)].c (x INT CONSTRAINT fk_c REFERENCES [$(s)].p (b));
-- expect error 1778 16 0 is not the same data type as referencing column 'c.x' in foreign key 'fk_c'.
-- expect error 1750 16 0
GO
CREATE TABLE [$(s)].c (x INT CONSTRAINT fk_c REFERENCES [$(s)].nowhere (b));
-- expect error 1767 16 0 Foreign key 'fk_c' references invalid table '$(s).nowhere'.
-- expect error 1750 16 0

-- case: the_name_of_the_parent
CREATE DATABASE [$(s)_names];
GO
USE [$(s)_names];
GO
CREATE SCHEMA s;
GO
CREATE TABLE dbo.p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE s.p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE s.q (id INT NOT NULL PRIMARY KEY);
CREATE TABLE s.c (
    a INT CONSTRAINT fk_whole REFERENCES [$(s)_names].s.p (id),
    b INT CONSTRAINT fk_default REFERENCES [$(s)_NAMES]..p (id),
    c INT CONSTRAINT fk_bare REFERENCES p (id),
    d INT CONSTRAINT fk_schema REFERENCES s.p (id));
SELECT k.name, SCHEMA_NAME(t.schema_id) AS s FROM sys.foreign_keys AS k
    JOIN sys.tables AS t ON t.object_id = k.referenced_object_id ORDER BY k.name;
-- expect row: 'fk_bare' | 'dbo'
-- expect row: 'fk_default' | 'dbo'
-- expect row: 'fk_schema' | 's'
-- expect row: 'fk_whole' | 's'
GO
CREATE TABLE s.d (a INT CONSTRAINT fk_bare_q REFERENCES q (id));
-- expect error 1767 16 0 Foreign key 'fk_bare_q' references invalid table 'q'.
-- expect error 1750 16 0
GO
CREATE TABLE s.d (id INT NOT NULL PRIMARY KEY, a INT CONSTRAINT fk_itself REFERENCES d (id));
-- expect error 1767 16 0 Foreign key 'fk_itself' references invalid table 'd'.
-- expect error 1750 16 0
GO
CREATE TABLE s.d (id INT NOT NULL PRIMARY KEY, a INT CONSTRAINT fk_itself REFERENCES [$(s)_names].s.d (id));
ALTER TABLE s.d ADD CONSTRAINT fk_more FOREIGN KEY (a) REFERENCES [$(s)_names].dbo.p (id);
GO
CREATE TABLE s.e (a INT CONSTRAINT fk_other REFERENCES master.dbo.p (id));
-- expect error 1763 16 0 Cross-database foreign key references are not supported. Foreign key 'master.dbo.p'.
-- expect error 1750 16 0
GO
USE master;
DROP DATABASE [$(s)_names];

-- case: added_and_dropped
CREATE TABLE [$(s)].p (id INT NOT NULL CONSTRAINT pk_p PRIMARY KEY);
CREATE TABLE [$(s)].c (x INT);
INSERT [$(s)].c VALUES (5);
GO
ALTER TABLE [$(s)].c ADD CONSTRAINT fk_c FOREIGN KEY (x) REFERENCES [$(s)].p (id);
-- expect error 547 16 0 The ALTER TABLE statement conflicted with the FOREIGN KEY constraint "fk_c".
GO
INSERT [$(s)].p VALUES (5);
ALTER TABLE [$(s)].c ADD CONSTRAINT fk_c FOREIGN KEY (x) REFERENCES [$(s)].p (id);
GO
SELECT name, delete_referential_action_desc FROM sys.foreign_keys WHERE parent_object_id = OBJECT_ID(N'[$(s)].c');
-- expect row: 'fk_c' | 'NO_ACTION'
GO
TRUNCATE TABLE [$(s)].p;
-- expect error 4712 16 1 because it is being referenced by a FOREIGN KEY constraint.
GO
ALTER TABLE [$(s)].p DROP CONSTRAINT pk_p;
-- expect error 3725 16 0 The constraint 'pk_p' is being referenced by table 'c', foreign key constraint 'fk_c'.
-- expect error 3727 16 0
GO
DROP TABLE [$(s)].p;
-- expect error 3726 16 1 Could not drop object '$(s).p' because it is referenced by a FOREIGN KEY constraint.
GO
ALTER TABLE [$(s)].c DROP CONSTRAINT fk_c;
DELETE [$(s)].p;
DROP TABLE [$(s)].p;
SELECT x FROM [$(s)].c;
-- expect row: 5

-- case: a_check_waits_for_the_parent
CREATE TABLE [$(s)].p (id INT NOT NULL PRIMARY KEY);
CREATE TABLE [$(s)].c (p_id INT REFERENCES [$(s)].p (id));
INSERT [$(s)].p VALUES (1);
GO
BEGIN TRANSACTION;
DELETE [$(s)].p WHERE id = 1;
GO
-- on b
-- blocks
INSERT [$(s)].c VALUES (1);
-- expect error 547 16 0
GO
COMMIT;
