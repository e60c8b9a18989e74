-- Deletes the instances of a list, all or none.
--
-- Callers   ProviderAdmin::delete_instances_atomic
-- Locks     as _delete_instances
-- Throws    51000 called inside a transaction
--           51001, 51002 an instance id is unusable
--           51009 an instance is running and @force is 0
--           51010 a child of an instance in the list is not in the list
CREATE OR ALTER PROCEDURE [$(schema)].delete_instances_atomic
    @instance_ids NVARCHAR(MAX),
    @force        BIT = 0
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    EXEC [$(schema)]._check_instance_ids @list = @instance_ids, @path_is_member = 0;

    DECLARE @instances BIGINT, @executions BIGINT, @events BIGINT, @messages BIGINT;

    EXEC [$(schema)]._delete_instances
        @root_id = NULL, @instance_ids = @instance_ids, @force = @force, @terminal_root_only = 0,
        @instances_deleted = @instances OUTPUT, @executions_deleted = @executions OUTPUT,
        @events_deleted = @events OUTPUT, @queue_messages_deleted = @messages OUTPUT;

    SELECT @instances AS instances_deleted, @executions AS executions_deleted, @events AS events_deleted,
           @messages AS queue_messages_deleted;
END;
