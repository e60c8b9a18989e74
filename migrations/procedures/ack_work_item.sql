-- Removes an activity the caller still holds, and hands its completion to the orchestration.
--
-- Callers   Provider::ack_work_item
-- Locks     instance_locks and orchestrator_queue through _post_message, then worker_queue: the
--           item's row, then sessions: the session's row
-- Throws    51000 called inside a transaction
--           51001, 51002 instance id unusable
--           51004 the lease is lost: the item was cancelled, acknowledged, taken over or expired
--
-- The completion is posted first because instance_locks comes first in the common order; a lost
-- lease undoes it. Repeating the call after an unknown outcome is harmless: if the first one was
-- committed, the row is gone and 51004 says so.
--
-- Completions for one instance share its row, and wait for nothing that somebody who wants the row alone could have:
-- the item is the caller's by its lease, and whoever cancels it has the instance's row first.
CREATE OR ALTER PROCEDURE [$(schema)].ack_work_item
    @lock_token  NVARCHAR(1000),
    @instance_id NVARCHAR(4000) = NULL,
    @kind        NVARCHAR(100) = NULL,
    @payload     NVARCHAR(MAX) = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @@TRANCOUNT > 0
    BEGIN
        THROW 51000, N'called inside a transaction; commit or roll back first', 1;
    END;
    IF @payload IS NOT NULL
    BEGIN
        EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;
    END;

    DECLARE @token UNIQUEIDENTIFIER = TRY_CONVERT(UNIQUEIDENTIFIER, LEFT(@lock_token, 36)),
            @work_id BIGINT = TRY_CONVERT(BIGINT, SUBSTRING(@lock_token, 38, 20)),
            @session_key NVARCHAR(400), @lease_end_ms BIGINT, @now_ms BIGINT, @attempt INT = 0,
            @posted BIT = 0, @done BIT = 0;

    WHILE @done = 0
    BEGIN
        BEGIN TRY
            SET @attempt = @attempt + 1;
            BEGIN TRANSACTION;

            IF @payload IS NOT NULL
            BEGIN
                EXEC [$(schema)]._post_message
                    @instance_id = @instance_id, @kind = @kind, @payload = @payload, @attempt = @attempt,
                    @posted = @posted OUTPUT;
            END;

            IF @payload IS NULL OR @posted = 1
            BEGIN
                SELECT @lease_end_ms = q.not_before_ms, @session_key = q.session_key
                FROM   [$(schema)].worker_queue AS q
                       WITH (INDEX(pk_worker_queue), FORCESEEK, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
                WHERE  q.work_id = @work_id
                  AND  q.lock_token = @token
                OPTION (KEEPFIXED PLAN);

                SET @now_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());

                IF @lease_end_ms IS NULL OR @lease_end_ms <= @now_ms
                BEGIN
                    THROW 51004, N'work item lease is no longer held: cancelled, acknowledged, expired or taken over', 1;
                END;

                DELETE q
                FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
                WHERE  work_id = @work_id
                OPTION (KEEPFIXED PLAN);

                IF @session_key <> N''
                BEGIN
                    UPDATE s
                    SET    last_activity_ms = @now_ms
                    FROM   [$(schema)].sessions AS s WITH (INDEX(pk_sessions), FORCESEEK, ROWLOCK)
                    WHERE  session_key = @session_key
                      AND  locked_until_ms > @now_ms;
                END;
                SET @done = 1;
                COMMIT TRANSACTION;
            END
            ELSE
            BEGIN
                ROLLBACK TRANSACTION;
            END;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0
            BEGIN
                ROLLBACK TRANSACTION;
            END;
            -- 2627: another caller created the instance's row first. It is there now.
            IF ERROR_NUMBER() <> 2627
            BEGIN
                THROW;
            END;
        END CATCH;
    END;
END;
