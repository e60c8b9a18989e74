-- Takes the attempt of an activity back that nobody had, although somebody took the item over since.
--
-- Callers   the provider, when the lease of a claim was over before anybody could be told of it, and
--           abandon_work_item found it taken over
-- Locks     worker_queue: the item's row
-- Throws    51000 called inside a transaction
--
-- The token tells the item; as a token it is of no use any more. What the claim that holds the item now
-- accounts for stays. See uncount_orchestration_item.
CREATE OR ALTER PROCEDURE [$(schema)].uncount_work_item
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

    DECLARE @work_id BIGINT = TRY_CONVERT(BIGINT, SUBSTRING(@lock_token, 38, 20));

    BEGIN TRANSACTION;

    UPDATE q
    SET    attempt_count = attempt_count - 1
    FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
    WHERE  work_id = @work_id
      AND  attempt_count > CASE WHEN lock_token IS NULL THEN 0 ELSE 1 END;

    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
END;
