-- Deletes an instance's old executions.
--
-- Callers   ProviderAdmin::prune_executions
-- Locks     as _prune_executions
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id unusable
--           51007 no such instance
--
-- Ends by itself after about @budget_ms; while has_more is 1, something is left.
CREATE OR ALTER PROCEDURE [$(schema)].prune_executions
    @instance_id         NVARCHAR(4000),
    @keep_last           BIGINT = NULL,
    @completed_before_ms BIGINT = NULL,
    @budget_ms           BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @has_more BIT, @executions BIGINT, @events BIGINT,
            @deadline_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + @budget_ms;

    IF NOT EXISTS (SELECT 1
                   FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
                   WHERE  i.instance_id = @instance_id)
    BEGIN
        THROW 51007, N'instance not found', 1;
    END;

    EXEC [$(schema)]._prune_executions
        @instance_id = @instance_id, @keep_last = @keep_last, @completed_before_ms = @completed_before_ms,
        @deadline_ms = @deadline_ms, @has_more = @has_more OUTPUT,
        @executions_deleted = @executions OUTPUT, @events_deleted = @events OUTPUT;

    SELECT CAST(1 AS BIGINT) AS instances_processed, @executions AS executions_deleted, @events AS events_deleted,
           @has_more AS has_more;
END;
