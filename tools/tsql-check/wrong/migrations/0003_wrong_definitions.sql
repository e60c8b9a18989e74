-- Shows what is wrong with tables, indexes and constraints.
CREATE INDEX ix_missing_column ON [$(schema)].worker_queue (id, misspelt); -- wrong: binding: [dx].[worker_queue].[misspelt]
GO

CREATE TABLE [$(schema)].unnamed
(
    id     INT NOT NULL PRIMARY KEY, -- wrong: named-constraint: give it one that begins with pk_
    name   NVARCHAR(20) NOT NULL DEFAULT (N''), -- wrong: named-constraint: give it one that begins with df_
    other  INT NOT NULL CONSTRAINT positive CHECK (other > 0), -- wrong: named-constraint: the name positive does not begin with ck_
    CONSTRAINT fk_unnamed FOREIGN KEY (other) REFERENCES [$(schema)].ledger (number) -- wrong: named-constraint: a foreign key
);
GO

CREATE UNIQUE INDEX unnamed_name ON [$(schema)].unnamed (name); -- wrong: named-constraint: does not begin with ix_ or uq_
GO

ALTER TABLE [$(schema)].unnamed ALTER COLUMN name NVARCHAR(30) NOT NULL; -- wrong: binding: the check follows only ALTER TABLE
GO

ALTER TABLE [$(schema)].nowhere ADD more INT NULL; -- wrong: binding: no earlier migration creates the altered table dx.nowhere
GO

CREATE TABLE stray (id INT NOT NULL); -- wrong: two-part-name: the table stray is not named as [$(schema)].stray
GO

EXEC (N'DROP TABLE stray'); -- wrong: dynamic-sql: EXEC of a string
GO

CREATE OR ALTER PROCEDURE [$(schema)].misplaced -- wrong: procedure-file: procedures belong in migrations/procedures
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
END;
