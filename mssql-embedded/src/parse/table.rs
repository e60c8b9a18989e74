//! CREATE TABLE and ALTER TABLE.

use super::cursor::Parser;
use super::errors;
use super::token::Tok;
use crate::ast::{AlterTable, ColumnDef, Ddl, Ident, TableConstraint};
use crate::error::SqlResult;
use crate::refused::Kind;

impl Parser<'_> {
    pub fn create_table(&mut self) -> SqlResult<Ddl> {
        self.advance();
        let name = self.object_name()?;
        if self.kw("AS") {
            return Err(self.unsupported("CREATE TABLE AS"));
        }
        let (columns, constraints) = self.table_elements()?;
        self.filegroup()?;
        if self.kw("TEXTIMAGE_ON") || self.kw("FILESTREAM_ON") {
            self.advance();
            self.primary_filegroup()?;
        }
        if self.kw("WITH") && self.peek_at(1).kind == Tok::LParen {
            self.advance();
            self.paren_list(Self::table_option)?;
        }
        Ok(Ddl::CreateTable {
            name,
            columns,
            constraints,
        })
    }

    /// Compression changes storage only; every other table option changes what the table is.
    fn table_option(&mut self) -> SqlResult<()> {
        if !self.kw("DATA_COMPRESSION") {
            let what = format!("the table option {}", self.upper());
            return Err(self.unsupported_word(&what));
        }
        self.advance();
        self.expect(Tok::Eq)?;
        self.compression()
    }

    /// `ON [PRIMARY]`, the only filegroup there is.
    pub fn filegroup(&mut self) -> SqlResult<()> {
        if self.eat_kw("ON") {
            self.primary_filegroup()?;
        }
        Ok(())
    }

    fn primary_filegroup(&mut self) -> SqlResult<()> {
        let name = self.ident_or_string()?;
        if !name.name.eq_ignore_ascii_case("PRIMARY") && !name.name.eq_ignore_ascii_case("DEFAULT")
        {
            return Err(
                self.unsupported(&format!("the filegroup or partition scheme {}", name.name))
            );
        }
        Ok(())
    }

    /// The parenthesised columns and constraints of a table or table variable.
    pub fn table_elements(&mut self) -> SqlResult<(Vec<ColumnDef>, Vec<TableConstraint>)> {
        self.expect(Tok::LParen)?;
        let mut columns = Vec::new();
        let mut constraints = Vec::new();
        loop {
            if self.starts_table_constraint() {
                constraints.push(self.table_constraint()?);
            } else {
                columns.push(self.column_def()?);
            }
            if self.eat(Tok::Comma) {
                // SQL Server tolerates one comma before the closing parenthesis.
                if self.is(Tok::RParen) {
                    break;
                }
            } else if !self.starts_table_constraint() {
                // A table constraint may follow without a comma.
                break;
            }
        }
        self.expect(Tok::RParen)?;
        Ok((columns, constraints))
    }

    pub fn alter_table(&mut self) -> SqlResult<Ddl> {
        self.advance();
        let name = self.object_name()?;
        if self.kw("WITH") {
            self.advance();
            if self.kw("NOCHECK") {
                return Err(self.refused(Kind::Clause, "WITH NOCHECK"));
            }
            self.expect_kw("CHECK")?;
            if !self.kw("ADD") {
                return Err(self.unsupported("ALTER TABLE … WITH CHECK CHECK CONSTRAINT"));
            }
        }
        let action = if self.eat_kw("ADD") {
            self.alter_add()?
        } else if self.eat_kw("ALTER") {
            self.alter_column()?
        } else if self.eat_kw("DROP") {
            self.alter_drop()?
        } else if self.eat_kw("SET") {
            self.alter_set()?
        } else if matches!(self.peek().kind, Tok::Word | Tok::Reserved) {
            let what = format!("ALTER TABLE … {}", self.upper());
            return Err(self.unsupported(&what));
        } else {
            return Err(self.fail());
        };
        Ok(Ddl::AlterTable { name, action })
    }

    fn alter_add(&mut self) -> SqlResult<AlterTable> {
        if self.kw("COLUMN") {
            return Err(self.fail());
        }
        let mut columns = Vec::new();
        let mut constraints = Vec::new();
        loop {
            if self.starts_table_constraint() {
                constraints.push(self.table_constraint()?);
            } else {
                columns.push(self.column_def()?);
            }
            let inline = columns.iter().flat_map(|c| &c.constraints);
            if inline.chain(&constraints).any(TableConstraint::is_index) {
                return Err(self.unsupported("ALTER TABLE … ADD INDEX"));
            }
            if !self.eat(Tok::Comma) {
                break;
            }
            // `ADD a INT, ADD b INT` is other dialects' syntax; the reserved word fails by itself.
        }
        Ok(AlterTable::Add {
            columns,
            constraints,
        })
    }

    fn alter_column(&mut self) -> SqlResult<AlterTable> {
        self.expect_kw("COLUMN")?;
        let name = self.ident()?;
        if self.kw("ADD") || self.kw("DROP") {
            return Err(self.unsupported("ALTER COLUMN … ADD or DROP"));
        }
        let ty = self.type_name()?;
        let collate = if self.eat_kw("COLLATE") {
            Some(self.ident()?)
        } else {
            None
        };
        let nullable = self.nullability()?;
        Ok(AlterTable::AlterColumn {
            name,
            ty,
            collate,
            nullable,
        })
    }

    /// `NULL`, `NOT NULL` or nothing.
    pub fn nullability(&mut self) -> SqlResult<Option<bool>> {
        if self.eat_kw("NOT") {
            self.expect_kw("NULL")?;
            return Ok(Some(false));
        }
        Ok(self.eat_kw("NULL").then_some(true))
    }

    fn alter_drop(&mut self) -> SqlResult<AlterTable> {
        if self.kw("PERIOD") {
            return Err(self.refused(Kind::Clause, "DROP PERIOD"));
        }
        let column = self.eat_kw("COLUMN");
        if !column {
            self.eat_kw("CONSTRAINT");
        }
        let if_exists = self.if_exists()?;
        let names = self.comma_list(Self::ident)?;
        if self.kw("COLUMN") || self.kw("CONSTRAINT") {
            return Err(self.unsupported("ALTER TABLE … DROP of several kinds at once"));
        }
        if self.kw("WITH") && self.peek_at(1).kind == Tok::LParen {
            return Err(self.unsupported("ALTER TABLE … DROP … WITH"));
        }
        Ok(if column {
            AlterTable::DropColumn { if_exists, names }
        } else {
            AlterTable::DropConstraint { if_exists, names }
        })
    }

    pub fn if_exists(&mut self) -> SqlResult<bool> {
        if !self.eat_kw("IF") {
            return Ok(false);
        }
        self.expect_kw("EXISTS")?;
        Ok(true)
    }

    fn alter_set(&mut self) -> SqlResult<AlterTable> {
        self.expect(Tok::LParen)?;
        if !self.kw("LOCK_ESCALATION") {
            let what = format!("ALTER TABLE … SET ({})", self.upper());
            return Err(self.unsupported_word(&what));
        }
        self.advance();
        self.expect(Tok::Eq)?;
        let value: Ident = self.any_word()?;
        let enabled = match value.name.to_ascii_uppercase().as_str() {
            "TABLE" | "AUTO" => true,
            "DISABLE" => false,
            _ => {
                return Err(errors::unknown_option(
                    &value.name,
                    "LOCK_ESCALATION",
                    value.pos.line,
                ));
            }
        };
        self.expect(Tok::RParen)?;
        Ok(AlterTable::LockEscalation(enabled))
    }
}
