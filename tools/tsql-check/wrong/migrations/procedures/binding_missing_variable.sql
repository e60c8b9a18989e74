-- Shows a variable that is not declared.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].binding_missing_variable
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT @undeclared AS x; -- wrong: binding: SQL70590 Must declare the variable or parameter "@undeclared"
END;
