-- Returns the value of one key, as the running execution left it.
--
-- Callers   Provider::get_kv_value
-- Locks     none kept
-- Throws    51001, 51002 instance id or key unusable
--
-- The key is looked for among the instance's rows, which are few, and not in the index of keys: a reader
-- that had the entry and wanted the row would meet a turn that ends, which has the row and wants the entry.
--
-- kv_delta is read first: if its execution ends between the two reads, what it held is in kv_store
-- by then. A tombstone (a NULL value) hides the store's value. No row means no value.
--
-- The search ends with the key, hence TOP: rows with large values stay locked until the statement ends, and who has one
-- must not go on to the next, which a turn may have that wants this one.
CREATE OR ALTER PROCEDURE [$(schema)].get_kv_value
    @instance_id NVARCHAR(4000),
    @kv_key      NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)]._check_instance_id @instance_id = @instance_id;
    IF DATALENGTH(@kv_key) > 800
    BEGIN
        THROW 51001, N'key-value key is longer than 400 characters; choose a shorter one', 1;
    END;
    IF @kv_key IS NULL OR UNICODE(RIGHT(@kv_key, 1)) = 32
    BEGIN
        THROW 51002, N'key-value key is missing or ends in a space; SQL Server cannot tell such keys apart', 1;
    END;

    DECLARE @value NVARCHAR(MAX), @in_delta BIT = 0;

    SELECT TOP (1) @value = d.kv_value, @in_delta = 1
    FROM   [$(schema)].kv_delta AS d WITH (INDEX(pk_kv_delta), FORCESEEK, ROWLOCK)
    WHERE  d.instance_id = @instance_id
      AND  d.kv_key = @kv_key;

    IF @in_delta = 0
    BEGIN
        SELECT TOP (1) @value = s.kv_value
        FROM   [$(schema)].kv_store AS s WITH (INDEX(pk_kv_store), FORCESEEK, ROWLOCK)
        WHERE  s.instance_id = @instance_id
          AND  s.kv_key = @kv_key;
    END;

    SELECT @value AS kv_value
    WHERE  @value IS NOT NULL;
END;
