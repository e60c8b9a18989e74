//! CREATE, ALTER and TRUNCATE: the choice by object type, and the small ones.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the many tokens a rule expects a few"
)]

use super::cursor::Parser;
use super::errors;
use super::stmt::Place;
use super::token::Tok;
use crate::ast::{Ddl, Making, StmtKind};
use crate::error::{SqlError, SqlResult};
use crate::refused::Kind;

/// Object types SQL Server has and the engine has not. `DEFAULT` and `RULE` are the old standalone
/// objects.
const KNOWN_TYPES: &[&str] = &[
    "AGGREGATE",
    "APPLICATION",
    "ASSEMBLY",
    "ASYMMETRIC",
    "AVAILABILITY",
    "BROKER",
    "CERTIFICATE",
    "COLUMN",
    "COLUMNSTORE",
    "CONTRACT",
    "CREDENTIAL",
    "CRYPTOGRAPHIC",
    "DEFAULT",
    "ENDPOINT",
    "EVENT",
    "EXTERNAL",
    "FULLTEXT",
    "FUNCTION",
    "INDEX",
    "LOGIN",
    "MASTER",
    "MESSAGE",
    "PARTITION",
    "PRIMARY",
    "QUEUE",
    "REMOTE",
    "RESOURCE",
    "ROUTE",
    "RULE",
    "SCHEMA",
    "SEARCH",
    "SECURITY",
    "SELECTIVE",
    "SEQUENCE",
    "SERVER",
    "SERVICE",
    "SIGNATURE",
    "SPATIAL",
    "STATISTICS",
    "SYMMETRIC",
    "SYNONYM",
    "TRIGGER",
    "TYPE",
    "WORKLOAD",
    "XML",
];

impl Parser<'_> {
    pub fn create(&mut self, place: Place) -> SqlResult<StmtKind> {
        self.advance();
        let or_alter = self.kw("OR") && self.kw_at(1, "ALTER");
        let mut making = Making::Create;
        if or_alter {
            self.advance();
            self.advance();
            making = Making::CreateOrAlter;
        }
        let word = self.upper();
        let ddl = match word.as_str() {
            "PROC" | "PROCEDURE" => self.create_procedure(place, making)?,
            "VIEW" => self.create_view(place, making)?,
            _ if or_alter && KNOWN_TYPES.contains(&word.as_str()) => {
                return Err(self.unknown_type("CREATE OR ALTER", &word));
            }
            _ if or_alter => return Err(self.fail()),
            "TABLE" => self.create_table()?,
            "UNIQUE" | "CLUSTERED" | "NONCLUSTERED" | "INDEX" => self.create_index()?,
            "SCHEMA" => self.create_schema(place)?,
            "LOGIN" => self.create_login()?,
            "USER" => self.create_user()?,
            "ROLE" => self.create_role()?,
            "DATABASE" => self.create_database()?,
            _ => return Err(self.unknown_type("CREATE", &word)),
        };
        Ok(StmtKind::Ddl(ddl))
    }

    pub fn alter(&mut self, place: Place) -> SqlResult<StmtKind> {
        self.advance();
        let word = self.upper();
        let ddl = match word.as_str() {
            "PROC" | "PROCEDURE" => self.create_procedure(place, Making::Alter)?,
            "VIEW" => self.create_view(place, Making::Alter)?,
            "TABLE" => self.alter_table()?,
            "LOGIN" => self.alter_login()?,
            "USER" => self.alter_user()?,
            "ROLE" => self.alter_role(false)?,
            "SERVER" if self.kw_at(1, "ROLE") => {
                self.advance();
                self.alter_role(true)?
            }
            "AUTHORIZATION" => self.alter_authorization()?,
            "DATABASE" => self.alter_database()?,
            _ => return Err(self.unknown_type("ALTER", &word)),
        };
        Ok(StmtKind::Ddl(ddl))
    }

    /// The refusal of a known object type, or 343 for a word that names none.
    pub fn unknown_type(&self, verb: &str, word: &str) -> SqlError {
        let token = self.peek();
        if KNOWN_TYPES.contains(&word) {
            return self.unsupported(&format!("{verb} {word}"));
        }
        match token.kind {
            Tok::Word => errors::unknown_object_type(self.slice(token), token.pos.line),
            _ => self.fail(),
        }
    }

    /// Modules and schemas must open their batch (111); inside a block they are a syntax error.
    pub fn first_in_batch(&self, place: Place, what: &str) -> SqlResult<()> {
        if !place.batch_level {
            return Err(self.fail());
        }
        if !place.first {
            return Err(errors::not_first_in_batch(what, self.line()));
        }
        Ok(())
    }

    fn create_schema(&mut self, place: Place) -> SqlResult<Ddl> {
        self.first_in_batch(place, "CREATE SCHEMA")?;
        self.advance();
        if self.kw("AUTHORIZATION") {
            return Err(self.unsupported("CREATE SCHEMA without a name"));
        }
        let name = self.ident()?;
        let owner = self.authorization()?;
        if self.kw_any(&["CREATE", "GRANT", "DENY", "REVOKE"]) {
            return Err(self.unsupported("CREATE SCHEMA with schema elements"));
        }
        Ok(Ddl::CreateSchema { name, owner })
    }

    pub fn authorization(&mut self) -> SqlResult<Option<crate::ast::Ident>> {
        if self.eat_kw("AUTHORIZATION") {
            self.ident().map(Some)
        } else {
            Ok(None)
        }
    }

    pub fn truncate(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        self.expect_kw("TABLE")?;
        let name = self.object_name()?;
        if self.kw("WITH") && self.peek_at(1).kind == Tok::LParen {
            return Err(self.refused(Kind::Clause, "TRUNCATE TABLE … WITH (PARTITIONS)"));
        }
        Ok(StmtKind::Ddl(Ddl::Truncate(name)))
    }
}
