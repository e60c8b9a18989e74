-- Refuses to install over a schema that this script would damage: one of a newer release, with a
-- migration that is unknown or not the one released, or only partly there.
--
-- The three variables besides the schema's name are filled in by the printer: the release, the
-- release as a number that sorts, and the migrations as a JSON array of number, name and checksum.
-- The library makes the same decisions in src/migrate/state.rs. A newer release is refused here and
-- left alone there: an application that restarts during an upgrade must go on working, but who
-- runs a script wants what is in it.
DECLARE @problem NVARCHAR(2048), @has_ledger BIT = 0, @has_procedures BIT = 0;

SELECT @has_ledger = 1
FROM   sys.objects AS o
WHERE  o.schema_id = SCHEMA_ID(N'$(schema)')
  AND  o.name = N'schema_migrations';

SELECT @has_procedures = 1
FROM   sys.objects AS o
WHERE  o.schema_id = SCHEMA_ID(N'$(schema)')
  AND  o.name = N'get_schema_state';

IF @has_ledger <> @has_procedures
BEGIN
    THROW 51094, N'nothing was changed: the schema is only partly installed; remove what is there with the uninstall script and install again', 1;
END;

IF @has_ledger = 1
BEGIN
    SELECT @problem = N'nothing was changed: the schema holds release ' + r.release + N', this script installs '
                      + N'$(release)' + N'; run the script of that release or of a newer one'
    FROM   [$(schema)].schema_release AS r
    WHERE  r.release_order > CAST(N'$(release_order)' AS BIGINT);
    IF @problem IS NOT NULL
    BEGIN
        THROW 51091, @problem, 1;
    END;

    SELECT TOP (1) @problem = N'nothing was changed: the schema has the migration ' + m.migration_name
                              + N', which release ' + N'$(release)' + N' does not know; run the script of release '
                              + m.release + N' or of a newer one'
    FROM   [$(schema)].schema_migrations AS m
    WHERE  m.migration_number NOT IN (SELECT j.number FROM OPENJSON(N'$(migrations)') WITH (number INT) AS j)
    ORDER BY m.migration_number DESC;
    IF @problem IS NOT NULL
    BEGIN
        THROW 51092, @problem, 1;
    END;

    SELECT TOP (1) @problem = N'nothing was changed: ' + m.migration_name + N' differs from the one that release '
                              + N'$(release)' + N' brings; use the release that installed the schema'
    FROM   [$(schema)].schema_migrations AS m
    INNER JOIN OPENJSON(N'$(migrations)') WITH (number INT, checksum NVARCHAR(64)) AS j
           ON  j.number = m.migration_number
    WHERE  m.checksum COLLATE Latin1_General_100_BIN2 <> j.checksum COLLATE Latin1_General_100_BIN2
    ORDER BY m.migration_number;
    IF @problem IS NOT NULL
    BEGIN
        THROW 51093, @problem, 1;
    END;

    IF NOT EXISTS (SELECT 1 FROM [$(schema)].schema_migrations AS m WHERE m.migration_number = 1)
    BEGIN
        THROW 51094, N'nothing was changed: the schema is only partly installed; remove what is there with the uninstall script and install again', 1;
    END;
END;
