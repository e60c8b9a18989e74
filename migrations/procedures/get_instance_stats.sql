-- Returns sizes of an instance: history of the current execution, carried events, key-values.
--
-- Callers   Provider::get_instance_stats
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--           51012 the execution's first event is not JSON
--
-- No row means no such instance. Sizes are bytes of UTF-8, as the client counted them when it stored
-- the texts. The first event is the only stored text that any procedure looks into: the number of
-- events carried over from the previous execution is known nowhere else.
CREATE OR ALTER PROCEDURE [$(schema)].get_instance_stats
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @execution_id BIGINT, @first_event NVARCHAR(MAX), @events BIGINT, @event_bytes BIGINT,
            @pending BIGINT = 0, @keys BIGINT, @value_bytes BIGINT;
    DECLARE @delta TABLE
    (
        kv_key      NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
        value_bytes BIGINT NOT NULL,
        is_alive    BIT NOT NULL
    );

    SELECT @execution_id = i.current_execution_id
    FROM   [$(schema)].instances AS i WITH (INDEX(pk_instances), FORCESEEK, ROWLOCK)
    WHERE  i.instance_id = @instance_id;

    SELECT @events = COUNT_BIG(*), @event_bytes = SUM(h.payload_bytes)
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id;

    SELECT @first_event = h.payload
    FROM   [$(schema)].history AS h WITH (INDEX(pk_history), FORCESEEK, ROWLOCK)
    WHERE  h.instance_id = @instance_id
      AND  h.execution_id = @execution_id
      AND  h.event_id = 1;

    IF @first_event IS NOT NULL
    BEGIN
        IF ISJSON(@first_event) = 0
        BEGIN
            THROW 51012, N'the first event of the current execution is not JSON; its history is damaged', 1;
        END;
        SELECT @pending = COUNT_BIG(*)
        FROM   OPENJSON(@first_event, N'$.carry_forward_events');
    END;

    -- kv_delta first, as in get_kv_value, and the newest row of each key, as in get_kv_all_values; no value is touched, for its row would stay locked.
    INSERT INTO @delta (kv_key, value_bytes, is_alive)
    SELECT v.kv_key, v.value_bytes, v.is_alive
    FROM
    (
        SELECT d.kv_key, d.value_bytes, CASE WHEN d.value_bytes < 0 THEN 0 ELSE 1 END AS is_alive,
               ROW_NUMBER() OVER (PARTITION BY d.kv_key ORDER BY d.kv_id DESC) AS age
        FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
        WHERE  d.instance_id = @instance_id
    ) AS v
    WHERE  v.age = 1;

    SELECT @keys = COUNT_BIG(*), @value_bytes = SUM(v.value_bytes)
    FROM
    (
        SELECT s.value_bytes
        FROM   [$(schema)].kv_store AS s WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
        WHERE  s.instance_id = @instance_id
          AND  NOT EXISTS (SELECT 1 FROM @delta AS d WHERE d.kv_key = s.kv_key)
        UNION ALL
        SELECT d.value_bytes
        FROM   @delta AS d
        WHERE  d.is_alive = 1
    ) AS v;

    SELECT @events AS history_event_count,
           COALESCE(@event_bytes, 0) AS history_size_bytes,
           @pending AS queue_pending_count,
           @keys AS kv_user_key_count,
           COALESCE(@value_bytes, 0) AS kv_total_value_bytes
    WHERE  @execution_id IS NOT NULL;
END;
