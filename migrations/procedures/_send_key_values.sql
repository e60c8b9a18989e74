-- Sends the key-values that a turn begins with: what ended executions left behind.
--
-- Callers   fetch_orchestration_item, after the commit
-- Locks     none kept
-- Throws    nothing
--
-- They are copied before they are sent. Without snapshot reads the server keeps rows with large values locked until the
-- statement ends, which is when the caller has taken all of it. The caller may be suspended in the middle, and its lease end:
-- the next turn could not merge its changes into these rows. Events are written once, so that _send_history need not copy them.
CREATE OR ALTER PROCEDURE [$(schema)]._send_key_values
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @sent TABLE
    (
        kv_id         BIGINT NOT NULL PRIMARY KEY,
        kv_key        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
        kv_value      NVARCHAR(MAX) NOT NULL,
        updated_at_ms BIGINT NOT NULL
    );

    INSERT INTO @sent (kv_id, kv_key, kv_value, updated_at_ms)
    SELECT s.kv_id, s.kv_key, s.kv_value, s.updated_at_ms
    FROM   [$(schema)].kv_store AS s WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
    WHERE  s.instance_id = @instance_id;

    SELECT t.kv_key, t.kv_value, t.updated_at_ms
    FROM   @sent AS t;
END;
