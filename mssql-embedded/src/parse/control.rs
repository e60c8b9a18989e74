//! Control flow: blocks, IF, WHILE, TRY, THROW, RAISERROR, labels, PRINT, WAITFOR.

use super::cursor::Parser;
use super::errors;
use super::stmt::ListEnd;
use super::token::Tok;
use crate::ast::{Expr, ExprKind, StmtKind};
use crate::error::SqlResult;

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
        let body = self.statements(ListEnd::End)?;
        if body.is_empty() {
            return Err(self.fail());
        }
        self.expect_kw("END")?;
        Ok(StmtKind::Block(body))
    }

    fn try_catch(&mut self) -> SqlResult<StmtKind> {
        self.eat(Tok::Semi);
        let body = self.statements(ListEnd::End)?;
        self.expect_kw("END")?;
        self.expect_kw("TRY")?;
        self.eat(Tok::Semi);
        self.expect_kw("BEGIN")?;
        self.expect_kw("CATCH")?;
        let outer = self.scope.in_catch;
        self.scope.in_catch = true;
        let handler = self.statements(ListEnd::End)?;
        self.scope.in_catch = outer;
        self.expect_kw("END")?;
        self.expect_kw("CATCH")?;
        Ok(StmtKind::TryCatch { body, handler })
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
        Ok(StmtKind::If {
            condition,
            then,
            otherwise,
        })
    }

    pub fn while_statement(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let condition = self.condition()?;
        let outer = self.scope.in_loop;
        self.scope.in_loop = true;
        let body = Box::new(self.inner_statement()?);
        self.scope.in_loop = outer;
        Ok(StmtKind::While { condition, body })
    }

    pub fn loop_jump(&mut self, word: &str) -> SqlResult<StmtKind> {
        if !self.scope.in_loop {
            return Err(errors::outside_loop(word, self.line()));
        }
        self.advance();
        Ok(if word == "BREAK" {
            StmtKind::Break
        } else {
            StmtKind::Continue
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
        Ok(StmtKind::Return(value))
    }

    pub fn goto(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let label = self.ident()?;
        self.gotos.push((label.name.clone(), label.pos.line));
        Ok(StmtKind::Goto(label))
    }

    pub fn label(&mut self) -> SqlResult<StmtKind> {
        let label = self.ident()?;
        self.expect(Tok::Colon)?;
        if !self.labels.insert(label.name.to_lowercase()) {
            return Err(errors::label_twice(&label.name, label.pos.line));
        }
        Ok(StmtKind::Label(label))
    }

    /// Every GOTO must find its label in the same batch or procedure.
    pub fn check_labels(&mut self) -> SqlResult<()> {
        let known = std::mem::take(&mut self.labels);
        let missing = self
            .gotos
            .drain(..)
            .find(|(name, _)| !known.contains(&name.to_lowercase()));
        match missing {
            Some((name, line)) => Err(errors::label_missing(&name, line)),
            None => Ok(()),
        }
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
            return Ok(StmtKind::Throw(None));
        }
        let number = self.simple_value()?;
        self.expect(Tok::Comma)?;
        let message = self.simple_value()?;
        self.expect(Tok::Comma)?;
        let state = self.simple_value()?;
        Ok(StmtKind::Throw(Some(Box::new((number, message, state)))))
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
        Ok(StmtKind::RaisError {
            message,
            severity,
            state,
            args,
            nowait,
            log,
            seterror,
        })
    }

    pub fn print(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let value = self.expr()?;
        self.no_subquery(&value)?;
        Ok(StmtKind::Print(value))
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
            return Err(self.unsupported("WAITFOR (RECEIVE)"));
        }
        let delay = self.kw("DELAY");
        if !self.eat_kw("DELAY") {
            self.expect_kw("TIME")?;
        }
        let time = self.simple_value()?;
        Ok(StmtKind::WaitFor { delay, time })
    }

    pub fn use_database(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        self.ident().map(StmtKind::Use)
    }

    pub fn kill(&mut self) -> SqlResult<StmtKind> {
        self.advance();
        let session = self.signed_integer()?;
        if self.kw("WITH") && self.kw_at(1, "STATUSONLY") {
            return Err(self.unsupported("KILL … WITH STATUSONLY"));
        }
        Ok(StmtKind::Kill(session))
    }
}
