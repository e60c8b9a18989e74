-- Lists the lanes of instances that a caller supports, as a JSON array of numbers.
--
-- Callers   fetch_orchestration_item, wait_for_work, outside any transaction
-- Locks     none kept
-- Throws    nothing
--
-- Lane -1 holds the instances without a pinned version, which every caller supports. The others are in
-- version_lanes. They are read one by one, because the order in which one SELECT adds rows to a variable is nobody's promise.
CREATE OR ALTER PROCEDURE [$(schema)]._list_lanes
    @min_version BIGINT,
    @max_version BIGINT,
    @lanes       NVARCHAR(MAX) OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @lane BIGINT = COALESCE(@min_version, 0) - 1, @previous BIGINT;

    SET @lanes = N'[-1';
    WHILE @lane IS NOT NULL
    BEGIN
        SET @previous = @lane;
        SET @lane = NULL;
        SELECT TOP (1) @lane = v.lane
        FROM   [$(schema)].version_lanes AS v WITH (INDEX(pk_version_lanes), FORCESEEK, ROWLOCK)
        WHERE  v.lane > @previous
          AND  v.lane <= COALESCE(@max_version, CAST(9223372036854775807 AS BIGINT))
        ORDER BY v.lane;
        IF @lane IS NOT NULL
        BEGIN
            SET @lanes = @lanes + N',' + CAST(@lane AS NVARCHAR(20));
        END;
    END;
    SET @lanes = @lanes + N']';
END;
