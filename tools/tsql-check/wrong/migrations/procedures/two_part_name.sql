-- Shows names without their schema, or with another's.
--
-- Callers   self-test
-- Locks     none
-- Throws    none
CREATE OR ALTER PROCEDURE [$(schema)].two_part_name
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT id
    FROM   worker_queue -- wrong: two-part-name: the table worker_queue is not named
    WHERE  id = @id;
    SELECT id FROM dbo.worker_queue; -- wrong: two-part-name: the table dbo.worker_queue is not named -- wrong: binding: [dbo].[worker_queue].
    EXEC right_order @instance_id = N'x'; -- wrong: two-part-name: the procedure right_order is not named
END;
