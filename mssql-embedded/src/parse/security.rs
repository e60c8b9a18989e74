//! Logins, users, roles and permissions.

use super::cursor::Parser;
use super::token::Tok;
use crate::ast::{
    Ddl, Ident, LoginChange, Permission, PermissionAction, PermissionStmt, Securable, StmtKind,
};
use crate::error::{SqlError, SqlResult};
use crate::refused::Kind;

impl Parser<'_> {
    pub fn create_login(&mut self) -> SqlResult<Ddl> {
        self.advance();
        let name = self.ident()?;
        if self.kw("FROM") {
            return Err(self.unsupported("CREATE LOGIN … FROM"));
        }
        self.expect_kw("WITH")?;
        let (password, default_database) = self.login_options()?;
        let Some(password) = password else {
            return Err(self.fail());
        };
        Ok(Ddl::CreateLogin {
            name,
            password,
            default_database,
        })
    }

    /// `ALTER LOGIN l ENABLE | DISABLE | WITH …`.
    pub fn alter_login(&mut self) -> SqlResult<Ddl> {
        self.advance();
        let name = self.ident()?;
        let change = if self.eat_kw("ENABLE") {
            LoginChange::Enable
        } else if self.eat_kw("DISABLE") {
            LoginChange::Disable
        } else if self.kw_any(&["ADD", "DROP"]) {
            return Err(self.unsupported(&format!("ALTER LOGIN … {}", self.upper())));
        } else {
            self.expect_kw("WITH")?;
            let (password, default_database) = self.login_options()?;
            LoginChange::Options {
                password,
                default_database,
            }
        };
        Ok(Ddl::AlterLogin { name, change })
    }

    /// Password and default database. Passwords are never checked against a policy, so only
    /// `CHECK_POLICY = OFF` and `CHECK_EXPIRATION = OFF` say the truth.
    fn login_options(&mut self) -> SqlResult<(Option<String>, Option<Ident>)> {
        let mut password = None;
        let mut default_database = None;
        self.comma_list(|p| {
            let word = p.upper();
            p.any_word()?;
            p.expect(Tok::Eq)?;
            match word.as_str() {
                "PASSWORD" => {
                    password = Some(p.string()?);
                    if p.kw_any(&["HASHED", "MUST_CHANGE", "OLD_PASSWORD", "UNLOCK"]) {
                        return Err(p.unsupported(&format!("PASSWORD … {}", p.upper())));
                    }
                }
                "CHECK_POLICY" | "CHECK_EXPIRATION" => {
                    if p.on_off()? {
                        return Err(p.unsupported(&format!("{word} = ON")));
                    }
                }
                "DEFAULT_DATABASE" => default_database = Some(p.ident()?),
                _ => return Err(p.unsupported(&format!("the login option {word}"))),
            }
            Ok(())
        })?;
        Ok((password, default_database))
    }

    pub fn create_user(&mut self) -> SqlResult<Ddl> {
        self.advance();
        let name = self.ident()?;
        let mut login = None;
        let mut without_login = false;
        if self.eat_kw("FOR") || self.eat_kw("FROM") {
            if self.kw_any(&["CERTIFICATE", "ASYMMETRIC", "EXTERNAL"]) {
                return Err(self.unsupported(&format!("CREATE USER … {}", self.upper())));
            }
            self.expect_kw("LOGIN")?;
            login = Some(self.ident()?);
        } else if self.eat_kw("WITHOUT") {
            self.expect_kw("LOGIN")?;
            without_login = true;
        }
        let mut default_schema = None;
        if self.eat_kw("WITH") {
            default_schema = Some(self.default_schema()?);
        }
        Ok(Ddl::CreateUser {
            name,
            login,
            without_login,
            default_schema,
        })
    }

    fn default_schema(&mut self) -> SqlResult<Ident> {
        if !self.kw("DEFAULT_SCHEMA") {
            let what = format!("the user option {}", self.upper());
            return Err(self.unsupported_word(&what));
        }
        self.advance();
        self.expect(Tok::Eq)?;
        let schema = self.ident()?;
        if self.is(Tok::Comma) {
            return Err(self.unsupported("several user options"));
        }
        Ok(schema)
    }

    pub fn alter_user(&mut self) -> SqlResult<Ddl> {
        self.advance();
        let name = self.ident()?;
        self.expect_kw("WITH")?;
        let default_schema = self.default_schema()?;
        Ok(Ddl::AlterUser {
            name,
            default_schema,
        })
    }

    pub fn create_role(&mut self) -> SqlResult<Ddl> {
        self.advance();
        let name = self.ident()?;
        let owner = self.authorization()?;
        Ok(Ddl::CreateRole { name, owner })
    }

    pub fn alter_role(&mut self, server: bool) -> SqlResult<Ddl> {
        self.advance();
        let role = self.ident()?;
        if self.kw("WITH") {
            return Err(self.unsupported("ALTER ROLE … WITH NAME"));
        }
        let add = self.eat_kw("ADD");
        if !add {
            self.expect_kw("DROP")?;
        }
        self.expect_kw("MEMBER")?;
        let member = self.ident()?;
        Ok(if server {
            Ddl::AlterServerRole { role, add, member }
        } else {
            Ddl::AlterRole { role, add, member }
        })
    }

    pub fn alter_authorization(&mut self) -> SqlResult<Ddl> {
        self.advance();
        self.expect_kw("ON")?;
        if !self.kw("SCHEMA") {
            return Err(self.unsupported("ALTER AUTHORIZATION on anything but a schema"));
        }
        self.advance();
        self.expect(Tok::ColonColon)?;
        let schema = self.ident()?;
        self.expect_kw("TO")?;
        let owner = self.ident()?;
        Ok(Ddl::AlterAuthorization { schema, owner })
    }

    /// GRANT, DENY and REVOKE.
    pub fn permission(&mut self) -> SqlResult<StmtKind> {
        let action = match self.upper().as_str() {
            "GRANT" => PermissionAction::Grant,
            "DENY" => PermissionAction::Deny,
            "REVOKE" => PermissionAction::Revoke,
            _ => return Err(self.fail()),
        };
        self.advance();
        if self.kw("ALL") {
            return Err(self.refused(Kind::Clause, "ALL permissions"));
        }
        if action == PermissionAction::Revoke && self.kw("GRANT") {
            return Err(self.refused(Kind::Clause, "REVOKE GRANT OPTION FOR"));
        }
        let permissions = self.comma_list(Self::permission_name)?;
        let securable = if self.eat_kw("ON") {
            Some(self.securable()?)
        } else {
            None
        };
        let from = action == PermissionAction::Revoke && self.eat_kw("FROM");
        if !from {
            self.expect_kw("TO")?;
        }
        let principals = self.comma_list(Self::principal)?;
        if action == PermissionAction::Grant && self.kw("WITH") && self.kw_at(1, "GRANT") {
            return Err(self.refused(Kind::Clause, "WITH GRANT OPTION"));
        }
        let cascade = action != PermissionAction::Grant && self.eat_kw("CASCADE");
        if self.kw("AS") {
            return Err(self.refused(Kind::Clause, "GRANT, DENY or REVOKE … AS"));
        }
        Ok(StmtKind::Ddl(Ddl::Permission(PermissionStmt {
            action,
            permissions,
            securable,
            principals,
            cascade,
        })))
    }

    /// `EXEC`, `VIEW DEFINITION`, `CREATE TABLE`, …: words up to a comma, ON, TO or FROM.
    fn permission_name(&mut self) -> SqlResult<Permission> {
        let line = self.line();
        let mut words = Vec::new();
        while matches!(self.peek().kind, Tok::Word | Tok::Reserved)
            && !self.kw_any(&["ON", "TO", "FROM"])
        {
            words.push(self.upper());
            self.advance();
        }
        if self.is(Tok::LParen) {
            return Err(self.refused(Kind::Clause, "column permissions"));
        }
        if words.is_empty() {
            return Err(self.fail());
        }
        let name = match words.join(" ") {
            short if short == "EXEC" => Permission::Execute.name().to_owned(),
            name => name,
        };
        let refused = || SqlError::unsupported(format!("the permission {name}")).at(line);
        Permission::by_name(&name).ok_or_else(refused)
    }

    /// PUBLIC is reserved, and still a principal.
    fn principal(&mut self) -> SqlResult<Ident> {
        if self.kw("PUBLIC") {
            self.any_word()
        } else {
            self.ident()
        }
    }

    fn securable(&mut self) -> SqlResult<Securable> {
        if self.peek_at(1).kind != Tok::ColonColon {
            let name = self.object_name()?;
            if self.is(Tok::LParen) {
                return Err(self.refused(Kind::Clause, "column permissions"));
            }
            return Ok(Securable::Object(name));
        }
        let class = self.upper();
        let refused = self.unsupported(&format!("permissions on {class}"));
        self.advance();
        self.advance();
        Ok(match class.as_str() {
            "OBJECT" => Securable::Object(self.object_name()?),
            "SCHEMA" => Securable::Schema(self.ident()?),
            "DATABASE" => Securable::Database(self.ident()?),
            "ROLE" => Securable::Role(self.ident()?),
            "USER" => Securable::User(self.ident()?),
            _ => return Err(refused),
        })
    }
}
