//! Table sources: names, derived tables, OPENJSON, functions and joins.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the many tokens a rule expects a few"
)]

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{
    Ident, JoinKind, JoinStrategy, JsonColumn, ObjectName, QueryBody, QueryExpr, TableHint,
    TableSource,
};
use crate::error::SqlResult;
use crate::refused::Kind;

/// What a parenthesis in FROM turned out to hold.
enum Paren {
    Query(QueryExpr),
    Source(TableSource),
}

impl Parser<'_> {
    /// The list after FROM. A comma is a join without a condition, and counts as one.
    pub fn table_sources(&mut self) -> SqlResult<Vec<TableSource>> {
        let mut first = true;
        self.comma_list(|p| {
            if !std::mem::replace(&mut first, false) {
                p.link_query()?;
            }
            p.table_source()
        })
    }

    /// A source with the joins that follow it.
    pub fn table_source(&mut self) -> SqlResult<TableSource> {
        let first = self.nested(Self::source_primary)?;
        self.joins(first)
    }

    /// Joins onto `left`. In `a JOIN b JOIN c ON x ON y` the first ON belongs to the inner join, so
    /// the right side takes further joins until its own ON is found.
    fn joins(&mut self, mut left: TableSource) -> SqlResult<TableSource> {
        while let Some((kind, strategy)) = self.join_kind()? {
            self.link_query()?;
            let mut right = self.nested(Self::source_primary)?;
            let on = match kind {
                JoinKind::Cross | JoinKind::CrossApply | JoinKind::OuterApply => None,
                JoinKind::Inner | JoinKind::Left | JoinKind::Right | JoinKind::Full => {
                    if !self.kw("ON") {
                        right = self.nested(|p| p.joins(right))?;
                    }
                    self.expect_kw("ON")?;
                    Some(self.condition()?)
                }
            };
            left = TableSource::Join {
                kind,
                strategy,
                left: Box::new(left),
                right: Box::new(right),
                on,
            };
        }
        Ok(left)
    }

    fn join_kind(&mut self) -> SqlResult<Option<(JoinKind, JoinStrategy)>> {
        let any = JoinStrategy::Any;
        if self.kw("CROSS") {
            self.advance();
            if self.eat_kw("APPLY") {
                return Ok(Some((JoinKind::CrossApply, any)));
            }
            self.expect_kw("JOIN")?;
            return Ok(Some((JoinKind::Cross, any)));
        }
        if self.kw("OUTER") && self.kw_at(1, "APPLY") {
            self.advance();
            self.advance();
            return Ok(Some((JoinKind::OuterApply, any)));
        }
        let kind = match self.upper().as_str() {
            "JOIN" => JoinKind::Inner,
            "INNER" => {
                self.advance();
                JoinKind::Inner
            }
            "LEFT" => self.outer(JoinKind::Left),
            "RIGHT" => self.outer(JoinKind::Right),
            "FULL" => self.outer(JoinKind::Full),
            _ => return Ok(None),
        };
        if self.kw("REMOTE") {
            return Err(self.refused(Kind::Clause, "REMOTE JOIN"));
        }
        let strategy = match self.upper().as_str() {
            "LOOP" => JoinStrategy::Loop,
            "HASH" | "MERGE" => JoinStrategy::Hash,
            _ => any,
        };
        if strategy != any {
            self.advance();
        }
        self.expect_kw("JOIN")?;
        Ok(Some((kind, strategy)))
    }

    /// Passes over LEFT, RIGHT or FULL and an OUTER that may follow.
    fn outer(&mut self, kind: JoinKind) -> JoinKind {
        self.advance();
        self.eat_kw("OUTER");
        kind
    }

    fn source_primary(&mut self) -> SqlResult<TableSource> {
        if let Some(refused) = self.refused_call(Kind::RowSet) {
            return Err(refused);
        }
        let token = self.peek();
        match token.kind {
            Tok::LParen => match self.paren_source()? {
                Paren::Source(source) => Ok(source),
                Paren::Query(query) => self.derived(query),
            },
            Tok::Variable => self.variable_source(),
            Tok::ColonColon => Err(self.refused(Kind::Clause, "the :: function prefix")),
            Tok::Word
                if self.open_json && self.kw("OPENJSON") && self.peek_at(1).kind == Tok::LParen =>
            {
                self.open_json()
            }
            _ => self.named_source(),
        }
    }

    fn variable_source(&mut self) -> SqlResult<TableSource> {
        let name = self.variable()?;
        if self.is(Tok::Dot) {
            return Err(self.refused(Kind::Clause, "a method call on a variable"));
        }
        let alias = self.table_alias()?;
        Ok(TableSource::Variable { name, alias })
    }

    fn named_source(&mut self) -> SqlResult<TableSource> {
        let name = self.object_name()?;
        let call = self.is(Tok::LParen) && !self.old_style_hint();
        if call {
            return self.function_source(name);
        }
        if self.kw("FOR") && (self.kw_at(1, "SYSTEM_TIME") || self.kw_at(1, "PATH")) {
            return Err(self.refused(Kind::Clause, &format!("FOR {}", self.upper_at(1))));
        }
        // Hints may stand before the alias, after it, or both when written without WITH.
        let mut hints = self.bare_hints()?;
        let alias = self.table_alias()?;
        self.refuse_after_source()?;
        hints.extend(self.table_hints()?);
        self.refuse_after_source()?;
        Ok(TableSource::Named { name, alias, hints })
    }

    fn bare_hints(&mut self) -> SqlResult<Vec<TableHint>> {
        if self.is(Tok::LParen) {
            self.table_hints()
        } else {
            Ok(Vec::new())
        }
    }

    fn refuse_after_source(&self) -> SqlResult<()> {
        match self.refused_here(Kind::SourceClause) {
            Some(refused) => Err(refused),
            None => Ok(()),
        }
    }

    fn function_source(&mut self, name: ObjectName) -> SqlResult<TableSource> {
        self.expect(Tok::LParen)?;
        let args = if self.is(Tok::RParen) {
            Vec::new()
        } else {
            self.comma_list(Self::expr)?
        };
        self.expect(Tok::RParen)?;
        if self.is(Tok::Dot) {
            return Err(self.refused(Kind::Clause, "a method call on a value"));
        }
        let plain = matches!(name.parts.as_slice(), [n] if n.name.eq_ignore_ascii_case("openjson"));
        if self.kw("WITH") && plain {
            return Err(errors::with_needs_semicolon(self.line()));
        }
        if self.kw("WITH") && self.peek_at(1).kind == Tok::LParen {
            return Err(self.unsupported("WITH after a table-valued function"));
        }
        let alias = self.table_alias()?;
        let columns = self.alias_columns(&alias)?;
        Ok(TableSource::Function {
            name,
            args,
            alias,
            columns,
        })
    }

    fn paren_source(&mut self) -> SqlResult<Paren> {
        self.expect(Tok::LParen)?;
        if self.kw_any(&["SELECT", "VALUES"]) {
            let query = self.subquery()?;
            self.expect(Tok::RParen)?;
            return Ok(Paren::Query(query));
        }
        for statement in ["INSERT", "UPDATE", "DELETE", "MERGE"] {
            if self.kw(statement) {
                return Err(self.refused(Kind::Clause, "a data change as a table source"));
            }
        }
        let inner = if self.is(Tok::LParen) {
            self.nested(Self::paren_source)?
        } else {
            Paren::Source(self.table_source()?)
        };
        let sets = self.is(Tok::RParen) || self.kw_any(&["UNION", "EXCEPT", "INTERSECT", "ORDER"]);
        let result = match inner {
            Paren::Query(query) if sets => {
                Paren::Query(self.subquery_from(QueryBody::Nested(Box::new(query)))?)
            }
            Paren::Query(query) => {
                let first = self.derived(query)?;
                Paren::Source(self.joins(first)?)
            }
            Paren::Source(source) => Paren::Source(self.joins(source)?),
        };
        self.expect(Tok::RParen)?;
        Ok(result)
    }

    fn derived(&mut self, query: QueryExpr) -> SqlResult<TableSource> {
        let alias = self.table_alias()?;
        // SQL Server demands the alias and complains at whatever stands in its place.
        if alias.is_none() {
            return Err(self.fail());
        }
        let columns = self.alias_columns(&alias)?;
        self.refuse_after_source()?;
        Ok(TableSource::Derived {
            query: Box::new(query),
            alias,
            columns,
        })
    }

    pub fn table_alias(&mut self) -> SqlResult<Option<Ident>> {
        if self.eat_kw("AS") || self.is_ident() {
            return self.ident().map(Some);
        }
        Ok(None)
    }

    fn alias_columns(&mut self, alias: &Option<Ident>) -> SqlResult<Vec<Ident>> {
        if alias.is_some() && self.is(Tok::LParen) {
            return self.paren_list(Self::ident);
        }
        Ok(Vec::new())
    }

    fn open_json(&mut self) -> SqlResult<TableSource> {
        self.advance();
        self.expect(Tok::LParen)?;
        let json = self.expr()?;
        let path = if self.eat(Tok::Comma) {
            Some(self.expr()?)
        } else {
            None
        };
        self.expect(Tok::RParen)?;
        let with = if self.kw("WITH") {
            self.advance();
            if !self.is(Tok::LParen) && self.is_ident() {
                let token = self.peek();
                return Err(errors::cte_needs_semicolon(
                    &self.near(token),
                    token.pos.line,
                ));
            }
            Some(self.paren_list(Self::json_column)?)
        } else {
            None
        };
        let alias = self.table_alias()?;
        Ok(TableSource::OpenJson {
            json,
            path,
            with,
            alias,
        })
    }

    fn json_column(&mut self) -> SqlResult<JsonColumn> {
        let name = self.ident()?;
        let ty = self.type_name()?;
        let collate = if self.eat_kw("COLLATE") {
            Some(self.ident()?)
        } else {
            None
        };
        let path = match self.peek().kind {
            Tok::Str | Tok::NStr => Some(self.string()?),
            _ => None,
        };
        let as_json = self.eat_kw("AS");
        if as_json {
            self.expect_kw("JSON")?;
        }
        Ok(JsonColumn {
            name,
            ty,
            collate,
            path,
            as_json,
        })
    }
}
