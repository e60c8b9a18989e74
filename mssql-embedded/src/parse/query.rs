//! SELECT: CTEs, query expressions, set operators, ORDER BY, OFFSET, FOR JSON.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the many tokens a rule expects a few"
)]

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{
    Cte, ExprKind, ForJson, Ident, Pos, QueryBody, QueryExpr, QuerySpec, SelectItem, SelectStmt,
    SetOp, Top,
};
use crate::error::SqlResult;
use crate::refused::Kind;

/// Where a query stands, which decides whether it may be ordered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryPlace {
    /// A statement, or the source of an INSERT.
    Statement,
    /// A subquery, derived table, CTE or view.
    Inner,
}

impl Parser<'_> {
    /// `WITH a AS (…), b AS (…)`, empty when there is none.
    pub fn ctes(&mut self) -> SqlResult<Vec<Cte>> {
        if !self.eat_kw("WITH") {
            return Ok(Vec::new());
        }
        if self.kw("XMLNAMESPACES") || self.kw("CHANGE_TRACKING_CONTEXT") {
            return Err(self.refused(Kind::Clause, &format!("WITH {}", self.upper())));
        }
        self.comma_list(|p| {
            let name = p.ident()?;
            let columns = if p.is(Tok::LParen) {
                p.paren_list(Self::ident)?
            } else {
                Vec::new()
            };
            p.expect_kw("AS")?;
            p.expect(Tok::LParen)?;
            let query = p.subquery()?;
            p.expect(Tok::RParen)?;
            Ok(Cte {
                name,
                columns,
                query,
            })
        })
    }

    /// A SELECT statement after its CTEs.
    pub fn select_stmt(&mut self, with: Vec<Cte>) -> SqlResult<SelectStmt> {
        let query = self.query_expr(QueryPlace::Statement)?;
        let options = self.query_options()?;
        Ok(SelectStmt {
            with,
            query,
            options,
        })
    }

    /// A query inside another construct.
    pub fn subquery(&mut self) -> SqlResult<QueryExpr> {
        self.query_expr(QueryPlace::Inner)
    }

    /// The same when its first operand is already read.
    pub fn subquery_from(&mut self, first: QueryBody) -> SqlResult<QueryExpr> {
        self.nested(|p| {
            let body = p.set_operators(first)?;
            p.query_tail(body, QueryPlace::Inner)
        })
    }

    pub fn query_expr(&mut self, place: QueryPlace) -> SqlResult<QueryExpr> {
        self.nested(|p| {
            let first = p.query_primary()?;
            let body = p.set_operators(first)?;
            p.query_tail(body, place)
        })
    }

    fn set_operators(&mut self, first: QueryBody) -> SqlResult<QueryBody> {
        let mut left = self.intersections(first)?;
        loop {
            let op = if self.eat_kw("UNION") {
                SetOp::Union
            } else if self.eat_kw("EXCEPT") {
                SetOp::Except
            } else {
                return Ok(left);
            };
            self.link_query()?;
            let all = op == SetOp::Union && self.eat_kw("ALL");
            let right = self.query_primary()?;
            let right = self.intersections(right)?;
            left = set_op(op, all, left, right);
        }
    }

    /// INTERSECT binds tighter than UNION and EXCEPT.
    fn intersections(&mut self, mut left: QueryBody) -> SqlResult<QueryBody> {
        while self.eat_kw("INTERSECT") {
            self.link_query()?;
            let right = self.query_primary()?;
            left = set_op(SetOp::Intersect, false, left, right);
        }
        Ok(left)
    }

    fn query_primary(&mut self) -> SqlResult<QueryBody> {
        if self.eat(Tok::LParen) {
            let inner = self.query_expr(QueryPlace::Inner)?;
            self.expect(Tok::RParen)?;
            return Ok(QueryBody::Nested(Box::new(inner)));
        }
        if self.kw("VALUES") {
            return self.values_rows();
        }
        Ok(QueryBody::Select(Box::new(self.query_spec()?)))
    }

    fn values_rows(&mut self) -> SqlResult<QueryBody> {
        let line = self.line();
        self.expect_kw("VALUES")?;
        let rows = self.comma_list(|p| p.paren_list(Self::expr))?;
        if rows.iter().any(|row| row.len() != rows[0].len()) {
            return Err(errors::ragged_rows(line));
        }
        Ok(QueryBody::Values(rows))
    }

    fn query_tail(&mut self, body: QueryBody, place: QueryPlace) -> SqlResult<QueryExpr> {
        let line = self.line();
        let mut query = QueryExpr {
            body,
            order_by: Vec::new(),
            offset: None,
            fetch: None,
            for_json: None,
        };
        let ordered = self.kw("ORDER");
        if ordered {
            self.advance();
            self.expect_kw("BY")?;
            query.order_by = self.comma_list(Self::order_item)?;
            self.offset_fetch(&mut query)?;
        }
        if self.kw("FOR") {
            query.for_json = Some(self.for_json()?);
        }
        if self.kw("COMPUTE") {
            return Err(self.refused(Kind::Clause, "COMPUTE"));
        }
        let top = first_top(&query.body);
        if query.offset.is_some() && top.is_some() {
            return Err(errors::top_with_offset(line));
        }
        if top.is_some_and(|top| top.with_ties) && !ordered {
            return Err(errors::ties_without_order(line));
        }
        let bounded = top.is_some() || query.offset.is_some() || query.for_json.is_some();
        if ordered && place == QueryPlace::Inner && !bounded {
            return Err(errors::order_by_in_subquery(line));
        }
        Ok(query)
    }

    fn offset_fetch(&mut self, query: &mut QueryExpr) -> SqlResult<()> {
        if self.kw("FETCH") {
            return Err(errors::fetch_without_offset(self.line()));
        }
        if !self.eat_kw("OFFSET") {
            return Ok(());
        }
        query.offset = Some(self.expr()?);
        self.rows()?;
        // FETCH also begins a cursor statement, so it is ours only before NEXT or FIRST and a number.
        if self.kw("FETCH") && (self.kw_at(1, "NEXT") || self.kw_at(1, "FIRST")) {
            self.advance();
            self.advance();
            query.fetch = Some(self.expr()?);
            self.rows()?;
            self.expect_kw("ONLY")?;
        }
        Ok(())
    }

    fn rows(&mut self) -> SqlResult<()> {
        if !self.eat_kw("ROWS") {
            self.expect_kw("ROW")?;
        }
        Ok(())
    }

    fn for_json(&mut self) -> SqlResult<ForJson> {
        self.expect_kw("FOR")?;
        if self.kw("XML") || self.kw("BROWSE") {
            return Err(self.refused(Kind::Clause, &format!("FOR {}", self.upper())));
        }
        self.expect_kw("JSON")?;
        if self.kw("AUTO") {
            return Err(self.refused(Kind::Clause, "FOR JSON AUTO"));
        }
        self.expect_kw("PATH")?;
        let mut json = ForJson {
            root: None,
            include_null_values: false,
            without_array_wrapper: false,
        };
        while self.eat(Tok::Comma) {
            if self.eat_kw("ROOT") {
                json.root = Some("root".to_owned());
                if self.eat(Tok::LParen) {
                    json.root = Some(self.string()?);
                    self.expect(Tok::RParen)?;
                }
            } else if self.eat_kw("INCLUDE_NULL_VALUES") {
                json.include_null_values = true;
            } else {
                self.expect_kw("WITHOUT_ARRAY_WRAPPER")?;
                json.without_array_wrapper = true;
            }
        }
        Ok(json)
    }

    fn query_spec(&mut self) -> SqlResult<QuerySpec> {
        let pos = self.expect_kw("SELECT")?.pos;
        let distinct = self.eat_kw("DISTINCT");
        if !distinct {
            self.eat_kw("ALL");
        }
        let top = if self.kw("TOP") {
            Some(self.top(true)?)
        } else {
            None
        };
        let items = self.comma_list(Self::select_item)?;
        check_assignments(&items, pos)?;
        let into = if self.eat_kw("INTO") {
            Some(self.object_name()?)
        } else {
            None
        };
        let from = if self.eat_kw("FROM") {
            self.table_sources()?
        } else {
            Vec::new()
        };
        let filter = self.where_clause()?;
        let (group_by, grouping_sets) = if self.eat_kw("GROUP") {
            self.group_by()?
        } else {
            (Vec::new(), Vec::new())
        };
        let having = if self.eat_kw("HAVING") {
            Some(self.condition()?)
        } else {
            None
        };
        Ok(QuerySpec {
            distinct,
            top,
            items,
            into,
            from,
            filter,
            group_by,
            grouping_sets,
            having,
        })
    }

    pub fn where_clause(&mut self) -> SqlResult<Option<crate::ast::Condition>> {
        if !self.eat_kw("WHERE") {
            return Ok(None);
        }
        if self.kw("CURRENT") && self.kw_at(1, "OF") {
            return Err(self.refused(Kind::Clause, "WHERE CURRENT OF"));
        }
        self.condition().map(Some)
    }

    /// `TOP (n)`. SELECT alone may leave out the parentheses around a number.
    pub fn top(&mut self, select: bool) -> SqlResult<Top> {
        self.expect_kw("TOP")?;
        let count = if select && matches!(self.peek().kind, Tok::Int | Tok::Decimal | Tok::Float) {
            self.simple_value()?
        } else {
            self.expect(Tok::LParen)?;
            let count = self.expr()?;
            self.expect(Tok::RParen)?;
            count
        };
        let percent = self.eat_kw("PERCENT");
        let with_ties = select && self.kw("WITH") && self.kw_at(1, "TIES");
        if with_ties {
            self.advance();
            self.advance();
        }
        Ok(Top {
            count,
            percent,
            with_ties,
        })
    }

    pub fn select_item(&mut self) -> SqlResult<SelectItem> {
        if self.eat(Tok::Star) {
            return Ok(SelectItem::Star(None));
        }
        let next = self.peek_at(1).kind;
        match self.peek().kind {
            Tok::Variable if matches!(next, Tok::Eq | Tok::CompoundAssign) => {
                let variable = self.variable()?;
                let op = self.assign_op()?;
                let expr = self.expr()?;
                return Ok(SelectItem::Assign { variable, op, expr });
            }
            Tok::Word | Tok::Quoted | Tok::Str | Tok::NStr if next == Tok::Eq => {
                let alias = Some(self.ident_or_string()?);
                self.advance();
                let expr = self.expr()?;
                return Ok(SelectItem::Expr { expr, alias });
            }
            _ => {}
        }
        let expr = self.expr()?;
        if self.is(Tok::Dot) && self.peek_at(1).kind == Tok::Star {
            let ExprKind::Column(name) = expr.kind else {
                return Err(self.fail());
            };
            self.advance();
            self.advance();
            return Ok(SelectItem::Star(Some(name)));
        }
        let alias = self.column_alias()?;
        Ok(SelectItem::Expr { expr, alias })
    }

    fn column_alias(&mut self) -> SqlResult<Option<Ident>> {
        if self.eat_kw("AS")
            || matches!(
                self.peek().kind,
                Tok::Word | Tok::Quoted | Tok::Str | Tok::NStr
            )
        {
            return self.ident_or_string().map(Some);
        }
        Ok(None)
    }
}

fn set_op(op: SetOp, all: bool, left: QueryBody, right: QueryBody) -> QueryBody {
    QueryBody::SetOp {
        op,
        all,
        left: Box::new(left),
        right: Box::new(right),
    }
}

/// The TOP of a query that is a single SELECT.
fn first_top(body: &QueryBody) -> Option<&Top> {
    match body {
        QueryBody::Select(spec) => spec.top.as_ref(),
        QueryBody::SetOp { .. } | QueryBody::Nested(_) | QueryBody::Values(_) => None,
    }
}

/// Variables and result columns do not mix in one select list.
fn check_assignments(items: &[SelectItem], pos: Pos) -> SqlResult<()> {
    let assigning = items
        .iter()
        .filter(|item| matches!(item, SelectItem::Assign { .. }))
        .count();
    if assigning > 0 && assigning < items.len() {
        return Err(errors::assignment_with_data(pos.line));
    }
    Ok(())
}
