//! EXEC of procedures and of text, and EXECUTE AS.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the many tokens a rule expects a few"
)]

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{
    ExecArg, ExecStmt, ExecTarget, Expr, ExprKind, Literal, SessionStmt, StmtKind, UserName,
};
use crate::error::SqlResult;
use crate::refused::Kind;

impl Parser<'_> {
    pub fn exec(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        if self.kw("AS") {
            return self.execute_as();
        }
        self.exec_body().map(StmtKind::Exec)
    }

    fn execute_as(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        if self.kw("CALLER") || self.kw("LOGIN") {
            let name = format!("EXECUTE AS {}", self.upper());
            return Err(self.refused(Kind::Statement, &name));
        }
        self.expect_kw("USER")?;
        self.expect(Tok::Eq)?;
        let name = if self.is(Tok::Variable) {
            UserName::Variable(self.variable()?)
        } else {
            match self.literal() {
                Some(Literal::String(name) | Literal::NString(name)) => UserName::Text(name),
                _ => return Err(self.fail()),
            }
        };
        if self.kw("WITH") && (self.kw_at(1, "NO") || self.kw_at(1, "COOKIE")) {
            return Err(self.refused(Kind::Clause, "EXECUTE AS … WITH NO REVERT or COOKIE"));
        }
        Ok(SessionStmt::ExecuteAs(name).into())
    }

    /// A call without EXEC, at the start of a batch.
    pub fn bare_exec(&mut self) -> SqlResult<StmtKind> {
        let name = self.object_name()?;
        self.procedure_call(None, ExecTarget::Procedure(name))
            .map(StmtKind::Exec)
    }

    /// What follows EXEC, also as the source of an INSERT.
    pub fn exec_body(&mut self) -> SqlResult<ExecStmt> {
        if self.is(Tok::LParen) {
            return self.exec_text();
        }
        let mut return_into = None;
        if self.is(Tok::Variable) && self.peek_at(1).kind == Tok::Eq {
            return_into = Some(self.variable()?);
            self.advance();
        }
        let target = if self.is(Tok::Variable) {
            ExecTarget::Variable(self.variable()?)
        } else {
            ExecTarget::Procedure(self.object_name()?)
        };
        self.procedure_call(return_into, target)
    }

    fn exec_text(&mut self) -> SqlResult<ExecStmt> {
        self.expect(Tok::LParen)?;
        let mut pieces = vec![self.simple_value()?];
        while self.eat(Tok::Plus) {
            pieces.push(self.simple_value()?);
        }
        if self.is(Tok::Comma) {
            return Err(self.refused(Kind::Clause, "EXECUTE of text with parameters"));
        }
        self.expect(Tok::RParen)?;
        if self.kw("AS") && (self.kw_at(1, "USER") || self.kw_at(1, "LOGIN")) {
            return Err(self.refused(Kind::Clause, "EXECUTE … AS USER or LOGIN"));
        }
        if self.kw("AT") {
            return Err(self.refused(Kind::Clause, "EXECUTE … AT"));
        }
        self.exec_options()?;
        Ok(ExecStmt {
            return_into: None,
            target: ExecTarget::Text(pieces),
            args: Vec::new(),
        })
    }

    fn procedure_call(
        &mut self,
        return_into: Option<String>,
        target: ExecTarget,
    ) -> SqlResult<ExecStmt> {
        if self.is(Tok::Semi) && self.peek_at(1).kind == Tok::Int {
            return Err(self.refused(Kind::Clause, "a numbered procedure"));
        }
        let args = if self.starts_argument() {
            self.comma_list(Self::exec_arg)?
        } else {
            Vec::new()
        };
        self.exec_options()?;
        Ok(ExecStmt {
            return_into,
            target,
            args,
        })
    }

    fn starts_argument(&self) -> bool {
        match self.peek().kind {
            Tok::Word => self.peek_at(1).kind != Tok::Colon,
            Tok::Reserved => self.kw("NULL") || self.kw("DEFAULT"),
            Tok::Semi | Tok::End | Tok::RParen | Tok::Comma => false,
            _ => true,
        }
    }

    fn exec_arg(&mut self) -> SqlResult<ExecArg> {
        let mut name = None;
        if self.is(Tok::Variable) && self.peek_at(1).kind == Tok::Eq {
            name = Some(self.variable()?);
            self.advance();
        }
        if self.eat_kw("DEFAULT") {
            return Ok(ExecArg {
                name,
                value: None,
                output: false,
            });
        }
        let value = self.simple_value_or_word()?;
        let output = self.eat_kw("OUTPUT") || self.eat_kw("OUT");
        if output && !matches!(value.kind, ExprKind::Variable(_)) {
            return Err(errors::output_of_constant(value.pos.line));
        }
        Ok(ExecArg {
            name,
            value: Some(value),
            output,
        })
    }

    /// A literal, a variable, or a bare word, which T-SQL takes as a string here.
    pub fn simple_value_or_word(&mut self) -> SqlResult<Expr> {
        if !self.is_ident() {
            return self.simple_value();
        }
        let word = self.ident()?;
        Ok(Expr {
            pos: word.pos,
            kind: ExprKind::Literal(Literal::NString(word.name)),
        })
    }

    fn exec_options(&mut self) -> SqlResult<()> {
        if self.kw("WITH") && self.kw_at(1, "RECOMPILE") {
            self.advance();
            self.advance();
        } else if self.kw("WITH") && self.kw_at(1, "RESULT") {
            return Err(self.refused(Kind::Clause, "WITH RESULT SETS"));
        }
        Ok(())
    }
}
