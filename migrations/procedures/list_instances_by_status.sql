-- Lists the instances whose current execution has the given status, newest first.
--
-- Callers   ProviderAdmin::list_instances_by_status
-- Locks     none kept
-- Throws    nothing
--
-- In the order of the index of states, backwards: nothing is sorted. The index has all that is needed: a reader
-- that went on to the row while it had the entry would meet a writer, who has the row and wants the entry. An
-- instance that is deleted and made again during the search comes back before where the search has come to, so
-- that none is met at two places. The ids are copied before they are sent, as in list_instances.
CREATE OR ALTER PROCEDURE [$(schema)].list_instances_by_status
    @status NVARCHAR(100)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @sent TABLE
    (
        n           BIGINT IDENTITY(1, 1) NOT NULL PRIMARY KEY,
        instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL
    );

    INSERT INTO @sent (instance_id)
    SELECT i.instance_id
    FROM   [$(schema)].instances AS i WITH (INDEX(ix_instances_status), FORCESEEK, ROWLOCK)
    WHERE  i.status = @status
    ORDER BY i.created_at_ms DESC, i.instance_id DESC;

    SELECT t.instance_id
    FROM   @sent AS t
    ORDER BY t.n;
END;
