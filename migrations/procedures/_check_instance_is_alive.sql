-- Refuses an instance that no message can reach any more.
--
-- Callers   cancel_instance, raise_event
-- Locks     none
-- Throws    51001, 51002 instance id unusable
--           51007 neither the instance nor a message that starts it is there, or it is being deleted
--           51020 the instance has finished
CREATE OR ALTER PROCEDURE [$(schema)]._check_instance_is_alive
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @status NVARCHAR(50);

    SELECT @status = i.status
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;

    IF @status IN (N'Completed', N'Failed')
    BEGIN
        THROW 51020, N'instance has finished; nothing reaches it any more', 1;
    END;
    IF @status = N'Deleting'
    BEGIN
        THROW 51007, N'instance is being deleted', 1;
    END;
    IF @status IS NULL
       AND NOT EXISTS (SELECT 1
                       FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
                       WHERE  q.instance_id = @instance_id
                         AND  q.kind IN (N'StartOrchestration', N'ContinueAsNew'))
       AND NOT EXISTS (SELECT 1
                       FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
                       WHERE  h.instance_id = @instance_id)
    BEGIN
        THROW 51007, N'instance not found', 1;
    END;
END;
