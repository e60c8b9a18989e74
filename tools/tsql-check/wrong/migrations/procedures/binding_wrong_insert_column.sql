-- Shows an INSERT into a column that does not exist.
--
-- Callers   self-test
-- Locks     instances: one row
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].binding_wrong_insert_column
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    INSERT INTO [$(schema)].instances WITH (ROWLOCK)
        (instance_id, state) -- wrong: binding: [dx].[instances].[state] -- wrong: local-binding: column state
    VALUES (N'x', N'y');
END;
