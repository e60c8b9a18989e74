//! Table constraints: keys, checks, references, defaults.

use super::cursor::Parser;
use super::render::render_expr;
use super::token::Tok;
use crate::ast::{ConstraintKind, Ident, IndexColumn, TableConstraint};
use crate::error::SqlResult;
use crate::refused::Kind;

impl Parser<'_> {
    pub fn starts_table_constraint(&self) -> bool {
        self.kw_any(&[
            "CONSTRAINT",
            "PRIMARY",
            "UNIQUE",
            "CHECK",
            "FOREIGN",
            "INDEX",
            "DEFAULT",
        ])
    }

    pub fn table_constraint(&mut self) -> SqlResult<TableConstraint> {
        if self.scope.table_variable && self.kw_any(&["CONSTRAINT", "FOREIGN"]) {
            return Err(self.fail());
        }
        let name = if self.eat_kw("CONSTRAINT") {
            Some(self.ident()?)
        } else {
            None
        };
        let kind = match self.upper().as_str() {
            "PRIMARY" | "UNIQUE" => self.key_constraint(Vec::new())?,
            "CHECK" => self.check_constraint()?,
            "FOREIGN" => {
                self.advance();
                self.expect_kw("KEY")?;
                let columns = self.paren_list(Self::ident)?;
                self.references(columns)?
            }
            "DEFAULT" => self.default_for()?,
            "INDEX" if name.is_none() => ConstraintKind::Index(self.inline_index(None)?),
            _ => return Err(self.fail()),
        };
        Ok(TableConstraint { name, kind })
    }

    /// `PRIMARY KEY` or `UNIQUE` with its columns, or over `own` when it stands in a column.
    pub fn key_constraint(&mut self, own: Vec<IndexColumn>) -> SqlResult<ConstraintKind> {
        let primary = self.kw("PRIMARY");
        self.advance();
        if primary {
            self.expect_kw("KEY")?;
        }
        let clustered = if self.eat_kw("CLUSTERED") {
            Some(true)
        } else {
            self.eat_kw("NONCLUSTERED").then_some(false)
        };
        if let Some(refused) = self.refused_here(Kind::Index) {
            return Err(refused);
        }
        let columns = if self.is(Tok::LParen) {
            self.paren_list(Self::index_column)?
        } else if own.is_empty() {
            return Err(self.fail());
        } else {
            own
        };
        let options = self.index_options("CREATE TABLE")?;
        self.filegroup()?;
        Ok(if primary {
            ConstraintKind::PrimaryKey {
                clustered,
                columns,
                options,
            }
        } else {
            ConstraintKind::Unique {
                clustered,
                columns,
                options,
            }
        })
    }

    fn default_for(&mut self) -> SqlResult<ConstraintKind> {
        self.advance();
        let expr = self.expr()?;
        self.no_subquery(&expr)?;
        let text = format!("({})", render_expr(&expr));
        self.expect_kw("FOR")?;
        let column = self.ident()?;
        if self.kw("WITH") && self.kw_at(1, "VALUES") {
            return Err(self.unsupported("DEFAULT … FOR … WITH VALUES"));
        }
        Ok(ConstraintKind::Default { expr, text, column })
    }

    /// `REFERENCES t (columns) [ON DELETE …] [ON UPDATE …]`.
    pub fn references(&mut self, columns: Vec<Ident>) -> SqlResult<ConstraintKind> {
        self.expect_kw("REFERENCES")?;
        let table = self.object_name()?;
        let referenced = if self.is(Tok::LParen) {
            self.paren_list(Self::ident)?
        } else {
            Vec::new()
        };
        let mut cascade_delete = false;
        while self.kw("ON") && (self.kw_at(1, "DELETE") || self.kw_at(1, "UPDATE")) {
            self.advance();
            let delete = self.kw("DELETE");
            self.advance();
            if self.eat_kw("NO") {
                self.expect_kw("ACTION")?;
            } else if delete && self.eat_kw("CASCADE") {
                cascade_delete = true;
            } else {
                let event = if delete { "ON DELETE" } else { "ON UPDATE" };
                let what = format!("{event} {}", self.upper());
                return Err(self.unsupported(&what));
            }
        }
        if self.kw("NOT") && self.kw_at(1, "FOR") {
            return Err(self.refused(Kind::Clause, "NOT FOR REPLICATION"));
        }
        Ok(ConstraintKind::ForeignKey {
            columns,
            table,
            referenced,
            cascade_delete,
        })
    }
}
