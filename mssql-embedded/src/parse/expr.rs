//! Scalar expressions, by precedence climbing.
//!
//! T-SQL has three levels: `~`; then `*`, `/`, `%`; then `+`, `-`, `&`, `^`, `|`. A sign takes a whole
//! product as its operand, so `-a * b` is `-(a * b)` and `6.0 / -2 * 3` is `6.0 / (-(2 * 3))`.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the many tokens a rule expects a few"
)]

use super::cursor::Parser;
use super::token::Tok;
use crate::ast::{BinaryOp, Expr, ExprKind, QueryBody, UnaryOp};
use crate::error::SqlResult;
use crate::refused::Kind;

const SUM: u8 = 1;
const PRODUCT: u8 = 2;

impl Parser<'_> {
    /// A scalar with all its operators; comparisons, AND and OR belong to `condition`.
    pub fn expr(&mut self) -> SqlResult<Expr> {
        self.in_expr(|p| p.binary(SUM))
    }

    /// Runs a part of the expression grammar, counting operators anew when it is outermost.
    pub fn in_expr<T>(&mut self, inner: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        if self.expr_level == 0 {
            self.reset_expr_links();
        }
        self.expr_level += 1;
        let result = self.nested(inner)?;
        self.expr_level -= 1;
        Ok(result)
    }

    fn binary(&mut self, min: u8) -> SqlResult<Expr> {
        let left = self.unary()?;
        self.binary_from(left, min)
    }

    /// Goes on with an expression whose first operand is already read.
    pub fn expr_from(&mut self, left: Expr) -> SqlResult<Expr> {
        let left = self.postfix(left)?;
        self.binary_from(left, SUM)
    }

    fn binary_from(&mut self, mut left: Expr, min: u8) -> SqlResult<Expr> {
        while let Some((op, precedence)) = binary_op(self.peek().kind) {
            if precedence < min {
                break;
            }
            self.link_expr()?;
            self.advance();
            let right = self.binary(precedence + 1)?;
            left = Expr {
                pos: left.pos,
                kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> SqlResult<Expr> {
        let pos = self.pos();
        let (op, operand_min) = match self.peek().kind {
            Tok::Minus => (UnaryOp::Minus, Some(PRODUCT)),
            Tok::Plus => (UnaryOp::Plus, Some(PRODUCT)),
            Tok::Tilde => (UnaryOp::BitNot, None),
            _ => {
                let primary = self.primary()?;
                return self.postfix(primary);
            }
        };
        self.advance();
        let operand = self.nested(|p| match operand_min {
            Some(min) => p.binary(min),
            None => p.unary(),
        })?;
        Ok(Expr {
            pos,
            kind: ExprKind::Unary(op, Box::new(operand)),
        })
    }

    /// `COLLATE name` and `AT TIME ZONE zone` after an operand.
    fn postfix(&mut self, mut expr: Expr) -> SqlResult<Expr> {
        loop {
            let pos = expr.pos;
            let kind = if self.eat_kw("COLLATE") {
                self.link_expr()?;
                ExprKind::Collate(Box::new(expr), self.ident()?)
            } else if self.kw("AT") && self.kw_at(1, "TIME") && self.kw_at(2, "ZONE") {
                self.link_expr()?;
                for _ in 0..3 {
                    self.advance();
                }
                let zone = self.nested(Self::unary)?;
                ExprKind::AtTimeZone(Box::new(expr), Box::new(zone))
            } else {
                return Ok(expr);
            };
            expr = Expr { pos, kind };
        }
    }

    fn primary(&mut self) -> SqlResult<Expr> {
        let token = self.peek();
        let pos = token.pos;
        if let Some(literal) = self.literal() {
            return Ok(Expr {
                pos,
                kind: ExprKind::Literal(literal),
            });
        }
        let kind = match token.kind {
            Tok::Variable => ExprKind::Variable(self.variable()?),
            Tok::Global => ExprKind::GlobalVariable(self.global()),
            Tok::LParen => return self.parenthesised(),
            Tok::Word | Tok::Quoted | Tok::Temp => return self.column_or_call(),
            Tok::Reserved => return self.reserved_primary(),
            Tok::Pseudo => return Err(self.unsupported(self.slice(token))),
            Tok::Other if self.slice(token) == "{" => {
                return Err(self.refused(Kind::Clause, "an ODBC escape sequence"));
            }
            _ => return Err(self.fail()),
        };
        if self.is(Tok::Dot) && matches!(kind, ExprKind::Variable(_)) {
            return Err(self.refused(Kind::Clause, "a method call on a variable"));
        }
        Ok(Expr { pos, kind })
    }

    /// `(value)` or `(SELECT …)`, the parenthesis still to be read.
    fn parenthesised(&mut self) -> SqlResult<Expr> {
        let pos = self.expect(Tok::LParen)?.pos;
        if self.kw("SELECT") {
            return self.subquery_rest(pos);
        }
        let inner = self.in_expr(|p| p.binary(SUM))?;
        let inner = self.subquery_of_sets(inner)?;
        self.expect(Tok::RParen)?;
        Ok(inner)
    }

    /// The rest of `(SELECT …)` used as a value.
    pub fn subquery_rest(&mut self, pos: crate::ast::Pos) -> SqlResult<Expr> {
        let query = self.subquery()?;
        self.expect(Tok::RParen)?;
        Ok(Expr {
            pos,
            kind: ExprKind::Subquery(Box::new(query)),
        })
    }

    /// `((SELECT …) UNION …)`: what looked like a value in parentheses turns out to be the first
    /// operand of a set operator.
    pub fn subquery_of_sets(&mut self, inner: Expr) -> SqlResult<Expr> {
        if !self.kw_any(&["UNION", "EXCEPT", "INTERSECT"]) {
            return Ok(inner);
        }
        let ExprKind::Subquery(query) = inner.kind else {
            return Err(self.fail());
        };
        let query = self.subquery_from(QueryBody::Nested(query))?;
        Ok(Expr {
            pos: inner.pos,
            kind: ExprKind::Subquery(Box::new(query)),
        })
    }

    /// Whether the current token can begin an expression (for `RETURN` and the like).
    pub fn starts_expr(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Tok::Word => self.peek_at(1).kind != Tok::Colon,
            Tok::Reserved => self.kw_any(&[
                "NULL",
                "CASE",
                "COALESCE",
                "NULLIF",
                "CONVERT",
                "TRY_CONVERT",
                "LEFT",
                "RIGHT",
                "USER",
                "CURRENT_USER",
                "SESSION_USER",
                "SYSTEM_USER",
                "CURRENT_TIMESTAMP",
            ]),
            Tok::Quoted
            | Tok::Variable
            | Tok::Global
            | Tok::Str
            | Tok::NStr
            | Tok::Int
            | Tok::Decimal
            | Tok::Float
            | Tok::Money
            | Tok::Binary
            | Tok::LParen
            | Tok::Minus
            | Tok::Plus
            | Tok::Tilde => true,
            _ => false,
        }
    }
}

fn binary_op(kind: Tok) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        Tok::Plus => (BinaryOp::Add, SUM),
        Tok::Minus => (BinaryOp::Sub, SUM),
        Tok::Amp => (BinaryOp::BitAnd, SUM),
        Tok::Pipe => (BinaryOp::BitOr, SUM),
        Tok::Caret => (BinaryOp::BitXor, SUM),
        Tok::Star => (BinaryOp::Mul, PRODUCT),
        Tok::Slash => (BinaryOp::Div, PRODUCT),
        Tok::Percent => (BinaryOp::Mod, PRODUCT),
        _ => return None,
    })
}
