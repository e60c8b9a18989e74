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
