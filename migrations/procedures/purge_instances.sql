-- Deletes instances that finished long ago, each with its descendants: retention in days.
--
-- Callers   a job of SQL Agent or an elastic job; the command-line tool calls delete_instance_bulk
-- Locks     as delete_instance_bulk: one tree of instances at a time
-- Throws    51000 called inside a transaction
--           51001, 51002, 51009, 51010 never: delete_instance_bulk raises them for lists of ids
--           51021 the age is missing or negative
--
-- Deletes at most @limit trees (1,000 unless told otherwise), in the order of their creation, not of their end, for about
-- @budget_ms, and returns what it deleted. Each tree is a transaction of its own, or several short ones, so the call may
-- be cut off at any time; repeat it while has_more is 1.
CREATE OR ALTER PROCEDURE [$(schema)].purge_instances
    @older_than_days INT,
    @limit           BIGINT = NULL,
    @budget_ms       BIGINT = NULL
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    IF @older_than_days IS NULL OR @older_than_days < 0
    BEGIN
        THROW 51021, N'the age must be zero or more', 1;
    END;

    DECLARE @before_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())
                                - CAST(@older_than_days AS BIGINT) * 86400000;
    EXEC [$(schema)].delete_instance_bulk @completed_before_ms = @before_ms, @limit = @limit, @budget_ms = @budget_ms;
END;
