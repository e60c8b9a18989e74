//! Batches, statement lists and the choice of statement by its first word.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the many tokens a rule expects a few"
)]

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{Batch, SessionStmt, Stmt, StmtKind, TableStmt};
use crate::error::SqlResult;
use crate::refused::Kind;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListEnd {
    Text,
    /// At `END`, which is left to the caller.
    End,
}

impl Parser<'_> {
    /// The statements of the whole text.
    pub fn batch(&mut self) -> SqlResult<Batch> {
        let statements = self.statements(ListEnd::Text)?;
        self.check_labels()?;
        Ok(Batch { statements })
    }

    pub fn statements(&mut self, end: ListEnd) -> SqlResult<Vec<Stmt>> {
        let first_in_batch = end == ListEnd::Text && !self.scope.procedure;
        let mut list = Vec::new();
        let mut terminated = true;
        loop {
            while self.eat(Tok::Semi) {
                terminated = true;
            }
            let over = match end {
                ListEnd::Text => self.at_end(),
                ListEnd::End => self.kw("END"),
            };
            if over {
                return Ok(list);
            }
            let place = Place {
                batch_level: first_in_batch,
                first: list.is_empty(),
                terminated,
            };
            list.push(self.statement(place)?);
            terminated = false;
        }
    }

    /// The statement after IF, ELSE and WHILE.
    pub fn inner_statement(&mut self) -> SqlResult<Stmt> {
        let place = Place {
            batch_level: false,
            first: true,
            terminated: true,
        };
        // A label that it has is no label of the list around it.
        self.in_list(false, |p| p.statement(place))
    }

    fn statement(&mut self, place: Place) -> SqlResult<Stmt> {
        self.reset_query_links();
        let pos = self.pos();
        let kind = self.nested(|p| p.statement_kind(place))?;
        Ok(Stmt {
            pos,
            end: self.last_end(),
            kind,
        })
    }

    fn statement_kind(&mut self, place: Place) -> SqlResult<StmtKind> {
        match self.peek().kind {
            Tok::Reserved => self.reserved_statement(place),
            Tok::Word => self.word_statement(place),
            Tok::Quoted if place.batch_level && place.first => self.bare_exec(),
            Tok::LParen => self
                .select_stmt(Vec::new())
                .map(|it| TableStmt::Select(it).into()),
            _ => Err(self.fail()),
        }
    }

    fn reserved_statement(&mut self, place: Place) -> SqlResult<StmtKind> {
        let word = self.upper();
        match word.as_str() {
            "SELECT" => self
                .select_stmt(Vec::new())
                .map(|it| TableStmt::Select(it).into()),
            "INSERT" => self.insert(Vec::new()),
            "UPDATE" if !self.kw_at(1, "STATISTICS") => self.update(Vec::new()),
            "DELETE" => self.delete(Vec::new()),
            "WITH" => self.with_statement(place),
            "BEGIN" => self.begin(),
            "IF" => self.if_statement(),
            "WHILE" => self.while_statement(),
            "BREAK" | "CONTINUE" => self.loop_jump(&word),
            "RETURN" => self.return_statement(),
            "GOTO" => self.goto(),
            "RAISERROR" => self.raiserror(),
            "PRINT" => self.print(),
            "WAITFOR" => self.waitfor(),
            "DECLARE" => self.declare(),
            "SET" => self.set(),
            "EXEC" | "EXECUTE" => self.exec(),
            "COMMIT" => self.commit(),
            "ROLLBACK" => self.rollback(),
            "SAVE" => self.save_tran(),
            "USE" => self.use_database(),
            "CREATE" => self.create(place),
            "ALTER" => self.alter(place),
            "DROP" => self.drop_statement(),
            "TRUNCATE" => self.truncate(),
            "GRANT" | "DENY" | "REVOKE" => self.permission(),
            "KILL" => self.kill(),
            "REVERT" => {
                self.advance();
                if self.kw("WITH") && self.kw_at(1, "COOKIE") {
                    return Err(self.refused(Kind::Clause, "REVERT WITH COOKIE"));
                }
                Ok(SessionStmt::Revert.into())
            }
            "CHECKPOINT" => {
                self.advance();
                Ok(SessionStmt::Checkpoint.into())
            }
            _ => Err(self.refuse_statement(&word)),
        }
    }

    /// Statements that begin with an unreserved word: labels, THROW, and a procedure call without
    /// EXEC as the very first statement of a batch.
    fn word_statement(&mut self, place: Place) -> SqlResult<StmtKind> {
        if self.peek_at(1).kind == Tok::Colon {
            return self.label();
        }
        if self.kw("THROW") && (place.terminated || place.first) {
            return self.throw();
        }
        if let Some(error) = self.refuse_word_statement() {
            return Err(error);
        }
        if place.batch_level && place.first {
            return self.bare_exec();
        }
        Err(self.fail())
    }

    fn with_statement(&mut self, place: Place) -> SqlResult<StmtKind> {
        if !place.terminated {
            return Err(errors::with_needs_semicolon(self.line()));
        }
        let with = self.ctes()?;
        match self.upper().as_str() {
            "INSERT" => self.insert(with),
            "UPDATE" => self.update(with),
            "DELETE" => self.delete(with),
            "MERGE" => Err(self.refuse_statement("MERGE")),
            _ if self.is(Tok::LParen) || self.kw("SELECT") => self
                .select_stmt(with)
                .map(|it| TableStmt::Select(it).into()),
            _ => Err(self.fail()),
        }
    }
}

/// Where a statement stands in its list.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Directly in the batch, not in a block, a branch or a procedure.
    pub batch_level: bool,
    /// The first of its list.
    pub first: bool,
    /// Whether the statement before it ended with a semicolon.
    pub terminated: bool,
}
