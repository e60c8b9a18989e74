-- Commits and says what is installed now, from the ledger and the catalogue.
--
-- A result set and not PRINT: every client shows it, and a script can read it.
COMMIT TRANSACTION;
SELECT CONCAT(N'schema ', QUOTENAME(N'$(schema)'), N' is at release ', r.release, N', migration ',
              (SELECT MAX(m.migration_number) FROM [$(schema)].schema_migrations AS m), N', with ',
              (SELECT COUNT(*) FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(N'$(schema)') AND o.type = N'U'),
              N' tables, ',
              (SELECT COUNT(*) FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(N'$(schema)') AND o.type = N'V'),
              N' views and ',
              (SELECT COUNT(*) FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(N'$(schema)') AND o.type = N'P'),
              N' procedures') AS installed
FROM   [$(schema)].schema_release AS r
WHERE  r.release_id = 1;
