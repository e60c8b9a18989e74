//! Control flow: blocks, IF, WHILE, TRY, THROW, RAISERROR, labels, PRINT, WAITFOR.

use super::cursor::{Jump, Parser};
use super::errors;
use super::stmt::ListEnd;
use super::token::Tok;
use crate::ast::{
    Expr, ExprKind, FlowStmt, Literal, RaisErrorStmt, SessionStmt, StmtKind, ValueStmt,
};
use crate::error::{SqlError, SqlResult};
use crate::refused::Kind;
use crate::value::delay::delay_ms;

impl Parser<'_> {
    /// Everything that starts with BEGIN.
    pub fn begin(&mut self) -> SqlResult<StmtKind> {
        if self.kw_at(1, "TRAN") || self.kw_at(1, "TRANSACTION") {
            return self.begin_tran();
        }
        if let Some(refused) = self.refusal_of("BEGIN") {
            return Err(refused);
        }
        self.advance();
        if self.eat_kw("TRY") {
            return self.try_catch();
        }
        if self.kw("CATCH") {
            return Err(self.fail());
        }
        let body = self.in_list(false, |p| p.statements(ListEnd::End))?;
        if body.is_empty() {
            return Err(self.fail());
        }
        self.expect_kw("END")?;
        Ok(FlowStmt::Block(body).into())
    }

    fn try_catch(&mut self) -> SqlResult<StmtKind> {
        self.eat(Tok::Semi);
        let body = self.in_list(true, |p| p.statements(ListEnd::End))?;
        self.expect_kw("END")?;
        // Nothing to try is an error, unlike nothing to do about it.
        if body.is_empty() && self.kw("TRY") {
            return Err(self.fail());
        }
        self.expect_kw("TRY")?;
        self.eat(Tok::Semi);
        self.expect_kw("BEGIN")?;
        self.expect_kw("CATCH")?;
        let outer = self.scope.in_catch;
        self.scope.in_catch = true;
        let handler = self.in_list(true, |p| p.statements(ListEnd::End))?;
        self.scope.in_catch = outer;
        self.expect_kw("END")?;
        self.expect_kw("CATCH")?;
        Ok(FlowStmt::TryCatch { body, handler }.into())
    }

    pub fn if_statement(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let condition = self.condition()?;
        let then = Box::new(self.inner_statement()?);
        if self.is(Tok::Semi) && self.kw_at(1, "ELSE") {
            self.advance();
        }
        let otherwise = if self.eat_kw("ELSE") {
            Some(Box::new(self.inner_statement()?))
        } else {
            None
        };
        Ok(FlowStmt::If {
            condition,
            then,
            otherwise,
        }
        .into())
    }

    pub fn while_statement(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let condition = self.condition()?;
        let outer = self.scope.in_loop;
        self.scope.in_loop = true;
        let body = Box::new(self.inner_statement()?);
        self.scope.in_loop = outer;
        Ok(FlowStmt::While { condition, body }.into())
    }

    pub fn loop_jump(&mut self, word: &str) -> SqlResult<StmtKind> {
        if !self.scope.in_loop {
            return Err(errors::outside_loop(word, self.line()));
        }
        self.advance();
        Ok(if word == "BREAK" {
            FlowStmt::Break.into()
        } else {
            FlowStmt::Continue.into()
        })
    }

    pub fn return_statement(&mut self) -> SqlResult<StmtKind> {
        let line = self.line();
        self.advance();
        let value = if self.starts_expr() {
            Some(self.expr()?)
        } else {
            None
        };
        if value.is_some() && !self.scope.procedure {
            return Err(errors::return_value_in_batch(line));
        }
        Ok(ValueStmt::Return(value).into())
    }

    pub fn goto(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let label = self.ident()?;
        self.gotos.push(Jump {
            label: label.name.clone(),
            line: label.pos.line,
            from: self.lists.clone(),
        });
        Ok(FlowStmt::Goto(label).into())
    }

    pub fn label(&mut self) -> SqlResult<StmtKind> {
        let label = self.ident()?;
        self.expect(Tok::Colon)?;
        let earlier = self
            .labels
            .insert(label.name.to_lowercase(), self.lists.clone());
        if earlier.is_some() {
            return Err(errors::label_twice(&label.name, label.pos.line));
        }
        Ok(FlowStmt::Label(label).into())
    }

    /// Every GOTO must find its label in the same batch or procedure, and may leave TRY and CATCH but not
    /// enter them. The engine looks for a label only in the lists around the GOTO, so the others that
    /// SQL Server would find are refused.
    pub fn check_labels(&mut self) -> SqlResult<()> {
        let known = std::mem::take(&mut self.labels);
        for Jump { label, line, from } in self.gotos.drain(..) {
            let Some(to) = known.get(&label.to_lowercase()) else {
                return Err(errors::label_missing(&label, line));
            };
            let entered = || to.iter().filter(|list| !from.contains(list));
            if entered().any(|list| list.guarded) {
                return Err(errors::jump_into_try(line));
            }
            if entered().next().is_some() {
                return Err(SqlError::unsupported("GOTO into a block").at(line));
            }
        }
        Ok(())
    }

    /// `THROW`, alone in a CATCH block or with literals or variables.
    pub fn throw(&mut self) -> SqlResult<StmtKind> {
        let line = self.line();
        self.advance();
        let has_values = matches!(
            self.peek().kind,
            Tok::Int | Tok::Variable | Tok::Minus | Tok::Global | Tok::Str | Tok::NStr
        );
        if !has_values {
            if !self.scope.in_catch {
                return Err(errors::rethrow_outside_catch(line));
            }
            return Ok(ValueStmt::Throw(None).into());
        }
        let number = self.simple_value()?;
        self.expect(Tok::Comma)?;
        let message = self.simple_value()?;
        self.expect(Tok::Comma)?;
        let state = self.simple_value()?;
        Ok(ValueStmt::Throw(Some(Box::new((number, message, state)))).into())
    }

    pub fn raiserror(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        self.expect(Tok::LParen)?;
        let message = self.simple_value()?;
        self.expect(Tok::Comma)?;
        let severity = self.simple_value()?;
        self.expect(Tok::Comma)?;
        let state = self.simple_value()?;
        let mut args = Vec::new();
        while self.eat(Tok::Comma) {
            args.push(self.simple_value()?);
        }
        self.expect(Tok::RParen)?;
        let (mut nowait, mut log, mut seterror) = (false, false, false);
        if self.eat_kw("WITH") {
            self.comma_list(|p| {
                let option = p.upper();
                match option.as_str() {
                    "NOWAIT" => nowait = true,
                    "LOG" => log = true,
                    "SETERROR" => seterror = true,
                    _ => return Err(p.fail()),
                }
                p.advance();
                Ok(())
            })?;
        }
        Ok(ValueStmt::RaisError(Box::new(RaisErrorStmt {
            message,
            severity,
            state,
            args,
            nowait,
            log,
            seterror,
        }))
        .into())
    }

    pub fn print(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let value = self.expr()?;
        self.no_subquery(&value)?;
        Ok(ValueStmt::Print(value).into())
    }

    /// Refuses a subquery as the whole of a value that must be scalar (1046).
    pub fn no_subquery(&self, value: &Expr) -> SqlResult<()> {
        if matches!(value.kind, ExprKind::Subquery(_)) {
            return Err(errors::subquery_not_allowed(value.pos.line));
        }
        Ok(())
    }

    pub fn waitfor(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        if self.is(Tok::LParen) {
            return Err(self.refused(Kind::Clause, "WAITFOR (RECEIVE)"));
        }
        if self.kw("TIME") {
            return Err(self.refused(Kind::Statement, "WAITFOR TIME"));
        }
        self.expect_kw("DELAY")?;
        if !matches!(self.peek().kind, Tok::Str | Tok::NStr | Tok::Variable) {
            return Err(self.fail());
        }
        let time = self.simple_value()?;
        if let ExprKind::Literal(Literal::String(text) | Literal::NString(text)) = &time.kind
            && delay_ms(text).is_none()
        {
            return Err(errors::no_delay(text, time.pos.line));
        }
        Ok(ValueStmt::WaitFor { time }.into())
    }

    pub fn use_database(&mut self) -> SqlResult<StmtKind> {
        if self.scope.procedure {
            return Err(errors::use_in_procedure(self.line()));
        }
        self.advance();
        self.ident().map(|it| SessionStmt::Use(it).into())
    }

    pub fn kill(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let session = self.signed_integer()?;
        if self.kw("WITH") && self.kw_at(1, "STATUSONLY") {
            return Err(self.refused(Kind::Clause, "KILL … WITH STATUSONLY"));
        }
        Ok(SessionStmt::Kill(session).into())
    }
}
