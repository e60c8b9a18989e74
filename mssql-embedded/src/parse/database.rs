//! CREATE DATABASE and ALTER DATABASE.

use super::cursor::Parser;
use super::token::Tok;
use crate::ast::{DatabaseSetting, Ddl, DelayedDurability};
use crate::error::SqlResult;

impl Parser<'_> {
    pub fn create_database(&mut self) -> SqlResult<Ddl> {
        self.advance();
        if self.kw_any(&["AUDIT", "SCOPED", "ENCRYPTION"]) {
            return Err(self.unsupported(&format!("CREATE DATABASE {}", self.upper())));
        }
        let name = self.ident()?;
        let collate = if self.eat_kw("COLLATE") {
            Some(self.ident()?)
        } else {
            None
        };
        let more =
            self.kw_any(&["ON", "LOG", "FOR", "WITH", "CONTAINMENT", "AS"]) || self.is(Tok::LParen);
        if more {
            return Err(self.unsupported("CREATE DATABASE with options"));
        }
        Ok(Ddl::CreateDatabase { name, collate })
    }

    pub fn alter_database(&mut self) -> SqlResult<Ddl> {
        self.advance();
        if self.kw_any(&["AUDIT", "SCOPED", "ENCRYPTION"]) {
            return Err(self.unsupported(&format!("ALTER DATABASE {}", self.upper())));
        }
        let name = if self.eat_kw("CURRENT") {
            None
        } else {
            Some(self.ident()?)
        };
        if self.eat_kw("COLLATE") {
            let setting = DatabaseSetting::Collate(self.ident()?);
            return Ok(Ddl::AlterDatabase { name, setting });
        }
        if !self.kw("SET") {
            let what = format!("ALTER DATABASE … {}", self.upper());
            return Err(self.unsupported_word(&what));
        }
        self.advance();
        let setting = self.database_setting()?;
        if self.is(Tok::Comma) {
            return Err(self.unsupported("several settings in one ALTER DATABASE"));
        }
        self.termination()?;
        Ok(Ddl::AlterDatabase { name, setting })
    }

    fn database_setting(&mut self) -> SqlResult<DatabaseSetting> {
        if self.eat_kw("READ_COMMITTED_SNAPSHOT") {
            return self.on_off().map(DatabaseSetting::ReadCommittedSnapshot);
        }
        if self.eat_kw("ALLOW_SNAPSHOT_ISOLATION") {
            return self.on_off().map(DatabaseSetting::AllowSnapshotIsolation);
        }
        if self.eat_kw("DELAYED_DURABILITY") {
            self.expect(Tok::Eq)?;
            let value = if self.eat_kw("DISABLED") {
                DelayedDurability::Disabled
            } else if self.eat_kw("ALLOWED") {
                DelayedDurability::Allowed
            } else {
                self.expect_kw("FORCED")?;
                DelayedDurability::Forced
            };
            return Ok(DatabaseSetting::DelayedDurability(value));
        }
        if self.eat_kw("COMPATIBILITY_LEVEL") {
            self.expect(Tok::Eq)?;
            return self.integer().map(DatabaseSetting::CompatibilityLevel);
        }
        let what = format!("ALTER DATABASE … SET {}", self.upper());
        Err(self.unsupported_word(&what))
    }

    /// `WITH ROLLBACK IMMEDIATE`, `WITH ROLLBACK AFTER n SECONDS`, `WITH NO_WAIT`: what happens to
    /// sessions in the way, which here never are.
    fn termination(&mut self) -> SqlResult<()> {
        if !self.eat_kw("WITH") {
            return Ok(());
        }
        if self.eat_kw("NO_WAIT") {
            return Ok(());
        }
        self.expect_kw("ROLLBACK")?;
        if self.eat_kw("AFTER") {
            self.integer::<u32>()?;
            self.eat_kw("SECONDS");
            return Ok(());
        }
        self.expect_kw("IMMEDIATE").map(drop)
    }
}
