-- Refuses instance ids which the tables could not tell from others, by what their reader found in them.
--
-- Callers   _check_instance_ids, _check_work_items, ack_orchestration_item
-- Locks     none
-- Throws    51001 longer than 400 characters
--           51002 empty, or ends in a space
--
-- @longest is the greatest length in bytes, @unusable counts those that are absent, empty or end in a space.
-- _check_instance_id says why ids are checked.
CREATE OR ALTER PROCEDURE [$(schema)]._refuse_instance_ids
    @longest  BIGINT,
    @unusable BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF @longest > 800
    BEGIN
        THROW 51001, N'instance id is longer than 400 characters; choose a shorter one', 1;
    END;

    IF @unusable > 0
    BEGIN
        THROW 51002, N'instance id is empty or ends in a space; SQL Server cannot tell such ids apart', 1;
    END;
END;
