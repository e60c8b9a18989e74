-- Counts the messages and activities that nobody holds.
--
-- Callers   ProviderAdmin::get_queue_depths (at every start of a runtime, then once a minute)
-- Locks     none: NOLOCK, so that counting neither waits for the queues nor holds them up
-- Throws    nothing
--
-- The cost grows with the backlog, and that is the cheapest there is. A counter would be one row that
-- every enqueue, fetch and ack must write, and so a queue of its own; the server's own row counts need
-- the right to view the database's state, and know nothing of rows that are held. Activities are counted
-- in a narrow index. Messages have none beside their clustered key, on purpose: it would be written three
-- times per message to be read once a minute.
CREATE OR ALTER PROCEDURE [$(schema)].get_queue_depths
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @messages BIGINT, @activities BIGINT;

    SELECT @messages = COUNT_BIG(*)
    FROM   [$(schema)].orchestrator_queue AS q WITH (NOLOCK)
    WHERE  q.lock_token IS NULL;

    SELECT @activities = COUNT_BIG(*)
    FROM   [$(schema)].worker_queue AS w WITH (NOLOCK, INDEX(ix_worker_queue_ready))
    WHERE  w.lock_token IS NULL;

    SELECT @messages AS orchestrator_queue, @activities AS worker_queue;
END;
