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
        let mut list = vec![self.declaration(true)?];
        let alone = matches!(list[0], Declaration::Table { .. });
        while !alone && self.eat(Tok::Comma) {
            list.push(self.declaration(false)?);
        }
        if self.is(Tok::Comma) {
            return Err(self.fail());
        }
        Ok(ValueStmt::Declare(list).into())
    }

    /// One variable; a table variable has a DECLARE of its own.
    fn declaration(&mut self, first: bool) -> SqlResult<Declaration> {
        let pos = self.pos();
        let name = self.variable()?;
        self.eat_kw("AS");
        if first && self.eat_kw("TABLE") {
            self.scope.table_variable = true;
            let elements = self.table_elements();
            self.scope.table_variable = false;
            let (columns, constraints) = elements?;
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
