//! Column definitions.

use super::cursor::Parser;
use super::render::{render_condition, render_expr};
use super::token::Tok;
use crate::ast::{ColumnDef, ConstraintKind, Ident, IndexColumn, Repeated, TableConstraint};
use crate::error::SqlResult;
use crate::refused::Kind;

impl Parser<'_> {
    pub fn column_def(&mut self) -> SqlResult<ColumnDef> {
        if self.kw("PERIOD") && self.kw_at(1, "FOR") {
            return Err(self.refused(Kind::Clause, "PERIOD FOR SYSTEM_TIME"));
        }
        let name = self.ident()?;
        let mut column = ColumnDef {
            name,
            ty: None,
            computed: None,
            computed_text: None,
            persisted: false,
            collate: None,
            nullable: None,
            identity: None,
            default: None,
            with_values: false,
            repeated: None,
            constraints: Vec::new(),
        };
        if self.eat_kw("AS") {
            let expr = self.expr()?;
            self.no_subquery(&expr)?;
            column.computed_text = Some(format!("({})", render_expr(&expr)));
            column.computed = Some(expr);
            column.persisted = self.eat_kw("PERSISTED");
        } else {
            column.ty = Some(self.type_name()?);
        }
        while self.column_property(&mut column)? {}
        Ok(column)
    }

    /// One property after the type, in any order; false when none follows.
    fn column_property(&mut self, column: &mut ColumnDef) -> SqlResult<bool> {
        let word = self.upper();
        match word.as_str() {
            "COLLATE" => {
                self.advance();
                column.collate = Some(self.ident()?);
            }
            "NULL" | "NOT" => {
                if self.kw_at(1, "FOR") {
                    return Err(self.refused(Kind::Clause, "NOT FOR REPLICATION"));
                }
                if column.nullable.is_some() {
                    column.repeated = Some(Repeated::Nullability);
                }
                column.nullable = self.nullability()?;
            }
            "IDENTITY" => {
                self.advance();
                column.identity = Some(self.identity()?);
            }
            "CONSTRAINT" | "FOREIGN" | "REFERENCES" if self.scope.table_variable => {
                return Err(self.fail());
            }
            "CONSTRAINT" => {
                self.advance();
                let name = self.ident()?;
                if !self.column_constraint(Some(name), column)? {
                    return Err(self.fail());
                }
            }
            _ => match self.refused_here(Kind::ColumnProperty) {
                Some(refused) => return Err(refused),
                None => return self.column_constraint(None, column),
            },
        }
        Ok(true)
    }

    /// `(seed, increment)`; (1, 1) when left out.
    fn identity(&mut self) -> SqlResult<(i64, i64)> {
        if !self.eat(Tok::LParen) {
            return Ok((1, 1));
        }
        let seed = self.signed_integer()?;
        self.expect(Tok::Comma)?;
        let increment = self.signed_integer()?;
        self.expect(Tok::RParen)?;
        Ok((seed, increment))
    }

    fn column_constraint(
        &mut self,
        name: Option<Ident>,
        column: &mut ColumnDef,
    ) -> SqlResult<bool> {
        let word = self.upper();
        let own = |descending| {
            vec![IndexColumn {
                name: column.name.clone(),
                descending,
            }]
        };
        let kind = match word.as_str() {
            "DEFAULT" => {
                self.advance();
                let expr = self.expr()?;
                self.no_subquery(&expr)?;
                let text = format!("({})", render_expr(&expr));
                if column.default.is_some() {
                    column.repeated = Some(Repeated::Default);
                }
                column.default = Some((name, expr, text));
                if self.kw("WITH") && self.kw_at(1, "VALUES") {
                    self.advance();
                    self.advance();
                    column.with_values = true;
                }
                return Ok(true);
            }
            "PRIMARY" | "UNIQUE" => {
                let mut kind = self.key_constraint(own(false))?;
                if let ConstraintKind::PrimaryKey { columns, .. }
                | ConstraintKind::Unique { columns, .. } = &mut kind
                    && columns.is_empty()
                {
                    *columns = own(false);
                }
                kind
            }
            "CHECK" => self.check_constraint()?,
            "FOREIGN" | "REFERENCES" => {
                if self.eat_kw("FOREIGN") {
                    self.expect_kw("KEY")?;
                }
                self.references(vec![column.name.clone()])?
            }
            "INDEX" => ConstraintKind::Index(self.inline_index(Some(&column.name))?),
            _ => return Ok(false),
        };
        column.constraints.push(TableConstraint { name, kind });
        Ok(true)
    }

    /// `CHECK (condition)`.
    pub fn check_constraint(&mut self) -> SqlResult<ConstraintKind> {
        self.advance();
        if self.kw("NOT") && self.kw_at(1, "FOR") {
            return Err(self.refused(Kind::Clause, "NOT FOR REPLICATION"));
        }
        self.expect(Tok::LParen)?;
        let condition = self.condition()?;
        self.expect(Tok::RParen)?;
        let text = format!("({})", render_condition(&condition));
        Ok(ConstraintKind::Check(condition, text))
    }
}
