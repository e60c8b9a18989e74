-- Asks a running instance to stop, as duroxide's client does.
--
-- Callers   a DBA, the command-line tool; not the runtime
-- Locks     instance_locks and orchestrator_queue, through enqueue_for_orchestrator
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id unusable
--           51007 no such instance
--           51020 the instance has finished
--
-- The instance ends as Failed once a runtime has run its next turn, and its children with it. What is
-- not there or has finished is refused: a message for it would stay in the queue for ever.
CREATE OR ALTER PROCEDURE [$(schema)].cancel_instance
    @instance_id NVARCHAR(4000),
    @reason      NVARCHAR(MAX) = N'cancelled by an operator'
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_is_alive @instance_id = @instance_id;

    DECLARE @payload NVARCHAR(MAX) = N'{"CancelInstance":{"instance":"' + STRING_ESCAPE(@instance_id, N'json')
                                     + N'","reason":"' + STRING_ESCAPE(@reason, N'json') + N'"}}';
    EXEC [$(schema)].enqueue_for_orchestrator
        @instance_id = @instance_id, @kind = N'CancelInstance', @payload = @payload;
END;
