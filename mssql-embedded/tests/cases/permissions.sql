-- EXECUTE on a procedure is enough to use the tables it touches, as long as both have one owner (the ownership
-- chain); touching them directly is 229. Dynamic SQL leaves the chain. DENY beats GRANT.

-- case: select_needs_a_permission
CREATE TABLE [$(s)].t (a INT);
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
EXECUTE AS USER = N'$(s)_u';
SELECT a FROM [$(s)].t;
-- expect error 229 14 5 The SELECT permission was denied on the object 't', database
GO
INSERT [$(s)].t VALUES (1);
-- expect error 229 14 5 The INSERT permission was denied on the object 't'
GO
UPDATE [$(s)].t SET a = 1;
-- expect error 229 14 5
GO
DELETE FROM [$(s)].t WHERE a = 1;
-- expect error 229 14 5
GO
REVERT;
SELECT a FROM [$(s)].t;
-- expect rows: none

-- case: execute_needs_a_permission
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS a;
GO
EXECUTE AS USER = N'$(s)_u';
EXEC [$(s)].p;
-- expect error 229 14 5 The EXECUTE permission was denied on the object 'p', database

-- case: the_ownership_chain
CREATE TABLE [$(s)].t (a INT);
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
CREATE PROCEDURE [$(s)].p AS INSERT [$(s)].t VALUES (1); SELECT COUNT(*) AS n FROM [$(s)].t;
GO
GRANT EXECUTE ON [$(s)].p TO [$(s)_u];
EXECUTE AS USER = N'$(s)_u';
EXEC [$(s)].p;
-- expect row: 1
GO
SELECT a FROM [$(s)].t;
-- expect error 229 14 5

-- case: dynamic_sql_leaves_the_chain
CREATE TABLE [$(s)].t (a INT);
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
CREATE PROCEDURE [$(s)].p AS EXEC (N'SELECT a FROM [$(s)].t');
GO
GRANT EXECUTE ON [$(s)].p TO [$(s)_u];
EXECUTE AS USER = N'$(s)_u';
EXEC [$(s)].p;
-- expect error 229 14 5 The SELECT permission was denied on the object 't'

-- case: a_role_with_execute_on_the_schema
CREATE USER [$(s)_u] WITHOUT LOGIN;
CREATE ROLE [$(s)_r];
ALTER ROLE [$(s)_r] ADD MEMBER [$(s)_u];
GRANT EXECUTE ON SCHEMA::[$(s)] TO [$(s)_r];
GO
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS a;
GO
EXECUTE AS USER = N'$(s)_u';
EXEC [$(s)].p;
-- expect row: 1
GO
REVERT;
ALTER ROLE [$(s)_r] DROP MEMBER [$(s)_u];
GO
EXECUTE AS USER = N'$(s)_u';
EXEC [$(s)].p;
-- expect error 229 14 5

-- case: deny_beats_grant
CREATE TABLE [$(s)].t (a INT);
CREATE USER [$(s)_u] WITHOUT LOGIN;
GRANT SELECT ON SCHEMA::[$(s)] TO [$(s)_u];
DENY SELECT ON [$(s)].t TO [$(s)_u];
GO
EXECUTE AS USER = N'$(s)_u';
SELECT a FROM [$(s)].t;
-- expect error 229 14 5

-- case: revoke_takes_back
CREATE TABLE [$(s)].t (a INT);
CREATE USER [$(s)_u] WITHOUT LOGIN;
GRANT SELECT ON [$(s)].t TO [$(s)_u];
GO
EXECUTE AS USER = N'$(s)_u';
SELECT a FROM [$(s)].t;
-- expect rows: none
GO
REVERT;
REVOKE SELECT ON [$(s)].t FROM [$(s)_u];
GO
EXECUTE AS USER = N'$(s)_u';
SELECT a FROM [$(s)].t;
-- expect error 229 14 5

-- case: user_name_follows_execute_as
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
EXECUTE AS USER = N'$(s)_u';
SELECT CASE WHEN USER_NAME() = N'$(s)_u' THEN 1 ELSE 0 END AS a;
REVERT;
SELECT CASE WHEN USER_NAME() = N'$(s)_u' THEN 1 ELSE 0 END AS a;
-- expect row: 1
-- expect set
-- expect row: 0

-- case: a_permission_fits_its_object
CREATE TABLE [$(s)].t (a INT);
GO
CREATE PROCEDURE [$(s)].p AS SELECT 1;
GO
GRANT EXECUTE ON [$(s)].t TO public;
-- expect error 4606 16 1 Granted or revoked privilege EXECUTE is not compatible with object.
GO
GRANT SELECT ON [$(s)].p TO public;
-- expect error 4606 16 1

-- case: execute_as_user_is_another_login
CREATE LOGIN [$(s)_l] WITH PASSWORD = 'Xy-12345678';
CREATE USER [$(s)_u] FOR LOGIN [$(s)_l];
CREATE USER [$(s)_w] WITHOUT LOGIN;
GO
EXECUTE AS USER = N'$(s)_u';
SELECT CASE WHEN SUSER_SNAME() = N'$(s)_l' THEN 1 ELSE 0 END AS a, CASE WHEN SYSTEM_USER = N'$(s)_l' THEN 1 ELSE 0 END AS b, CASE WHEN ORIGINAL_LOGIN() = N'$(s)_l' THEN 1 ELSE 0 END AS c, IS_SRVROLEMEMBER('sysadmin') AS d;
-- expect row: 1 | 1 | 0 | 0
GO
REVERT;
EXECUTE AS USER = N'$(s)_w';
SELECT CASE WHEN SUSER_SNAME() LIKE N'S-1-9-3-%' THEN 1 ELSE 0 END AS a;
-- expect row: 1

-- "EXECUTE AS", remarks: whoever acts as a user of a database cannot leave it.
-- case: execute_as_user_stays_in_its_database
CREATE LOGIN [$(s)_l] WITH PASSWORD = 'Xy-12345678';
CREATE USER [$(s)_u] FOR LOGIN [$(s)_l];
GO
EXECUTE AS USER = N'$(s)_u';
USE tempdb;
-- expect error 916 14 * The server principal "$(s)_l" is not able to access the database "tempdb" under the current security context.

-- "Metadata visibility configuration".
-- case: only_what_one_may_use_is_seen
CREATE TABLE [$(s)].t (a INT CONSTRAINT [df_$(s)] DEFAULT 1);
CREATE TABLE [$(s)].hidden (a INT);
CREATE USER [$(s)_u] WITHOUT LOGIN;
GRANT INSERT ON [$(s)].t TO [$(s)_u];
GO
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS a;
GO
CREATE PROCEDURE [$(s)].q AS SELECT 1 AS a;
GO
GRANT EXECUTE ON [$(s)].p TO [$(s)_u];
EXECUTE AS USER = N'$(s)_u';
SELECT name FROM sys.objects WHERE schema_id = SCHEMA_ID(N'$(s)') ORDER BY name;
SELECT CASE WHEN OBJECT_ID(N'$(s).t') IS NULL THEN 0 ELSE 1 END AS a, OBJECT_ID(N'$(s).hidden') AS b, OBJECT_ID(N'$(s).q') AS c;
SELECT definition FROM sys.sql_modules WHERE object_id = OBJECT_ID(N'$(s).p');
SELECT OBJECT_DEFINITION(OBJECT_ID(N'$(s).p')) AS d;
SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = N'$(s)';
SELECT HAS_PERMS_BY_NAME(N'$(s).hidden', N'OBJECT', N'SELECT') AS h;
-- expect row: N'df_$(s)'
-- expect row: N'p'
-- expect row: N't'
-- expect set
-- expect row: 1 | NULL | NULL
-- expect set
-- expect row: NULL
-- expect set
-- expect row: NULL
-- expect set
-- expect row: N't'
-- expect set
-- expect row: 0
GO
REVERT;
GRANT VIEW DEFINITION ON SCHEMA::[$(s)] TO [$(s)_u];
GO
EXECUTE AS USER = N'$(s)_u';
SELECT COUNT(*) AS n FROM sys.objects WHERE schema_id = SCHEMA_ID(N'$(s)');
SELECT definition FROM sys.default_constraints WHERE name = N'df_$(s)';
SELECT CASE WHEN definition LIKE N'%SELECT 1%' THEN 1 ELSE 0 END AS d FROM sys.sql_modules WHERE object_id = OBJECT_ID(N'$(s).q');
-- expect row: 5
-- expect set
-- expect row: N'((1))'
-- expect set
-- expect row: 1

-- "UPDATE" and "OUTPUT clause", permissions.
-- case: reading_in_a_write_needs_select
CREATE TABLE [$(s)].t (a INT, b INT);
INSERT [$(s)].t VALUES (1, 1);
CREATE USER [$(s)_u] WITHOUT LOGIN;
GRANT INSERT, UPDATE, DELETE ON [$(s)].t TO [$(s)_u];
GO
EXECUTE AS USER = N'$(s)_u';
UPDATE [$(s)].t SET a = a + 1;
-- expect error 229 14 5 The SELECT permission was denied on the object 't'
GO
UPDATE [$(s)].t SET a += 1;
-- expect error 229 14 5 The SELECT permission was denied on the object 't'
GO
INSERT [$(s)].t OUTPUT inserted.a VALUES (2, 2);
-- expect error 229 14 5 The SELECT permission was denied on the object 't'
GO
DELETE FROM [$(s)].t OUTPUT deleted.a;
-- expect error 229 14 5 The SELECT permission was denied on the object 't'
GO
UPDATE [$(s)].t SET a = 7, b = 7;
INSERT [$(s)].t VALUES (2, 2);
DELETE FROM [$(s)].t;
-- expect rowcount 1, 1, 2

-- case: what_one_may_not_change_is_not_found
CREATE TABLE [$(s)].t (a INT);
CREATE INDEX ix_t ON [$(s)].t (a);
CREATE USER [$(s)_u] WITHOUT LOGIN;
GRANT SELECT ON [$(s)].t TO [$(s)_u];
GO
CREATE PROCEDURE [$(s)].p AS SELECT 1 AS a;
GO
EXECUTE AS USER = N'$(s)_u';
DROP TABLE [$(s)].t;
-- expect error 3701 * * Cannot drop the table '$(s).t', because it does not exist or you do not have permission.
GO
ALTER TABLE [$(s)].t ADD b INT;
-- expect error 1088 16 * Cannot find the object "$(s).t" because it does not exist or you do not have permissions.
GO
TRUNCATE TABLE [$(s)].t;
-- expect error 1088 16 * Cannot find the object "
GO
CREATE INDEX ix_u ON [$(s)].t (a);
-- expect error 1088 16 * Cannot find the object "$(s).t" because it does not exist or you do not have permissions.
GO
DROP PROCEDURE [$(s)].p;
-- expect error 3701 * * Cannot drop the procedure '
GO
GRANT SELECT ON [$(s)].t TO public;
-- expect error 15151 16 1 Cannot find the object 't', because it does not exist or you do not have permission.

-- case: the_state_of_the_server_is_not_for_all
CREATE USER [$(s)_u] WITHOUT LOGIN;
GO
EXECUTE AS USER = N'$(s)_u';
SELECT COUNT(*) FROM sys.dm_tran_locks;
-- expect error 300 14 1 VIEW SERVER STATE permission was denied on object 'server', database 'master'.
-- expect error 297 16 1
GO
KILL 9999;
-- expect error 6102 14 1 User does not have permission to use the KILL statement.

-- case: a_permission_granted_twice_is_one
CREATE TABLE $(s).t (id INT);
GRANT SELECT, INSERT, SELECT ON $(s).t TO public, [public], public;
GO
SELECT permission_name, state_desc FROM sys.database_permissions WHERE major_id = OBJECT_ID(N'$(s).t') ORDER BY permission_name;
-- expect row: 'INSERT' | 'GRANT'
-- expect row: 'SELECT' | 'GRANT'
GO
DENY SELECT ON $(s).t TO public;
REVOKE INSERT, INSERT ON $(s).t FROM public, public;
GO
SELECT permission_name, state_desc FROM sys.database_permissions WHERE major_id = OBJECT_ID(N'$(s).t');
-- expect row: 'SELECT' | 'DENY'

-- "CREATE ROLE", "ALTER ROLE" and "DROP ROLE", permissions: CREATE ROLE creates them, and who has created one owns it.
-- "GRANT object permissions", permissions: CONTROL implies the right to grant.
-- case: the_owner_of_a_role_changes_and_drops_it
CREATE USER [$(s)_u] WITHOUT LOGIN;
CREATE USER [$(s)_v] WITHOUT LOGIN;
CREATE ROLE [$(s)_q];
CREATE TABLE [$(s)].t (a INT);
GRANT CREATE ROLE TO [$(s)_u];
GRANT CONTROL ON SCHEMA::[$(s)] TO [$(s)_u];
GO
EXECUTE AS USER = N'$(s)_v';
CREATE ROLE [$(s)_r];
-- expect error 15247 16 1 User does not have permission to perform this action.
GO
REVERT;
EXECUTE AS USER = N'$(s)_u';
CREATE ROLE [$(s)_r];
GRANT SELECT ON [$(s)].t TO [$(s)_r];
ALTER ROLE [$(s)_r] ADD MEMBER [$(s)_v];
ALTER ROLE [$(s)_r] DROP MEMBER [$(s)_v];
DROP ROLE [$(s)_r];
GO
ALTER ROLE [$(s)_q] ADD MEMBER [$(s)_v];
-- expect error 15151 16 1 Cannot alter the role '$(s)_q', because it does not exist or you do not have permission.
GO
DROP ROLE [$(s)_q];
-- expect error 15151 16 1 Cannot drop the role '$(s)_q', because it does not exist or you do not have permission.
