-- Returns all keys of an instance with their values, as the running execution left them.
--
-- Callers   Provider::get_kv_all_values
-- Locks     none kept
-- Throws    51001, 51002 instance id unusable
--
-- kv_delta covers kv_store; tombstones (NULL values) cover without showing. kv_delta is read first, as in
-- get_kv_value: what an execution that ends between the two reads had there is in kv_store by then.
-- While kv_delta is read, turns may end, and a key that is set again comes again as a new row: the
-- newest is taken.
--
-- Without snapshot reads, rows with large values stay locked until the statement ends. So nothing is sent while they are,
-- or a caller who does not take the answer would hold up the instance's turns; and who would have to wait for a turn gives them up, because
-- the turn may want one of these, waits without touching a value, and begins again.
CREATE OR ALTER PROCEDURE [$(schema)].get_kv_all_values
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;

    DECLARE @is_read BIT = 0, @keys BIGINT;
    DECLARE @delta TABLE
    (
        kv_key   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
        kv_value NVARCHAR(MAX) NULL
    );
    DECLARE @store TABLE
    (
        kv_key   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
        kv_value NVARCHAR(MAX) NOT NULL
    );

    WHILE @is_read = 0
    BEGIN
        BEGIN TRY
            DELETE FROM @delta;
            INSERT INTO @delta (kv_key, kv_value)
            SELECT v.kv_key, v.kv_value
            FROM
            (
                SELECT d.kv_key, d.kv_value, ROW_NUMBER() OVER (PARTITION BY d.kv_key ORDER BY d.kv_id DESC) AS age
                FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK, NOWAIT)
                WHERE  d.instance_id = @instance_id
            ) AS v
            WHERE  v.age = 1;

            INSERT INTO @store (kv_key, kv_value)
            SELECT v.kv_key, v.kv_value
            FROM
            (
                SELECT s.kv_key, s.kv_value, ROW_NUMBER() OVER (PARTITION BY s.kv_key ORDER BY s.kv_id DESC) AS age
                FROM   [$(schema)].kv_store AS s WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK, NOWAIT)
                WHERE  s.instance_id = @instance_id
            ) AS v
            WHERE  v.age = 1;
            SET @is_read = 1;
        END TRY
        BEGIN CATCH
            IF ERROR_NUMBER() <> 1222
            BEGIN
                THROW;
            END;
        END CATCH;
        IF @is_read = 0
        BEGIN
            SELECT @keys = COUNT_BIG(*)
            FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
            WHERE  d.instance_id = @instance_id;
            SELECT @keys = COUNT_BIG(*)
            FROM   [$(schema)].kv_store AS s WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
            WHERE  s.instance_id = @instance_id;
        END;
    END;

    SELECT s.kv_key, s.kv_value
    FROM   @store AS s
    WHERE  NOT EXISTS (SELECT 1 FROM @delta AS d WHERE d.kv_key = s.kv_key)
    UNION ALL
    SELECT d.kv_key, d.kv_value
    FROM   @delta AS d
    WHERE  d.kv_value IS NOT NULL;
END;
