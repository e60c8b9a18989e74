-- Takes the attempt of a turn back that nobody had, although somebody took the turn over since.
--
-- Callers   the provider, when the lease of a claim was over before anybody could be told of it, and
--           abandon_orchestration_item found it taken over
-- Locks     instance_locks: the instance's row (exclusive, see _post_message), then orchestrator_queue: the messages that
--           may have been claimed
-- Throws    51000 called inside a transaction
--
-- The token tells the instance; as a token it is of no use any more, because its messages carry that of whoever has them now.
-- They have been tried more often than those that came later, and the turn counts as often as its most tried message. So one attempt is
-- taken off every message that has more than the claim that holds it accounts for. A message that came later may
-- lose one as well, which says nothing of the turn as long as the others are there, and is no harm when they are not: the
-- runtime gives a turn up one attempt later.
--
-- Nothing happens where nothing is left. Called twice it takes two attempts off, so that the provider repeats it only
-- when it was not done.
CREATE OR ALTER PROCEDURE [$(schema)].uncount_orchestration_item
    @lock_token NVARCHAR(1000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;

    DECLARE @instance_id NVARCHAR(1000) = SUBSTRING(@lock_token, 38, 1000),
            @from_ms BIGINT;

    BEGIN TRANSACTION;

    SELECT @from_ms = l.messages_from_ms
    FROM   [$(schema)].instance_locks AS l
           WITH (INDEX(pk_instance_locks), FORCESEEK, XLOCK, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  l.instance_id = @instance_id;

    -- Also what whoever had it has put off.
    UPDATE q
    SET    attempt_count = attempt_count - 1
    FROM   [$(schema)].orchestrator_queue AS q WITH (INDEX(pk_orchestrator_queue), FORCESEEK, ROWLOCK)
    WHERE  q.instance_id = @instance_id
      AND  q.visible_at_ms >= @from_ms
      AND  q.attempt_count > CASE WHEN q.lock_token IS NULL THEN 0 ELSE 1 END;

    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
END;
