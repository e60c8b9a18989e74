//! Search conditions.
//!
//! `(` may open a condition or a value: `(a) = 1` and `(a = 1)` begin alike. Instead of trying one
//! and then the other, which would take exponential time in the nesting, a parenthesis is read as
//! a [`Node`] that knows what it turned out to be.

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{CompareOp, Condition, Expr};
use crate::error::SqlResult;
use crate::refused::Kind;

/// Either side of T-SQL's divide between values and conditions.
#[allow(
    clippy::large_enum_variant,
    reason = "lives on the parser's stack only"
)]
enum Node {
    Value(Expr),
    Condition(Condition),
}

impl Parser<'_> {
    /// A condition, with OR weakest, then AND, then NOT.
    pub fn condition(&mut self) -> SqlResult<Condition> {
        let node = self.in_expr(Self::or_node)?;
        self.want_condition(node)
    }

    fn want_condition(&self, node: Node) -> SqlResult<Condition> {
        match node {
            Node::Condition(condition) => Ok(condition),
            Node::Value(_) => {
                let token = self.peek();
                Err(errors::not_boolean(&self.near(token), token.pos.line))
            }
        }
    }

    fn or_node(&mut self) -> SqlResult<Node> {
        let mut left = self.and_node()?;
        while self.kw("OR") {
            self.link_expr()?;
            let first = self.want_condition(left)?;
            self.advance();
            let second = self.and_node()?;
            let second = self.want_condition(second)?;
            left = Node::Condition(Condition::Or(Box::new(first), Box::new(second)));
        }
        Ok(left)
    }

    fn and_node(&mut self) -> SqlResult<Node> {
        let mut left = self.not_node()?;
        while self.kw("AND") {
            self.link_expr()?;
            let first = self.want_condition(left)?;
            self.advance();
            let second = self.not_node()?;
            let second = self.want_condition(second)?;
            left = Node::Condition(Condition::And(Box::new(first), Box::new(second)));
        }
        Ok(left)
    }

    fn not_node(&mut self) -> SqlResult<Node> {
        if !self.eat_kw("NOT") {
            return self.predicate();
        }
        let inner = self.nested(Self::not_node)?;
        let inner = self.want_condition(inner)?;
        Ok(Node::Condition(Condition::Not(Box::new(inner))))
    }

    fn predicate(&mut self) -> SqlResult<Node> {
        if self.kw("EXISTS") {
            self.advance();
            self.expect(Tok::LParen)?;
            let query = self.subquery()?;
            self.expect(Tok::RParen)?;
            return Ok(Node::Condition(Condition::Exists(Box::new(query))));
        }
        if let Some(refused) = self.refused_call(Kind::Predicate) {
            return Err(refused);
        }
        let left = if self.is(Tok::LParen) && self.peek_at(1).kind != Tok::End {
            match self.parenthesised_node()? {
                Node::Value(first) => self.expr_from(first)?,
                done @ Node::Condition(_) => return Ok(done),
            }
        } else {
            self.expr()?
        };
        self.predicate_from(left)
    }

    fn parenthesised_node(&mut self) -> SqlResult<Node> {
        let pos = self.expect(Tok::LParen)?.pos;
        if self.kw("SELECT") {
            return self.subquery_rest(pos).map(Node::Value);
        }
        let mut node = self.in_expr(Self::or_node)?;
        if let Node::Value(inner) = node {
            node = Node::Value(self.subquery_of_sets(inner)?);
        }
        self.expect(Tok::RParen)?;
        Ok(node)
    }

    /// What follows the left operand, if anything does.
    fn predicate_from(&mut self, left: Expr) -> SqlResult<Node> {
        if let Some(op) = self.compare_op() {
            return self.comparison(op, left).map(Node::Condition);
        }
        if self.eat_kw("IS") {
            let negated = self.eat_kw("NOT");
            if self.kw("DISTINCT") {
                return Err(self.refused(Kind::Clause, "IS DISTINCT FROM"));
            }
            self.expect_kw("NULL")?;
            return Ok(Node::Condition(Condition::IsNull {
                expr: left,
                negated,
            }));
        }
        let negated = self.kw("NOT")
            && (self.kw_at(1, "IN") || self.kw_at(1, "LIKE") || self.kw_at(1, "BETWEEN"));
        if negated {
            self.advance();
        }
        let condition = if self.eat_kw("BETWEEN") {
            let low = self.expr()?;
            self.expect_kw("AND")?;
            let high = self.expr()?;
            Condition::Between {
                expr: left,
                low,
                high,
                negated,
            }
        } else if self.eat_kw("LIKE") {
            let pattern = self.expr()?;
            let escape = if self.eat_kw("ESCAPE") {
                Some(self.expr()?)
            } else {
                None
            };
            Condition::Like {
                expr: left,
                pattern,
                escape,
                negated,
            }
        } else if self.eat_kw("IN") {
            self.in_predicate(left, negated)?
        } else {
            return Ok(Node::Value(left));
        };
        Ok(Node::Condition(condition))
    }

    fn in_predicate(&mut self, left: Expr, negated: bool) -> SqlResult<Condition> {
        self.expect(Tok::LParen)?;
        let condition = if self.kw("SELECT") {
            Condition::InQuery {
                expr: left,
                query: Box::new(self.subquery()?),
                negated,
            }
        } else {
            Condition::InList {
                expr: left,
                list: self.comma_list(Self::expr)?,
                negated,
            }
        };
        self.expect(Tok::RParen)?;
        Ok(condition)
    }

    /// A comparison operator. `< =` and the like may be written apart.
    fn compare_op(&mut self) -> Option<CompareOp> {
        let next = self.peek_at(1).kind;
        let (op, tokens) = match (self.peek().kind, next) {
            (Tok::Lt, Tok::Eq) | (Tok::Le, _) => (CompareOp::Le, 1 + usize::from(self.is(Tok::Lt))),
            (Tok::Gt, Tok::Eq) | (Tok::Ge, _) => (CompareOp::Ge, 1 + usize::from(self.is(Tok::Gt))),
            (Tok::Lt, Tok::Gt) => (CompareOp::Ne, 2),
            (Tok::Eq, _) => (CompareOp::Eq, 1),
            (Tok::Lt, _) => (CompareOp::Lt, 1),
            (Tok::Gt, _) => (CompareOp::Gt, 1),
            (Tok::Ne, _) => (CompareOp::Ne, 1),
            _ => return None,
        };
        for _ in 0..tokens {
            self.advance();
        }
        Some(op)
    }

    fn comparison(&mut self, op: CompareOp, left: Expr) -> SqlResult<Condition> {
        if self.kw_any(&["ALL", "ANY", "SOME"]) {
            let all = self.kw("ALL");
            self.advance();
            self.expect(Tok::LParen)?;
            let query = self.subquery()?;
            self.expect(Tok::RParen)?;
            return Ok(Condition::Quantified {
                op,
                left,
                all,
                query: Box::new(query),
            });
        }
        let right = self.expr()?;
        Ok(Condition::Compare(op, left, right))
    }
}
