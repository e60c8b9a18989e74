//! BEGIN, COMMIT, ROLLBACK and SAVE TRANSACTION.

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{StmtKind, TranName, TranStmt};
use crate::error::SqlResult;
use crate::refused::Kind;

/// The longest transaction name, in characters.
const NAME_MAX: usize = 32;

impl Parser<'_> {
    pub fn begin_tran(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        self.advance();
        let name = self.tran_name()?;
        if self.kw("WITH") && self.kw_at(1, "MARK") {
            return Err(self.refused(Kind::Clause, "BEGIN TRANSACTION WITH MARK"));
        }
        Ok(TranStmt::Begin(name).into())
    }

    pub fn commit(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let name = self.ended_tran()?;
        let mut delayed = false;
        if self.kw("WITH") && self.peek_at(1).kind == Tok::LParen {
            self.advance();
            self.advance();
            self.expect_kw("DELAYED_DURABILITY")?;
            self.expect(Tok::Eq)?;
            delayed = self.on_off()?;
            self.expect(Tok::RParen)?;
        }
        Ok(TranStmt::Commit { name, delayed }.into())
    }

    pub fn rollback(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        self.ended_tran().map(|it| TranStmt::Rollback(it).into())
    }

    pub fn save_tran(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        if !self.eat_kw("TRAN") {
            self.expect_kw("TRANSACTION")?;
        }
        match self.tran_name()? {
            Some(name) => Ok(TranStmt::Save(name).into()),
            None => Err(self.fail()),
        }
    }

    /// `[WORK | TRAN[SACTION] [name]]` after COMMIT and ROLLBACK.
    fn ended_tran(&mut self) -> SqlResult<Option<TranName>> {
        if self.eat_kw("WORK") {
            return Ok(None);
        }
        if self.eat_kw("TRAN") || self.eat_kw("TRANSACTION") {
            return self.tran_name();
        }
        Ok(None)
    }

    /// Any unreserved word is taken as the name, so `ROLLBACK TRAN THROW` rolls back to THROW.
    fn tran_name(&mut self) -> SqlResult<Option<TranName>> {
        if self.is(Tok::Variable) {
            return Ok(Some(TranName::Variable(self.variable()?)));
        }
        if !self.is_ident() || self.peek_at(1).kind == Tok::Colon {
            return Ok(None);
        }
        let name = self.ident()?;
        if name.name.chars().count() > NAME_MAX {
            return Err(errors::too_long(&name.name, NAME_MAX, name.pos.line));
        }
        Ok(Some(TranName::Name(name)))
    }
}
