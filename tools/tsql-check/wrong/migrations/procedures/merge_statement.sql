-- Shows a MERGE.
--
-- Callers   self-test
-- Locks     instances: one row
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].merge_statement
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    MERGE [$(schema)].instances AS t -- wrong: merge: MERGE is used -- wrong: access-path: instances is reached without INDEX(…)
    USING (SELECT N'x' AS instance_id) AS s ON t.instance_id = s.instance_id
    WHEN NOT MATCHED THEN INSERT (instance_id) VALUES (s.instance_id);
END;
