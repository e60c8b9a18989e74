-- Shows columns that a table variable and an OPENJSON result do not have.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].local_binding
    @items  NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @t TABLE (id BIGINT NOT NULL);
    INSERT INTO @t (number) VALUES (1); -- wrong: local-binding: column number -- wrong: binding: [@t].[number]
    SELECT t.payload -- wrong: local-binding: t.payload
    FROM   @t AS t;
    SELECT j.ord -- wrong: local-binding: j.ord -- wrong: binding: the column j.ord
    FROM   OPENJSON(@items) WITH (id BIGINT '$.id') AS j
    WHERE  j.name = N'x'; -- wrong: local-binding: j.name -- wrong: binding: the column j.name
END;
