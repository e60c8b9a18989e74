-- Sends of an instance's history what a worker that has fetched an activity does not remember. Nothing
-- when nothing was found, or to a caller that remembers nothing.
--
-- Callers   fetch_work_item, after its commit
-- Locks     none kept: executions and history are only read; after a failure those of abandon_work_item
-- Throws    51000 called inside a transaction
--           51004 the lease is lost while it is given back
--
-- Only what is small, so that an activity is not held up by a history that its worker may not need.
-- The activity is the caller's by now. If the history cannot be read, the caller is about to hear that
-- it has none, so it goes back to the queue as it was before the failure is reported.
CREATE OR ALTER PROCEDURE [$(schema)]._send_work_history
    @found       BIT,
    @instance_id NVARCHAR(4000),
    @process_id  UNIQUEIDENTIFIER,
    @lock_token  NVARCHAR(128),
    @work_id     BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @item_token NVARCHAR(500);

    IF @found = 0 OR @process_id IS NULL
    BEGIN
        RETURN;
    END;

    BEGIN TRY
        EXEC [$(schema)]._send_history
            @instance_id = @instance_id, @execution_id = NULL, @process_id = @process_id, @bytes_max = 65536;
    END TRY
    BEGIN CATCH
        SET @item_token = @lock_token + N':' + CAST(@work_id AS NVARCHAR(20));
        EXEC [$(schema)].abandon_work_item @lock_token = @item_token, @ignore_attempt = 1;
        THROW;
    END CATCH;
END;
