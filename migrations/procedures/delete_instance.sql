-- Deletes an instance with all its descendants, all or none.
--
-- Callers   ProviderAdmin::delete_instance
-- Locks     as _delete_instances, or as _finish_deletion
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id unusable
--           51007 no such instance
--           51009 an instance of the tree is running and @force is 0
--           51010 never: _delete_instances raises it for lists only
--           51011 the instance is a sub-orchestration
--
-- A sub-orchestration is refused even with force: its parent waits for it.
--
-- A large tree is fenced and then deleted in short transactions, for about @budget_ms. While has_more is 1 call again
-- with @resume = 1, which goes on with what this deletion has fenced and touches nothing else.
CREATE OR ALTER PROCEDURE [$(schema)].delete_instance
    @instance_id NVARCHAR(4000),
    @force       BIT = 0,
    @budget_ms   BIGINT = NULL,
    @resume      BIT = 0
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

    DECLARE @is_known BIT = 0, @parent_id NVARCHAR(400), @has_more BIT = 0, @instances BIGINT = 0,
            @executions BIGINT = 0, @events BIGINT = 0, @messages BIGINT = 0,
            @deadline_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + @budget_ms;

    IF @resume = 1
    BEGIN
        EXEC [$(schema)]._finish_deletion
            @root_id = @instance_id, @instance_ids = NULL, @deadline_ms = @deadline_ms,
            @has_more = @has_more OUTPUT,
            @instances_deleted = @instances OUTPUT, @executions_deleted = @executions OUTPUT,
            @events_deleted = @events OUTPUT, @queue_messages_deleted = @messages OUTPUT;
    END
    ELSE
    BEGIN
        SELECT @is_known = 1, @parent_id = i.parent_instance_id
        FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
        WHERE  i.instance_id = @instance_id;

        IF @is_known = 0
        BEGIN
            THROW 51007, N'instance not found', 1;
        END;
        IF @parent_id IS NOT NULL
        BEGIN
            THROW 51011, N'instance is a sub-orchestration; delete its root instead', 1;
        END;

        EXEC [$(schema)]._delete_instances
            @root_id = @instance_id, @instance_ids = NULL, @force = @force, @terminal_root_only = 0,
            @deadline_ms = @deadline_ms, @has_more = @has_more OUTPUT,
            @instances_deleted = @instances OUTPUT, @executions_deleted = @executions OUTPUT,
            @events_deleted = @events OUTPUT, @queue_messages_deleted = @messages OUTPUT;
    END;

    SELECT @instances AS instances_deleted, @executions AS executions_deleted, @events AS events_deleted,
           @messages AS queue_messages_deleted, @has_more AS has_more;
END;
