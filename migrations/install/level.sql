-- Refuses a database that behaves like an older server: the procedures need OPENJSON, which begins at level 130.
--
-- A batch of its own, before any that names OPENJSON: below that level such a batch is not even parsed, so a check in
-- it would never be reached. After this error a client that goes on shows that for every batch, and none of them is executed.
IF EXISTS (SELECT 1
           FROM   sys.databases AS d
           WHERE  d.name = DB_NAME()
             AND  d.compatibility_level < 130)
BEGIN
    THROW 51095, N'nothing was changed: the database has a compatibility level below 130; run ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = 130', 1;
END;
