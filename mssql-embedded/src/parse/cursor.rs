//! The parser's position in the tokens, and the small steps every grammar file is made of.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the many tokens a rule expects a few"
)]

use std::collections::HashMap;

use super::errors;
use super::token::{Tok, Token};
use super::{Progress, TOKENS_PER_TURN};
use crate::ast::{BinaryOp, Pos};
use crate::error::{SqlError, SqlResult};

/// How deep constructs may nest (parentheses, subqueries, blocks) before error 191. Each level costs
/// a handful of stack frames here and again in the binder, so this bounds their stacks.
const DEPTH_MAX: u32 = 100;

/// How many operators one expression, and how many joins (commas too) and set operators one statement, may hold.
/// Such chains nest to the left in the tree, so this bounds its height as `DEPTH_MAX` does.
const CHAIN_MAX: u32 = 500;

/// What surrounds the statement being parsed.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope {
    pub procedure: bool,
    pub in_loop: bool,
    pub in_catch: bool,
    /// The definition of a table variable, which has no names for constraints and refers to no table.
    pub table_variable: bool,
}

/// A list of statements within others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct List {
    number: u32,
    /// The body of TRY or CATCH.
    pub guarded: bool,
}

/// A GOTO, whose label may come later.
pub(super) struct Jump {
    pub label: String,
    pub line: u32,
    /// The lists that it is in.
    pub from: Vec<List>,
}

/// A recursive-descent parser over the tokens of one batch.
pub(super) struct Parser<'a> {
    pub text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    /// Nesting of expressions; zero outside of any.
    pub expr_level: u32,
    expr_links: u32,
    query_links: u32,
    pub scope: Scope,
    /// Labels declared, and labels jumped to with their lines, in the current batch.
    pub labels: HashMap<String, Vec<List>>,
    pub gotos: Vec<Jump>,
    /// The lists of statements around the current one, outermost first, and how many there were.
    pub lists: Vec<List>,
    pub lists_begun: u32,
    /// As in [`ParseOptions`](super::ParseOptions).
    pub open_json: bool,
    progress: &'a mut Progress<'a>,
    /// At which token it is told of the next time.
    next_turn: usize,
    /// Its error, once there is one.
    ended: Option<SqlError>,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str, tokens: Vec<Token>, progress: &'a mut Progress<'a>) -> Self {
        Self {
            text,
            tokens,
            at: 0,
            depth: 0,
            expr_level: 0,
            expr_links: 0,
            query_links: 0,
            scope: Scope::default(),
            labels: HashMap::new(),
            gotos: Vec::new(),
            lists: Vec::new(),
            lists_begun: 0,
            open_json: true,
            progress,
            next_turn: TOKENS_PER_TURN,
            ended: None,
        }
    }

    /// What the parsing came to: what `progress` said, if that ended it.
    pub fn outcome<T>(self, parsed: SqlResult<T>) -> SqlResult<T> {
        match self.ended {
            Some(error) => Err(error),
            None => parsed,
        }
    }

    /// Reads a list of statements within the current one.
    pub fn in_list<T>(
        &mut self,
        guarded: bool,
        read: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.lists_begun += 1;
        let number = self.lists_begun;
        self.lists.push(List { number, guarded });
        let outcome = read(self);
        self.lists.pop();
        outcome
    }

    pub fn peek(&self) -> Token {
        self.peek_at(0)
    }

    /// A token further on; the end repeats.
    pub fn peek_at(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    /// Takes the current token. Whatever loops takes tokens, so this is where a long text is noticed.
    pub fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != Tok::End {
            self.at += 1;
        }
        if self.at >= self.next_turn {
            self.next_turn = self.at + TOKENS_PER_TURN;
            if let Err(error) = (self.progress)(0) {
                // As if the text ended here; what that looks like is told to nobody.
                self.at = self.tokens.len() - 1;
                self.ended = Some(error);
            }
        }
        token
    }

    pub fn pos(&self) -> Pos {
        self.peek().pos
    }

    pub fn line(&self) -> u32 {
        self.peek().pos.line
    }

    /// Byte offset just past the last token taken.
    pub fn last_end(&self) -> u32 {
        match self.at.checked_sub(1) {
            Some(last) => self.tokens[last].end,
            None => 0,
        }
    }

    /// The source text of a token.
    pub fn slice(&self, token: Token) -> &'a str {
        &self.text[token.pos.offset as usize..token.end as usize]
    }

    pub fn at_end(&self) -> bool {
        self.is(Tok::End)
    }

    pub fn is(&self, kind: Tok) -> bool {
        self.peek().kind == kind
    }

    pub fn eat(&mut self, kind: Tok) -> bool {
        let found = self.is(kind);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, kind: Tok) -> SqlResult<Token> {
        if self.is(kind) {
            Ok(self.advance())
        } else {
            Err(self.fail())
        }
    }

    /// Whether the token `ahead` is this undelimited word.
    pub fn kw_at(&self, ahead: usize, word: &str) -> bool {
        let token = self.peek_at(ahead);
        matches!(token.kind, Tok::Word | Tok::Reserved)
            && self.slice(token).eq_ignore_ascii_case(word)
    }

    pub fn kw(&self, word: &str) -> bool {
        self.kw_at(0, word)
    }

    /// Whether the current token is one of these words.
    pub fn kw_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.kw(word))
    }

    pub fn eat_kw(&mut self, word: &str) -> bool {
        let found = self.kw(word);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect_kw(&mut self, word: &str) -> SqlResult<Token> {
        if self.kw(word) {
            Ok(self.advance())
        } else {
            Err(self.fail())
        }
    }

    /// The current undelimited word in upper case; empty for any other token.
    pub fn upper(&self) -> String {
        self.upper_at(0)
    }

    pub fn upper_at(&self, ahead: usize) -> String {
        let token = self.peek_at(ahead);
        match token.kind {
            Tok::Word | Tok::Reserved => self.slice(token).to_ascii_uppercase(),
            _ => String::new(),
        }
    }

    /// Parses `item` once and again after every comma.
    pub fn comma_list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let mut list = vec![item(self)?];
        while self.eat(Tok::Comma) {
            list.push(item(self)?);
        }
        Ok(list)
    }

    /// A comma list in parentheses.
    pub fn paren_list<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        self.expect(Tok::LParen)?;
        let list = self.comma_list(item)?;
        self.expect(Tok::RParen)?;
        Ok(list)
    }

    pub fn on_off(&mut self) -> SqlResult<bool> {
        if self.eat_kw("ON") {
            Ok(true)
        } else {
            self.expect_kw("OFF").map(|_| false)
        }
    }

    /// Runs `inner` one nesting level deeper. Every statement and every expression does so.
    pub fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(errors::too_deep(self.line()));
        }
        let result = inner(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// Begins a statement: its joins and set operators are counted anew.
    pub fn reset_query_links(&mut self) {
        self.query_links = 0;
    }

    /// Begins an outermost expression: its operators are counted anew.
    pub fn reset_expr_links(&mut self) {
        self.expr_links = 0;
    }

    /// Counts one more operator of a chain in the current expression.
    pub fn link_expr(&mut self) -> SqlResult<()> {
        self.expr_links += 1;
        self.check_links(self.expr_links)
    }

    /// Counts one more join, comma of FROM or set operator in the current statement.
    pub fn link_query(&mut self) -> SqlResult<()> {
        self.query_links += 1;
        self.check_links(self.query_links)
    }

    fn check_links(&self, links: u32) -> SqlResult<()> {
        if links > CHAIN_MAX {
            return Err(errors::too_deep(self.line()));
        }
        Ok(())
    }

    /// The syntax error at the current token: 156 at a keyword, otherwise 102. At the end of the
    /// text SQL Server names the last token it read.
    pub fn fail(&self) -> SqlError {
        self.fail_at(self.peek())
    }

    pub fn fail_at(&self, token: Token) -> SqlError {
        let line = token.pos.line;
        match token.kind {
            Tok::End => errors::near(&self.near(token), self.last_line()),
            Tok::Reserved => errors::near_keyword(self.slice(token), line),
            _ => errors::near(&self.near(token), line),
        }
    }

    /// How an error message shows a token.
    pub fn near(&self, token: Token) -> String {
        match token.kind {
            Tok::End => match self.at.checked_sub(1) {
                Some(last) => self.near(self.tokens[last]),
                None => String::new(),
            },
            Tok::Quoted => self.undelimited(token),
            Tok::Str | Tok::NStr => self.string_value(token),
            _ => self.slice(token).to_owned(),
        }
    }

    fn last_line(&self) -> u32 {
        let last = self.at.saturating_sub(1);
        self.tokens[last].pos.line
    }

    /// The refusal of a construct the engine does not implement, at the current line.
    pub fn unsupported(&self, what: &str) -> SqlError {
        SqlError::unsupported(what).at(self.line())
    }

    /// The refusal of an option by its word, or the syntax error of what is none.
    pub fn unsupported_word(&self, what: &str) -> SqlError {
        if self.is_ident() || self.is(Tok::Reserved) {
            self.unsupported(what)
        } else {
            self.fail()
        }
    }

    /// `=`, or an operator with `=`. `None` inside the result is plain assignment.
    pub fn assign_op(&mut self) -> SqlResult<Option<BinaryOp>> {
        let token = self.peek();
        let op = match token.kind {
            Tok::Eq => None,
            Tok::CompoundAssign => match self.slice(token).as_bytes()[0] {
                b'+' => Some(BinaryOp::Add),
                b'-' => Some(BinaryOp::Sub),
                b'*' => Some(BinaryOp::Mul),
                b'/' => Some(BinaryOp::Div),
                b'%' => Some(BinaryOp::Mod),
                b'&' => Some(BinaryOp::BitAnd),
                b'|' => Some(BinaryOp::BitOr),
                _ => Some(BinaryOp::BitXor),
            },
            _ => return Err(self.fail()),
        };
        self.advance();
        Ok(op)
    }
}
