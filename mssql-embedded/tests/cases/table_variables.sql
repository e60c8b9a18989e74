-- A table variable lives as long as its batch and is no part of a transaction: ROLLBACK leaves it alone. It
-- has constraints, but no statistics and no locks that others could see.

-- case: declared_filled_and_read
DECLARE @t TABLE (id INT NOT NULL PRIMARY KEY, v NVARCHAR(5) NOT NULL DEFAULT (N'd'));
INSERT @t (id) VALUES (2), (1);
UPDATE @t SET v = N'x' WHERE id = 2;
SELECT id, v FROM @t ORDER BY id;
-- expect columns: id int, v nvarchar
-- expect row: 1 | 'd'
-- expect row: 2 | 'x'

-- case: rollback_leaves_it_alone
CREATE TABLE [$(s)].t (id INT);
DECLARE @t TABLE (id INT);
BEGIN TRAN;
INSERT @t VALUES (1); INSERT [$(s)].t VALUES (1);
ROLLBACK;
SELECT (SELECT COUNT(*) FROM @t) AS a, (SELECT COUNT(*) FROM [$(s)].t) AS b;
-- expect row: 1 | 0

-- case: its_primary_key_is_checked
DECLARE @t TABLE (id INT PRIMARY KEY);
INSERT @t VALUES (1), (1);
-- expect error 2627 14 1 Cannot insert duplicate key in object 'dbo.@t'. The duplicate key value is (1).

-- case: a_failed_statement_is_undone_in_it_too
DECLARE @t TABLE (id INT PRIMARY KEY);
INSERT @t VALUES (1);
BEGIN TRY INSERT @t VALUES (2), (1); END TRY BEGIN CATCH END CATCH;
SELECT COUNT(*) AS n FROM @t;
-- expect row: 1

-- case: an_undeclared_one
SELECT * FROM @nope;
-- expect error 1087 15 2 Must declare the table variable "@nope".

-- case: it_ends_with_its_batch
DECLARE @t TABLE (id INT);
GO
INSERT @t VALUES (1);
-- expect error 1087 15 2 Must declare the table variable "@t".

-- case: it_is_not_visible_in_dynamic_sql
DECLARE @t TABLE (id INT);
EXEC (N'SELECT * FROM @t');
-- expect error 1087 15 2 Must declare the table variable "@t".

-- case: identity_and_checks
DECLARE @t TABLE (id INT IDENTITY(5, 1), v INT CHECK (v > 0));
INSERT @t (v) VALUES (1), (2);
SELECT id, v FROM @t ORDER BY id;
INSERT @t (v) VALUES (0);
-- expect error 547 16 0 The INSERT statement conflicted with the CHECK constraint
-- expect row: 5 | 1
-- expect row: 6 | 2

-- case: joined_with_an_alias
DECLARE @a TABLE (x INT); DECLARE @b TABLE (x INT);
INSERT @a VALUES (1), (2); INSERT @b VALUES (2);
SELECT p.x FROM @a p WHERE EXISTS (SELECT 1 FROM @b q WHERE q.x = p.x);
-- expect row: 2

-- case: declared_in_a_loop_it_keeps_its_rows
DECLARE @i INT = 0;
WHILE @i < 3
BEGIN
    DECLARE @t TABLE (x INT);
    INSERT @t VALUES (@i);
    SET @i += 1;
END;
SELECT COUNT(*) AS n FROM @t;
-- expect row: 3

-- "DECLARE { { @local_variable ... } [ ,...n ] | { @table_variable_name [ AS ] <table_type_definition> } }", whose constraints have
-- neither names nor references.
-- case: what_its_definition_cannot_have
DECLARE @t TABLE (a INT, CONSTRAINT pk PRIMARY KEY (a));
-- expect error 156 15 * Incorrect syntax near the keyword 'CONSTRAINT'.
GO
DECLARE @t TABLE (a INT CONSTRAINT ck CHECK (a > 0));
-- expect error 156 15 * Incorrect syntax near the keyword 'CONSTRAINT'.
GO
DECLARE @t TABLE (a INT REFERENCES t (a));
-- expect error 156 15 * Incorrect syntax near the keyword 'REFERENCES'.
GO
DECLARE @t TABLE (a INT), @u TABLE (b INT);
-- expect error 102 15 1 Incorrect syntax near ','.
GO
DECLARE @x INT = 5, @t TABLE (a INT);
-- expect error 156 15 * Incorrect syntax near the keyword 'TABLE'.
