-- Shows a call with wrong arguments.
--
-- Callers   self-test
-- Locks     what right_claim and right_order lock
-- Throws    51001, 51002, 51003 from right_claim
CREATE OR ALTER PROCEDURE [$(schema)].exec_arguments
    @id  BIGINT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    EXEC [$(schema)].right_claim @misspelt = N'x'; -- wrong: exec-arguments: right_claim has no parameter @misspelt -- wrong: exec-arguments: right_claim needs its parameter @instance_id -- wrong: binding: [@misspelt]
    EXEC [$(schema)].right_order N'x'; -- wrong: exec-arguments: given by position -- wrong: exec-arguments: right_order needs its parameter @instance_id
END;
