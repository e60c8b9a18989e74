-- Returns an instance's custom status if it is newer than the one the caller knows.
--
-- Callers   Provider::get_custom_status
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--
-- No row means nothing newer, or no such instance.
--
-- The text is copied before it is sent. Without snapshot reads the server keeps a row with large values locked until the
-- statement ends, and a caller who stops reading would hold up the instance's turns: see _send_key_values.
CREATE OR ALTER PROCEDURE [$(schema)].get_custom_status
    @instance_id       NVARCHAR(4000),
    @last_seen_version BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @custom_status NVARCHAR(MAX), @custom_status_version BIGINT;

    SELECT @custom_status = i.custom_status, @custom_status_version = i.custom_status_version
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id
      AND  i.custom_status_version > @last_seen_version;

    SELECT @custom_status AS custom_status, @custom_status_version AS custom_status_version
    WHERE  @custom_status_version IS NOT NULL;
END;
