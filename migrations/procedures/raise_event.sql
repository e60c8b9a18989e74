-- Raises an external event for a running instance, as duroxide's client does.
--
-- Callers   a DBA, the command-line tool; not the runtime
-- Locks     instance_locks and orchestrator_queue, through enqueue_for_orchestrator
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id unusable
--           51007 no such instance
--           51020 the instance has finished
--
-- @data reaches the orchestration as it is given; typed orchestrations expect JSON in it. An instance
-- that is not there or has finished is refused: the event would stay in the queue for ever.
CREATE OR ALTER PROCEDURE [$(schema)].raise_event
    @instance_id NVARCHAR(4000),
    @name        NVARCHAR(MAX),
    @data        NVARCHAR(MAX) = N''
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_is_alive @instance_id = @instance_id;

    DECLARE @payload NVARCHAR(MAX) = N'{"ExternalRaised":{"instance":"' + STRING_ESCAPE(@instance_id, N'json')
                                     + N'","name":"' + STRING_ESCAPE(@name, N'json')
                                     + N'","data":"' + STRING_ESCAPE(@data, N'json') + N'"}}';
    EXEC [$(schema)].enqueue_for_orchestrator
        @instance_id = @instance_id, @kind = N'ExternalRaised', @payload = @payload;
END;
