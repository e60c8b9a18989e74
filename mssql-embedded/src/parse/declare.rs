//! DECLARE of scalar and table variables.

use super::cursor::Parser;
use super::token::Tok;
use crate::ast::{Declaration, StmtKind, ValueStmt};
use crate::error::SqlResult;
use crate::refused::Kind;

impl Parser<'_> {
    pub fn declare(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        if self.is_ident() && (self.kw_at(1, "CURSOR") || self.kw_at(2, "CURSOR")) {
            return Err(self.refused(Kind::Clause, "CURSOR"));
        }
        self.comma_list(Self::declaration)
            .map(|it| ValueStmt::Declare(it).into())
    }

    fn declaration(&mut self) -> SqlResult<Declaration> {
        let pos = self.pos();
        let name = self.variable()?;
        self.eat_kw("AS");
        if self.eat_kw("TABLE") {
            let (columns, constraints) = self.table_elements()?;
            return Ok(Declaration::Table {
                name,
                columns,
                constraints,
                pos,
            });
        }
        let ty = self.type_name()?;
        let value = if self.eat(Tok::Eq) {
            Some(self.expr()?)
        } else {
            None
        };
        Ok(Declaration::Scalar {
            name,
            ty,
            collate: None,
            value,
            pos,
        })
    }
}
