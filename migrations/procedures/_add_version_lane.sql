-- Makes the version that a turn pins known as a lane that instances may queue in.
--
-- Callers   ack_orchestration_item, before its transaction
-- Locks     version_lanes: the lane's row, for the moment of its insert
-- Throws    nothing
--
-- The lane is known before the first instance can lie in it, or one that nobody looks into would be lost. A lane
-- whose turn fails after all stays empty. Outside any transaction, so that turns of one new version do not wait for
-- each other's end, and 2627 undoes nothing: another turn has made the lane known first.
CREATE OR ALTER PROCEDURE [$(schema)]._add_version_lane
    @lane BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF NOT EXISTS (SELECT 1
                   FROM   [$(schema)].version_lanes AS v WITH (INDEX(pk_version_lanes), FORCESEEK, ROWLOCK)
                   WHERE  v.lane = @lane)
    BEGIN
        BEGIN TRY
            INSERT INTO [$(schema)].version_lanes WITH (ROWLOCK) (lane)
            VALUES (@lane);
        END TRY
        BEGIN CATCH
            IF ERROR_NUMBER() <> 2627
            BEGIN
                THROW;
            END;
        END CATCH;
    END;
END;
