-- Shows IF, ELSE and WHILE without blocks.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].begin_end
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @id = 1
        SELECT 1 AS x; -- wrong: begin-end: IF without
    ELSE
        SELECT 2 AS x; -- wrong: begin-end: ELSE without
    WHILE @id < 3
        SET @id = @id + 1; -- wrong: begin-end: WHILE without
END;
