-- What a client sees of a login. SQL Server tells it nothing of why a login failed: always 18456, severity 14,
-- state 1, whatever the server's own log says. A database that cannot be opened is 4060, then 18456.

-- case: unknown_login
-- on x
-- login $(s)_nobody Wr0ng-password
-- expect error 18456 14 1 Login failed for user '$(s)_nobody'.

-- case: wrong_password
CREATE LOGIN [$(s)_l] WITH PASSWORD = N'R1ght-password', CHECK_POLICY = OFF;
GO
-- on x
-- login $(s)_l Wr0ng-password
-- expect error 18456 14 1 Login failed for user '$(s)_l'.
GO
CREATE USER [$(s)_l] FOR LOGIN [$(s)_l];
GO
-- on x
-- login $(s)_l R1ght-password
SELECT SUSER_SNAME(), USER_NAME();
-- expect row: '$(s)_l' | '$(s)_l'
GO
DROP USER [$(s)_l];
GO
-- on y
SELECT 1;

-- case: disabled_login
CREATE LOGIN [$(s)_l] WITH PASSWORD = N'R1ght-password', CHECK_POLICY = OFF;
ALTER LOGIN [$(s)_l] DISABLE;
GO
-- on x
-- login $(s)_l R1ght-password
-- expect error 18470 14 1 Login failed for user '$(s)_l'. Reason: The account is disabled.
GO
ALTER LOGIN [$(s)_l] ENABLE;
CREATE USER [$(s)_l] FOR LOGIN [$(s)_l];
GO
-- on x
-- login $(s)_l R1ght-password
SELECT 1;
-- expect row: 1

-- case: password_is_case_sensitive
CREATE LOGIN [$(s)_l] WITH PASSWORD = N'R1ght-password', CHECK_POLICY = OFF;
GO
-- on x
-- login $(s)_l r1ght-password
-- expect error 18456 14 1 Login failed for user '$(s)_l'.

-- case: login_without_a_user_in_the_database
-- read_committed_snapshot off
CREATE LOGIN [$(s)_l] WITH PASSWORD = N'R1ght-password', CHECK_POLICY = OFF;
GO
-- on x
-- login $(s)_l R1ght-password
-- expect error 4060 11 1 Cannot open database "mssql_cases_snapshot_off" requested by the login. The login failed.
-- expect error 18456 14 1 Login failed for user '$(s)_l'.
GO
CREATE USER [$(s)_l] FOR LOGIN [$(s)_l];
GO
-- on x
-- login $(s)_l R1ght-password
SELECT DB_NAME();
-- expect row: 'mssql_cases_snapshot_off'

-- case: permission_denied_for_a_login
CREATE LOGIN [$(s)_l] WITH PASSWORD = N'R1ght-password', CHECK_POLICY = OFF;
CREATE USER [$(s)_l] FOR LOGIN [$(s)_l];
CREATE TABLE [$(s)].t (id INT);
GO
CREATE PROCEDURE [$(s)].p AS SELECT COUNT(*) FROM [$(s)].t;
GO
-- on x
-- login $(s)_l R1ght-password
SELECT id FROM [$(s)].t;
-- expect error 229 14 5 The SELECT permission was denied on the object 't'
GO
-- on x
EXEC [$(s)].p;
-- expect error 229 14 5 The EXECUTE permission was denied on the object 'p'
GO
GRANT EXECUTE ON SCHEMA::[$(s)] TO [$(s)_l];
GO
-- on x
EXEC [$(s)].p;
-- expect row: 0

-- case: who_may_not_make_logins_does_not_see_them_either
CREATE LOGIN [$(s)_l] WITH PASSWORD = N'R1ght-password', CHECK_POLICY = OFF;
CREATE USER [$(s)_l] FOR LOGIN [$(s)_l];
CREATE ROLE [$(s)_r];
GO
-- on x
-- login $(s)_l R1ght-password
CREATE LOGIN [$(s)_m] WITH PASSWORD = N'R1ght-password', CHECK_POLICY = OFF;
-- expect error 15247 16 1 User does not have permission to perform this action.
GO
-- on x
DROP LOGIN [$(s)_l];
-- expect error 15151 16 1 Cannot drop the login '$(s)_l', because it does not exist or you do not have permission.
GO
-- on x
ALTER LOGIN [$(s)_l] DISABLE;
-- expect error 15151 16 1 Cannot alter the login '$(s)_l', because it does not exist
GO
-- on x
CREATE USER [$(s)_m] WITHOUT LOGIN;
-- expect error 15247 16 1 User does not have permission to perform this action.
GO
-- on x
ALTER ROLE [$(s)_r] ADD MEMBER [$(s)_l];
-- expect error 15151 16 1 Cannot alter the role '$(s)_r', because it does not exist
GO
-- on x
DROP ROLE [$(s)_r];
-- expect error 15151 16 1 Cannot drop the role '$(s)_r', because it does not exist
GO
-- on x
DROP USER IF EXISTS [$(s)_m];
GO
DROP ROLE [$(s)_r];
