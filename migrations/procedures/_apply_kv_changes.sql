-- Applies a turn's key-value changes, and merges them into the store when its execution ends.
--
-- Callers   ack_orchestration_item, inside its transaction and holding the instance's row
-- Locks     kv_store and kv_delta: rows of the instance
-- Order     kv_delta is written before kv_store; the instance's row of instance_locks keeps every
--           other writer of both out
-- Throws    nothing
--
-- The running execution must not see its own writes in the snapshot of a later turn, or its replay
-- would take another path. They stay in kv_delta, where clearing leaves a tombstone (a NULL value, of -1
-- bytes), until the execution has ended.
CREATE OR ALTER PROCEDURE [$(schema)]._apply_kv_changes
    @instance_id NVARCHAR(4000),
    @now_ms      BIGINT,
    @clear_all   BIT,
    @kv_changes  NVARCHAR(MAX),
    @merge       BIT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @changes TABLE
    (
        kv_key        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
        value_bytes   BIGINT NOT NULL,
        updated_at_ms BIGINT NOT NULL,
        kv_value      NVARCHAR(MAX) NULL
    );

    IF @clear_all = 1
    BEGIN
        UPDATE d
        SET    d.kv_value = NULL,
               d.value_bytes = -1,
               d.updated_at_ms = @now_ms
        FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id = @instance_id;

        INSERT INTO [$(schema)].kv_delta WITH (ROWLOCK)
            (instance_id, kv_key, value_bytes, updated_at_ms, kv_value)
        SELECT s.instance_id, s.kv_key, -1, @now_ms, NULL
        FROM   [$(schema)].kv_store AS s WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
        WHERE  s.instance_id = @instance_id
          AND  NOT EXISTS (SELECT 1
                           FROM   [$(schema)].kv_delta AS d WITH (INDEX(uq_kv_delta_key), FORCESEEK, ROWLOCK)
                           WHERE  d.instance_id = s.instance_id
                             AND  d.kv_key = s.kv_key);
    END;

    IF @kv_changes IS NOT NULL
    BEGIN
        INSERT INTO @changes (kv_key, value_bytes, updated_at_ms, kv_value)
        SELECT j.kv_key, CASE WHEN j.kv_value IS NULL THEN -1 ELSE COALESCE(j.value_bytes, 0) END, COALESCE(j.updated_at_ms, @now_ms), j.kv_value
        FROM   OPENJSON(@kv_changes)
               WITH (kv_key NVARCHAR(400) '$.key', value_bytes BIGINT '$.value_bytes',
                     updated_at_ms BIGINT '$.updated_at_ms', kv_value NVARCHAR(MAX) '$.value') AS j;

        UPDATE d
        SET    d.kv_value = c.kv_value,
               d.value_bytes = c.value_bytes,
               d.updated_at_ms = c.updated_at_ms
        FROM   [$(schema)].kv_delta AS d WITH (INDEX(uq_kv_delta_key), FORCESEEK, ROWLOCK)
        INNER JOIN @changes AS c
               ON  c.kv_key = d.kv_key
        WHERE  d.instance_id = @instance_id;

        INSERT INTO [$(schema)].kv_delta WITH (ROWLOCK)
            (instance_id, kv_key, value_bytes, updated_at_ms, kv_value)
        SELECT @instance_id, c.kv_key, c.value_bytes, c.updated_at_ms, c.kv_value
        FROM   @changes AS c
        WHERE  NOT EXISTS (SELECT 1
                           FROM   [$(schema)].kv_delta AS d WITH (INDEX(uq_kv_delta_key), FORCESEEK, ROWLOCK)
                           WHERE  d.instance_id = @instance_id
                             AND  d.kv_key = c.kv_key);
    END;

    IF @merge = 1
       AND EXISTS (SELECT 1
                   FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
                   WHERE  d.instance_id = @instance_id)
    BEGIN
        -- Out with every key that was touched, in with those that are alive.
        DELETE s
        FROM   [$(schema)].kv_store AS s WITH (INDEX(uq_kv_store_key), FORCESEEK, ROWLOCK)
        INNER JOIN [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
               ON  d.instance_id = s.instance_id
              AND  d.kv_key = s.kv_key
        WHERE  s.instance_id = @instance_id;

        INSERT INTO [$(schema)].kv_store WITH (ROWLOCK)
            (instance_id, kv_key, value_bytes, updated_at_ms, kv_value)
        SELECT d.instance_id, d.kv_key, d.value_bytes, d.updated_at_ms, d.kv_value
        FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id = @instance_id
          AND  d.kv_value IS NOT NULL;

        DELETE d
        FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id = @instance_id;
    END;
END;
