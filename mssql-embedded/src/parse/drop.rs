//! DROP.

use super::cursor::Parser;
use super::token::Tok;
use crate::ast::{Ddl, DropKind, FlowStmt, ObjectName, Stmt, StmtKind};
use crate::error::SqlResult;

impl Parser<'_> {
    pub fn drop_statement(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let word = self.upper();
        let kind = match word.as_str() {
            "TABLE" => DropKind::Table,
            "PROC" | "PROCEDURE" => DropKind::Procedure,
            "VIEW" => DropKind::View,
            "SCHEMA" => DropKind::Schema,
            "ROLE" => DropKind::Role,
            "USER" => DropKind::User,
            "LOGIN" => DropKind::Login,
            "DATABASE" => DropKind::Database,
            "INDEX" => return self.drop_index(),
            _ => return Err(self.unknown_type("DROP", &word)),
        };
        self.advance();
        let if_exists = kind != DropKind::Login && self.if_exists()?;
        let many = matches!(
            kind,
            DropKind::Table | DropKind::Procedure | DropKind::View | DropKind::Database
        );
        let names = if many {
            self.comma_list(Self::object_name)?
        } else {
            let name = self.ident()?;
            vec![ObjectName { parts: vec![name] }]
        };
        Ok(StmtKind::Ddl(Ddl::Drop {
            kind,
            if_exists,
            names,
        }))
    }

    /// One statement may drop several indexes; each becomes a statement of its own.
    fn drop_index(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let if_exists = self.if_exists()?;
        let mut drops = self.comma_list(|p| {
            let pos = p.pos();
            let kind = StmtKind::Ddl(p.dropped_index(if_exists)?);
            Ok(Stmt {
                pos,
                end: p.last_end(),
                kind,
            })
        })?;
        if self.kw("WITH") && self.peek_at(1).kind == Tok::LParen {
            return Err(self.unsupported("DROP INDEX … WITH"));
        }
        Ok(match drops.pop() {
            Some(only) if drops.is_empty() => only.kind,
            last => {
                drops.extend(last);
                FlowStmt::Block(drops).into()
            }
        })
    }

    /// `index ON table`, or the older `table.index`.
    fn dropped_index(&mut self, if_exists: bool) -> SqlResult<Ddl> {
        let mut name = self.object_name()?;
        let token = self.peek();
        let Some(index) = name.parts.pop() else {
            return Err(self.fail());
        };
        let table = if name.parts.is_empty() {
            self.expect_kw("ON")?;
            self.object_name()?
        } else if self.kw("ON") {
            return Err(self.fail_at(token));
        } else {
            name
        };
        Ok(Ddl::DropIndex {
            if_exists,
            index,
            table,
        })
    }
}
