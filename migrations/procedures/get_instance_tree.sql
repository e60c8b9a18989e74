-- Returns an instance with all its descendants, parents before children.
--
-- Callers   ProviderAdmin::get_instance_tree
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--
-- One step per level of the tree, not per node. An id that turns up twice is not followed again, so
-- the walk ends whatever the rows say. An unknown id is a tree of itself.
CREATE OR ALTER PROCEDURE [$(schema)].get_instance_tree
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @depth INT = 0, @rows BIGINT = 1;
    DECLARE @tree TABLE
    (
        instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
        depth       INT NOT NULL
    );

    INSERT INTO @tree (instance_id, depth) VALUES (@instance_id, 0);

    WHILE @rows > 0
    BEGIN
        INSERT INTO @tree (instance_id, depth)
        SELECT DISTINCT i.instance_id, @depth + 1
        FROM   @tree AS t
        INNER JOIN [$(schema)].instances AS i WITH (INDEX(ix_instances_parent), FORCESEEK, ROWLOCK)
               ON  i.parent_instance_id = t.instance_id
        WHERE  t.depth = @depth
          AND  NOT EXISTS (SELECT 1 FROM @tree AS k WHERE k.instance_id = i.instance_id);
        SET @rows = @@ROWCOUNT;
        SET @depth = @depth + 1;
    END;

    SELECT t.instance_id, t.depth
    FROM   @tree AS t
    ORDER BY t.depth, t.instance_id;
END;
