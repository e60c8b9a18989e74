//! Columns, function calls, CASE, CAST and the OVER clause.

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{
    Call, Expr, ExprKind, Frame, FrameBound, Ident, ObjectName, OrderItem, Over, Pos,
};
use crate::error::SqlResult;
use crate::refused::Kind;

/// A call with a grammar of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    Cast { try_: bool },
    Convert { try_: bool },
    Iif,
    Trim,
}

/// Their names, upper case.
const SPECIAL: &[(&str, Special)] = &[
    ("CAST", Special::Cast { try_: false }),
    ("TRY_CAST", Special::Cast { try_: true }),
    ("CONVERT", Special::Convert { try_: false }),
    ("TRY_CONVERT", Special::Convert { try_: true }),
    ("IIF", Special::Iif),
    ("TRIM", Special::Trim),
];

/// The names of calls that become expressions of their own. TRIM is read in its own way and then called as any function.
#[cfg(test)]
pub fn expression_names() -> impl Iterator<Item = &'static str> {
    let own = SPECIAL.iter().filter(|(_, form)| *form != Special::Trim);
    own.map(|(name, _)| *name)
}

impl Parser<'_> {
    /// An expression that begins with an unreserved name.
    pub fn column_or_call(&mut self) -> SqlResult<Expr> {
        let pos = self.pos();
        if self.kw("NEXT") && self.kw_at(1, "VALUE") && self.kw_at(2, "FOR") {
            return Err(self.refused(Kind::Clause, "NEXT VALUE FOR"));
        }
        if self.peek_at(1).kind == Tok::LParen && self.is(Tok::Word) {
            let name = self.upper();
            if let Some(kind) = self.special_call(&name)? {
                return Ok(Expr { pos, kind });
            }
        }
        let name = self.object_name()?;
        if self.is(Tok::LParen) {
            return self.call(name, pos);
        }
        if self.is(Tok::ColonColon) {
            return Err(self.refused(Kind::Clause, "a static method call"));
        }
        Ok(Expr {
            pos,
            kind: ExprKind::Column(name),
        })
    }

    /// An expression that begins with a reserved word.
    pub fn reserved_primary(&mut self) -> SqlResult<Expr> {
        let pos = self.pos();
        let word = self.upper();
        let followed = self.peek_at(1).kind == Tok::LParen;
        let kind = match word.as_str() {
            "CASE" => self.nested(Self::case)?,
            "CONVERT" | "TRY_CONVERT" if followed => match self.special_call(&word)? {
                Some(kind) => kind,
                None => return Err(self.fail()),
            },
            "COALESCE" | "NULLIF" | "LEFT" | "RIGHT" if followed => {
                let name = self.word_as_name();
                return self.call(name, pos);
            }
            "CURRENT_TIMESTAMP" | "CURRENT_USER" | "SESSION_USER" | "SYSTEM_USER" | "USER" => {
                let name = self.word_as_name();
                ExprKind::Call(bare_call(name, Vec::new()))
            }
            "IDENTITY" if followed => {
                return Err(self.refused(Kind::Clause, "IDENTITY() in SELECT INTO"));
            }
            "IDENTITYCOL" => return Err(self.refused(Kind::Clause, &word)),
            "ROWGUIDCOL" => return Err(self.refused(Kind::ColumnProperty, &word)),
            _ => return Err(self.fail()),
        };
        Ok(Expr { pos, kind })
    }

    fn word_as_name(&mut self) -> ObjectName {
        let token = self.advance();
        ObjectName {
            parts: vec![Ident {
                name: self.slice(token).to_owned(),
                pos: token.pos,
            }],
        }
    }

    /// Calls with a grammar of their own; `None` for ordinary functions.
    fn special_call(&mut self, name: &str) -> SqlResult<Option<ExprKind>> {
        // Before the arguments are read: some have a grammar of their own.
        if let Some(refused) = self.refused_here(Kind::Function) {
            return Err(refused);
        }
        let Some((_, special)) = SPECIAL.iter().find(|(known, _)| *known == name) else {
            return Ok(None);
        };
        let kind = match special {
            Special::Cast { try_ } => self.cast(*try_)?,
            Special::Convert { try_ } => self.convert(*try_)?,
            Special::Iif => self.iif()?,
            Special::Trim => self.trim()?,
        };
        Ok(Some(kind))
    }

    fn cast(&mut self, try_: bool) -> SqlResult<ExprKind> {
        let function = self.advance();
        self.expect(Tok::LParen)?;
        let expr = Box::new(self.expr()?);
        if self.is(Tok::RParen) {
            let near = self.slice(function);
            return Err(errors::expected(near, "AS", self.line()));
        }
        self.expect_kw("AS")?;
        let ty = self.type_name()?;
        self.expect(Tok::RParen)?;
        Ok(ExprKind::Cast { expr, ty, try_ })
    }

    fn convert(&mut self, try_: bool) -> SqlResult<ExprKind> {
        self.advance();
        self.expect(Tok::LParen)?;
        let ty = self.type_name()?;
        self.expect(Tok::Comma)?;
        let expr = Box::new(self.expr()?);
        let style = if self.eat(Tok::Comma) {
            Some(Box::new(self.expr()?))
        } else {
            None
        };
        self.expect(Tok::RParen)?;
        Ok(ExprKind::Convert {
            expr,
            ty,
            style,
            try_,
        })
    }

    fn iif(&mut self) -> SqlResult<ExprKind> {
        self.advance();
        self.expect(Tok::LParen)?;
        let condition = Box::new(self.condition()?);
        self.expect(Tok::Comma)?;
        let then = Box::new(self.expr()?);
        self.expect(Tok::Comma)?;
        let otherwise = Box::new(self.expr()?);
        self.expect(Tok::RParen)?;
        Ok(ExprKind::Iif {
            condition,
            then,
            otherwise,
        })
    }

    /// `TRIM(s)` or `TRIM(characters FROM s)`; the latter arrives with the characters first.
    fn trim(&mut self) -> SqlResult<ExprKind> {
        let name = self.word_as_name();
        self.expect(Tok::LParen)?;
        if self.kw_any(&["LEADING", "TRAILING", "BOTH"]) && self.peek_at(1).kind != Tok::RParen {
            return Err(self.refused(Kind::Clause, "TRIM with LEADING, TRAILING or BOTH"));
        }
        let mut args = vec![self.expr()?];
        if self.eat_kw("FROM") {
            args.push(self.expr()?);
        }
        self.expect(Tok::RParen)?;
        Ok(ExprKind::Call(bare_call(name, args)))
    }

    fn case(&mut self) -> SqlResult<ExprKind> {
        self.advance();
        let operand = if self.kw("WHEN") {
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        let mut simple = Vec::new();
        let mut searched = Vec::new();
        while self.eat_kw("WHEN") {
            if operand.is_some() {
                let value = self.expr()?;
                self.expect_kw("THEN")?;
                simple.push((value, self.expr()?));
            } else {
                let condition = self.condition()?;
                self.expect_kw("THEN")?;
                searched.push((condition, self.expr()?));
            }
        }
        if simple.is_empty() && searched.is_empty() {
            return Err(self.fail());
        }
        let otherwise = if self.eat_kw("ELSE") {
            Some(Box::new(self.expr()?))
        } else {
            None
        };
        self.expect_kw("END")?;
        Ok(match operand {
            Some(operand) => ExprKind::SimpleCase {
                operand,
                whens: simple,
                otherwise,
            },
            None => ExprKind::SearchedCase {
                whens: searched,
                otherwise,
            },
        })
    }

    /// The parenthesis and what follows it, after a function's name.
    fn call(&mut self, name: ObjectName, pos: Pos) -> SqlResult<Expr> {
        self.expect(Tok::LParen)?;
        let mut call = bare_call(name, Vec::new());
        if self.is(Tok::Star) && self.peek_at(1).kind == Tok::RParen {
            self.advance();
            call.star = true;
        } else if !self.is(Tok::RParen) {
            call.distinct = self.eat_kw("DISTINCT");
            let quantified = call.distinct || self.eat_kw("ALL");
            call.args = if quantified {
                // Nothing with more arguments takes these words.
                vec![self.expr()?]
            } else {
                self.comma_list(Self::expr)?
            };
        }
        self.expect(Tok::RParen)?;
        if self.kw("WITHIN") && self.kw_at(1, "GROUP") {
            self.advance();
            self.advance();
            self.expect(Tok::LParen)?;
            self.expect_kw("ORDER")?;
            self.expect_kw("BY")?;
            call.within_group = self.comma_list(Self::order_item)?;
            self.expect(Tok::RParen)?;
        }
        if (self.kw("IGNORE") || self.kw("RESPECT")) && self.kw_at(1, "NULLS") {
            return Err(self.refused(Kind::Clause, "IGNORE NULLS and RESPECT NULLS"));
        }
        if self.eat_kw("OVER") {
            call.over = Some(self.nested(Self::over)?);
        }
        if self.is(Tok::Dot) {
            return Err(self.refused(Kind::Clause, "a method call on a value"));
        }
        Ok(Expr {
            pos,
            kind: ExprKind::Call(call),
        })
    }

    fn over(&mut self) -> SqlResult<Over> {
        if self.is_ident() {
            return Err(self.refused(Kind::Clause, "a named WINDOW"));
        }
        self.expect(Tok::LParen)?;
        let mut over = Over {
            partition_by: Vec::new(),
            order_by: Vec::new(),
            frame: None,
        };
        if self.kw("PARTITION") && self.kw_at(1, "BY") {
            self.advance();
            self.advance();
            over.partition_by = self.comma_list(Self::expr)?;
        }
        if self.eat_kw("ORDER") {
            self.expect_kw("BY")?;
            over.order_by = self.comma_list(Self::order_item)?;
        }
        if self.kw("ROWS") || self.kw("RANGE") {
            let rows = self.kw("ROWS");
            self.advance();
            over.frame = Some(self.frame(rows)?);
        }
        self.expect(Tok::RParen)?;
        Ok(over)
    }

    /// A frame, which must not end before it starts.
    fn frame(&mut self, rows: bool) -> SqlResult<Frame> {
        let line = self.line();
        let (start, end) = if self.eat_kw("BETWEEN") {
            let start = self.frame_bound()?;
            self.expect_kw("AND")?;
            (start, self.frame_bound()?)
        } else {
            (self.frame_bound()?, FrameBound::CurrentRow)
        };
        let (first, last) = (place(&start), place(&end));
        if first.0 > last.0 || first.0 == 4 || last.0 == 0 {
            return Err(errors::no_frame(first.1, last.1, line));
        }
        Ok(Frame { rows, start, end })
    }

    fn frame_bound(&mut self) -> SqlResult<FrameBound> {
        if self.eat_kw("CURRENT") {
            self.expect_kw("ROW")?;
            return Ok(FrameBound::CurrentRow);
        }
        if self.eat_kw("UNBOUNDED") {
            if self.eat_kw("PRECEDING") {
                return Ok(FrameBound::UnboundedPreceding);
            }
            self.expect_kw("FOLLOWING")?;
            return Ok(FrameBound::UnboundedFollowing);
        }
        let count = self.integer()?;
        if self.eat_kw("PRECEDING") {
            return Ok(FrameBound::Preceding(count));
        }
        self.expect_kw("FOLLOWING")?;
        Ok(FrameBound::Following(count))
    }

    pub fn order_item(&mut self) -> SqlResult<OrderItem> {
        let expr = self.expr()?;
        let descending = self.eat_kw("DESC");
        if !descending {
            self.eat_kw("ASC");
        }
        Ok(OrderItem { expr, descending })
    }
}

/// Where a bound lies, and how messages show it.
fn place(bound: &FrameBound) -> (u8, &'static str) {
    match bound {
        FrameBound::UnboundedPreceding => (0, "UNBOUNDED PRECEDING"),
        FrameBound::Preceding(_) => (1, "... PRECEDING"),
        FrameBound::CurrentRow => (2, "CURRENT ROW"),
        FrameBound::Following(_) => (3, "... FOLLOWING"),
        FrameBound::UnboundedFollowing => (4, "UNBOUNDED FOLLOWING"),
    }
}

fn bare_call(name: ObjectName, args: Vec<Expr>) -> Call {
    Call {
        name,
        args,
        star: false,
        distinct: false,
        within_group: Vec::new(),
        over: None,
    }
}
