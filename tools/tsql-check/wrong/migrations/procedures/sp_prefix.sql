-- Shows a name that begins with sp_.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].sp_prefix -- wrong: sp-prefix: the name sp_prefix begins with sp_
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT 1 AS x;
END;
