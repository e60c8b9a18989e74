-- Refuses an id that the tables could not tell from another one.
--
-- Callers   every procedure that takes an instance id
-- Locks     none
-- Throws    51001 longer than 400 characters
--           51002 empty, or ends in a space
--
-- SQL Server cuts a value to the width of the parameter without a word, and calls N'a' and N'a '
-- equal under every collation. Either would merge two instances into one, so parameters are wider
-- than columns and the length and the last character are looked at. UNICODE compares the character
-- itself: under some collations other characters are "equal" to a space.
CREATE OR ALTER PROCEDURE [$(schema)]._check_instance_id
    @instance_id NVARCHAR(4000)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    IF DATALENGTH(@instance_id) > 800
    BEGIN
        THROW 51001, N'instance id is longer than 400 characters; choose a shorter one', 1;
    END;

    IF @instance_id IS NULL OR DATALENGTH(@instance_id) = 0 OR UNICODE(RIGHT(@instance_id, 1)) = 32
    BEGIN
        THROW 51002, N'instance id is empty or ends in a space; SQL Server cannot tell such ids apart', 1;
    END;
END;
