-- Deletes the instances of a list, all or none.
--
-- Callers   ProviderAdmin::delete_instances_atomic
-- Locks     as _delete_instances, or as _finish_deletion
-- Throws    51000 called inside a transaction
--           51001, 51002 an instance id is unusable
--           51009 an instance is running and @force is 0
--           51010 a child of an instance in the list is not in the list
--
-- @budget_ms, @resume and has_more as in delete_instance.
CREATE OR ALTER PROCEDURE [$(schema)].delete_instances_atomic
    @instance_ids NVARCHAR(MAX),
    @force        BIT = 0,
    @budget_ms    BIGINT = NULL,
    @resume       BIT = 0
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    EXEC [$(schema)]._check_instance_ids @list = @instance_ids;

    DECLARE @has_more BIT = 0, @instances BIGINT = 0, @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0,
            @deadline_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + @budget_ms;

    IF @resume = 1
    BEGIN
        EXEC [$(schema)]._finish_deletion
            @root_id = NULL, @instance_ids = @instance_ids, @deadline_ms = @deadline_ms,
            @has_more = @has_more OUTPUT,
            @instances_deleted = @instances OUTPUT, @executions_deleted = @executions OUTPUT,
            @events_deleted = @events OUTPUT, @queue_messages_deleted = @messages OUTPUT;
    END
    ELSE
    BEGIN
        EXEC [$(schema)]._delete_instances
            @root_id = NULL, @instance_ids = @instance_ids, @force = @force, @terminal_root_only = 0,
            @deadline_ms = @deadline_ms, @has_more = @has_more OUTPUT,
            @instances_deleted = @instances OUTPUT, @executions_deleted = @executions OUTPUT,
            @events_deleted = @events OUTPUT, @queue_messages_deleted = @messages OUTPUT;
    END;

    SELECT @instances AS instances_deleted, @executions AS executions_deleted, @events AS events_deleted,
           @messages AS queue_messages_deleted, @has_more AS has_more;
END;
