-- Shows a procedure that trusts the connection's settings.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].set_options_missing
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT ON; -- wrong: set-options: does not open with SET NOCOUNT, XACT_ABORT ON
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SELECT 1 AS x;
END;
