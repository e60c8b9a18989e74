-- Deletes an instance's old executions.
--
-- Callers   ProviderAdmin::prune_executions
-- Locks     as _prune_executions
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id unusable
--           51007 no such instance
CREATE OR ALTER PROCEDURE [$(schema)].prune_executions
    @instance_id         NVARCHAR(4000),
    @keep_last           BIGINT = NULL,
    @completed_before_ms BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @executions BIGINT, @events BIGINT;

    IF NOT EXISTS (SELECT 1
                   FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
                   WHERE  i.instance_id = @instance_id)
    BEGIN
        THROW 51007, N'instance not found', 1;
    END;

    EXEC [$(schema)]._prune_executions
        @instance_id = @instance_id, @keep_last = @keep_last, @completed_before_ms = @completed_before_ms,
        @executions_deleted = @executions OUTPUT, @events_deleted = @events OUTPUT;

    SELECT CAST(1 AS BIGINT) AS instances_processed, @executions AS executions_deleted, @events AS events_deleted;
END;
