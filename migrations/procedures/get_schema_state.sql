-- Returns what is installed: the migrations that were applied and the release of the procedures.
--
-- Callers   the installer, and MigrationPolicy::Verify with no right but EXECUTE
-- Locks     none kept
-- Throws    nothing
CREATE OR ALTER PROCEDURE [$(schema)].get_schema_state
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET IMPLICIT_TRANSACTIONS OFF;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    SELECT m.migration_number, m.migration_name, m.checksum, m.applied_at_ms, m.release
    FROM   [$(schema)].schema_migrations AS m
    ORDER BY m.migration_number;

    SELECT r.release, r.release_order, r.checksum, r.applied_at_ms, r.created_schema
    FROM   [$(schema)].schema_release AS r;
END;
