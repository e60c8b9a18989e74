//! Names, types and the values of literal tokens.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "of the many tokens a rule expects a few"
)]

use super::cursor::Parser;
use super::errors;
use super::lexer::IDENTIFIER_MAX;
use super::token::{Tok, Token};
use crate::ast::{Expr, ExprKind, Ident, Literal, ObjectName, TypeArg, TypeName};
use crate::error::SqlResult;
use crate::refused::Kind;

impl Parser<'_> {
    /// A delimited identifier without its delimiters.
    pub fn undelimited(&self, token: Token) -> String {
        let slice = self.slice(token);
        let inner = &slice[1..slice.len() - 1];
        if slice.starts_with('[') {
            inner.replace("]]", "]")
        } else {
            inner.replace("\"\"", "\"")
        }
    }

    /// The value of a string token: marks undoubled, backslash-newline continuations joined.
    pub fn string_value(&self, token: Token) -> String {
        let slice = self.slice(token);
        let slice = if token.kind == Tok::NStr {
            &slice[1..]
        } else {
            slice
        };
        let mark = &slice[..1];
        let inner = &slice[1..slice.len() - 1];
        let value = inner.replace(&mark.repeat(2), mark);
        if value.contains('\\') {
            value.replace("\\\r\n", "").replace("\\\n", "")
        } else {
            value
        }
    }

    /// Whether the current token can name something.
    pub fn is_ident(&self) -> bool {
        matches!(self.peek().kind, Tok::Word | Tok::Quoted)
    }

    pub fn ident(&mut self) -> SqlResult<Ident> {
        let token = self.peek();
        let name = match token.kind {
            Tok::Word => self.slice(token).to_owned(),
            Tok::Quoted => self.undelimited(token),
            Tok::Temp if self.slice(token).starts_with("##") => {
                return Err(self.refused(Kind::Clause, "a global temporary object"));
            }
            Tok::Temp => self.slice(token).to_owned(),
            _ => return Err(self.fail()),
        };
        self.advance();
        Ok(Ident {
            name,
            pos: token.pos,
        })
    }

    /// An identifier, or a string where T-SQL takes one in its place (column aliases).
    pub fn ident_or_string(&mut self) -> SqlResult<Ident> {
        let token = self.peek();
        if matches!(token.kind, Tok::Str | Tok::NStr) {
            self.advance();
            let name = self.string_value(token);
            if name.chars().count() > IDENTIFIER_MAX {
                return Err(errors::too_long(&name, IDENTIFIER_MAX, token.pos.line));
            }
            return Ok(Ident {
                name,
                pos: token.pos,
            });
        }
        self.ident()
    }

    /// A word in a place where the reserved ones are allowed too (option and permission names).
    pub fn any_word(&mut self) -> SqlResult<Ident> {
        let token = self.peek();
        if token.kind == Tok::Reserved {
            self.advance();
            return Ok(Ident {
                name: self.slice(token).to_owned(),
                pos: token.pos,
            });
        }
        self.ident()
    }

    /// A dotted name of at most four parts; parts before the last may be empty (`db..table`).
    pub fn object_name(&mut self) -> SqlResult<ObjectName> {
        let line = self.line();
        let mut parts = Vec::with_capacity(2);
        loop {
            if self.is(Tok::Dot) && parts.len() < 4 {
                parts.push(Ident {
                    name: String::new(),
                    pos: self.pos(),
                });
            } else {
                parts.push(self.ident()?);
            }
            // `t.*` is left to the select list.
            if !self.is(Tok::Dot) || self.peek_at(1).kind == Tok::Star {
                break;
            }
            self.advance();
        }
        let name = ObjectName { parts };
        if name.parts.len() > 4 {
            let shown: Vec<_> = name.parts.iter().map(|p| p.name.as_str()).collect();
            return Err(errors::too_many_prefixes(&shown.join("."), line));
        }
        Ok(name)
    }

    /// `@name`, as written.
    pub fn variable(&mut self) -> SqlResult<String> {
        let token = self.expect(Tok::Variable)?;
        Ok(self.slice(token).to_owned())
    }

    /// The value of a string literal.
    pub fn string(&mut self) -> SqlResult<String> {
        let token = self.peek();
        if matches!(token.kind, Tok::Str | Tok::NStr) {
            self.advance();
            return Ok(self.string_value(token));
        }
        Err(self.fail())
    }

    /// An unsigned integer that fits the wanted type.
    pub fn integer<T: std::str::FromStr>(&mut self) -> SqlResult<T> {
        let token = self.peek();
        if token.kind == Tok::Int
            && let Ok(value) = self.slice(token).parse()
        {
            self.advance();
            return Ok(value);
        }
        Err(self.fail())
    }

    /// An integer with an optional sign.
    pub fn signed_integer(&mut self) -> SqlResult<i64> {
        let negative = self.eat(Tok::Minus);
        if !negative {
            self.eat(Tok::Plus);
        }
        let value: i64 = self.integer()?;
        Ok(if negative { -value } else { value })
    }

    /// The literal at the current token, if it is one.
    pub fn literal(&mut self) -> Option<Literal> {
        let token = self.peek();
        let text = || self.slice(token).to_owned();
        let literal = match token.kind {
            Tok::Str => Literal::String(self.string_value(token)),
            Tok::NStr => Literal::NString(self.string_value(token)),
            Tok::Int => Literal::Integer(text()),
            Tok::Decimal => Literal::Decimal(text()),
            Tok::Float => Literal::Float(text()),
            Tok::Money => Literal::Money(text()),
            Tok::Binary => Literal::Binary(bytes(&self.slice(token)[2..])),
            Tok::Reserved if self.kw("NULL") => Literal::Null,
            _ => return None,
        };
        self.advance();
        Some(literal)
    }

    /// A literal (numbers may be signed) or a variable: all that THROW, RAISERROR and EXEC accept.
    pub fn simple_value(&mut self) -> SqlResult<Expr> {
        use crate::ast::UnaryOp;
        let pos = self.pos();
        let sign = match self.peek().kind {
            Tok::Minus => Some(UnaryOp::Minus),
            Tok::Plus => Some(UnaryOp::Plus),
            _ => None,
        };
        if let Some(op) = sign {
            self.advance();
            if !matches!(
                self.peek().kind,
                Tok::Int | Tok::Decimal | Tok::Float | Tok::Money
            ) {
                return Err(self.fail());
            }
            let operand = Box::new(self.simple_value()?);
            return Ok(Expr {
                pos,
                kind: ExprKind::Unary(op, operand),
            });
        }
        let kind = match self.peek().kind {
            Tok::Variable => ExprKind::Variable(self.variable()?),
            Tok::Global => ExprKind::GlobalVariable(self.global()),
            _ => ExprKind::Literal(self.literal().ok_or_else(|| self.fail())?),
        };
        Ok(Expr { pos, kind })
    }

    /// `@@NAME` without its signs, upper case.
    pub fn global(&mut self) -> String {
        let token = self.advance();
        self.slice(token)[2..].to_owned()
    }

    /// A type with its arguments. The standard's spellings (`DOUBLE PRECISION`, `NATIONAL CHARACTER
    /// VARYING`) arrive under SQL Server's names.
    pub fn type_name(&mut self) -> SqlResult<TypeName> {
        let pos = self.pos();
        let simple = |name: &str| ObjectName {
            parts: vec![Ident {
                name: name.to_owned(),
                pos,
            }],
        };
        if self.kw("CURSOR") {
            return Err(self.refused(Kind::Type, "cursor"));
        }
        let name = if self.eat_kw("DOUBLE") {
            self.expect_kw("PRECISION")?;
            simple("float")
        } else if self.eat_kw("NATIONAL") {
            if self.eat_kw("TEXT") {
                simple("ntext")
            } else if self.eat_kw("CHAR") || self.eat_kw("CHARACTER") {
                simple(if self.eat_kw("VARYING") {
                    "nvarchar"
                } else {
                    "nchar"
                })
            } else {
                return Err(self.fail());
            }
        } else {
            let name = self.object_name()?;
            if self.eat_kw("VARYING") {
                match name.parts[name.parts.len() - 1]
                    .name
                    .to_ascii_lowercase()
                    .as_str()
                {
                    "char" | "character" => simple("varchar"),
                    "nchar" => simple("nvarchar"),
                    "binary" => simple("varbinary"),
                    _ => return Err(self.unsupported("VARYING")),
                }
            } else {
                name
            }
        };
        let args = if self.is(Tok::LParen) {
            self.paren_list(Self::type_arg)?
        } else {
            Vec::new()
        };
        Ok(TypeName { name, args })
    }

    fn type_arg(&mut self) -> SqlResult<TypeArg> {
        if self.eat_kw("MAX") {
            return Ok(TypeArg::Max);
        }
        if self.is_ident() {
            return Err(self.refused(Kind::Clause, "a typed XML or spatial type"));
        }
        self.integer().map(TypeArg::Number)
    }
}

/// Hexadecimal digits to bytes; an odd count is filled with a leading zero.
fn bytes(digits: &str) -> Vec<u8> {
    let value = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
    let digits = digits.as_bytes();
    let (head, pairs) = digits.split_at(digits.len() % 2);
    let mut bytes: Vec<u8> = head.iter().map(|b| value(*b)).collect();
    bytes.extend(
        pairs
            .chunks_exact(2)
            .map(|p| value(p[0]) << 4 | value(p[1])),
    );
    bytes
}
