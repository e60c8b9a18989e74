-- Shows numbers that the error table does not have.
--
-- Callers   self-test
-- Locks     none
-- Throws    51050, 51003 whatever the caller asks for
CREATE OR ALTER PROCEDURE [$(schema)].error_number
    @id  INT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @id = 1
    BEGIN
        THROW 51050, N'unlisted', 1; -- wrong: error-number: THROW 51050, which docs/errors.md does not list
    END;
    IF @id = 2
    BEGIN
        THROW @id, N'computed', 1; -- wrong: error-number: the number of THROW is not a literal
    END;
    IF @id = 3
    BEGIN
        THROW 51003, N'right', 1;
    END;
END;
