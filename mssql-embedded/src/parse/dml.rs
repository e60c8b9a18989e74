//! INSERT, UPDATE and DELETE.

use super::cursor::Parser;
use super::errors;
use super::hints::Verb;
use super::query::QueryPlace;
use super::token::Tok;
use crate::ast::{
    Cte, DeleteStmt, DmlTarget, Ident, InsertSource, InsertStmt, InsertValue, OutputClause,
    SelectItem, SetClause, StmtKind, TableStmt, Top, UpdateStmt,
};
use crate::error::SqlResult;
use crate::refused::Kind;

/// The most rows one VALUES clause of an INSERT may list.
const ROWS_MAX: usize = 1000;

impl Parser<'_> {
    pub fn insert(&mut self, with: Vec<Cte>) -> SqlResult<StmtKind> {
        self.advance();
        if self.kw("BULK") {
            return Err(self.refused(Kind::Statement, "INSERT BULK"));
        }
        let top = self.dml_top()?;
        self.eat_kw("INTO");
        let target = self.dml_target(Verb::Insert)?;
        let columns = self.insert_columns()?;
        let output = self.output_clause()?;
        let source = self.insert_source(&columns)?;
        let options = self.query_options()?;
        Ok(TableStmt::Insert(InsertStmt {
            with,
            top,
            target,
            columns,
            output,
            source,
            options,
        })
        .into())
    }

    fn dml_top(&mut self) -> SqlResult<Option<Top>> {
        if self.kw("TOP") {
            self.top(false).map(Some)
        } else {
            Ok(None)
        }
    }

    /// A table or alias with its hints, or a table variable, which takes none.
    fn dml_target(&mut self, verb: Verb) -> SqlResult<DmlTarget> {
        if self.is(Tok::Variable) {
            let name = self.variable()?;
            // Not the beginning of another statement, which DELETE would otherwise end before.
            if self.kw("WITH") {
                return Err(self.fail());
            }
            return Ok(DmlTarget::Variable(name));
        }
        if let Some(refused) = self.refused_call(Kind::RowSet) {
            return Err(refused);
        }
        let name = self.object_name()?;
        // "The WITH keyword and the parentheses are required", say "INSERT", "UPDATE" and "DELETE".
        let hints = if self.kw("WITH") {
            self.target_hints(verb)?
        } else {
            Vec::new()
        };
        Ok(DmlTarget::Named(name, hints))
    }

    /// The column list, unless the parenthesis holds the source query.
    fn insert_columns(&mut self) -> SqlResult<Vec<Ident>> {
        let list =
            self.is(Tok::LParen) && !self.kw_at(1, "SELECT") && self.peek_at(1).kind != Tok::LParen;
        if list {
            self.paren_list(Self::insert_column)
        } else {
            Ok(Vec::new())
        }
    }

    /// SQL Server allows a qualified name here and looks only at its last part.
    fn insert_column(&mut self) -> SqlResult<Ident> {
        let name = self.object_name()?;
        name.parts
            .into_iter()
            .next_back()
            .ok_or_else(|| self.fail())
    }

    fn insert_source(&mut self, columns: &[Ident]) -> SqlResult<InsertSource> {
        if self.kw("DEFAULT") && self.kw_at(1, "VALUES") {
            self.advance();
            self.advance();
            return Ok(InsertSource::DefaultValues);
        }
        if self.kw("VALUES") {
            return self.insert_values(columns);
        }
        if self.kw("EXEC") || self.kw("EXECUTE") {
            self.advance();
            let exec = self.exec_body()?;
            return Ok(InsertSource::Exec(Box::new(exec)));
        }
        let query = self.query_expr(QueryPlace::Statement)?;
        Ok(InsertSource::Query(Box::new(query)))
    }

    fn insert_values(&mut self, columns: &[Ident]) -> SqlResult<InsertSource> {
        let line = self.line();
        self.advance();
        let rows = self.comma_list(|p| p.paren_list(Self::insert_value))?;
        if rows.len() > ROWS_MAX {
            return Err(errors::too_many_rows(line));
        }
        let width = rows[0].len();
        if rows.iter().any(|row| row.len() != width) {
            return Err(errors::ragged_rows(line));
        }
        if !columns.is_empty() && width < columns.len() {
            return Err(errors::more_columns_than_values(line));
        }
        if !columns.is_empty() && width > columns.len() {
            return Err(errors::fewer_columns_than_values(line));
        }
        Ok(InsertSource::Values(rows))
    }

    fn insert_value(&mut self) -> SqlResult<InsertValue> {
        if self.eat_kw("DEFAULT") {
            return Ok(InsertValue::Default);
        }
        self.expr().map(InsertValue::Expr)
    }

    /// `OUTPUT items [INTO target [(columns)]]`.
    fn output_clause(&mut self) -> SqlResult<Option<OutputClause>> {
        if !self.eat_kw("OUTPUT") {
            return Ok(None);
        }
        let items = self.comma_list(Self::select_item)?;
        if items.iter().any(|i| matches!(i, SelectItem::Assign { .. })) {
            return Err(self.fail());
        }
        let mut into = None;
        if self.eat_kw("INTO") {
            let target = if self.is(Tok::Variable) {
                DmlTarget::Variable(self.variable()?)
            } else {
                DmlTarget::Named(self.object_name()?, Vec::new())
            };
            let columns = self.insert_columns()?;
            into = Some((target, columns));
        }
        if self.kw("OUTPUT") {
            return Err(self.refused(Kind::Clause, "a second OUTPUT clause"));
        }
        Ok(Some(OutputClause { items, into }))
    }

    pub fn update(&mut self, with: Vec<Cte>) -> SqlResult<StmtKind> {
        self.advance();
        let top = self.dml_top()?;
        let target = self.dml_target(Verb::Change)?;
        self.expect_kw("SET")?;
        let set = self.comma_list(Self::set_clause)?;
        let output = self.output_clause()?;
        let from = if self.eat_kw("FROM") {
            self.table_sources()?
        } else {
            Vec::new()
        };
        let filter = self.where_clause()?;
        let options = self.query_options()?;
        Ok(TableStmt::Update(UpdateStmt {
            with,
            top,
            target,
            set,
            output,
            from,
            filter,
            options,
        })
        .into())
    }

    fn set_clause(&mut self) -> SqlResult<SetClause> {
        if self.is(Tok::Variable) {
            return self.set_clause_variable();
        }
        let column = self.object_name()?;
        if self.is(Tok::LParen) {
            return Err(self.refused(Kind::Clause, "a method call in UPDATE"));
        }
        let op = self.assign_op()?;
        let value = if op.is_none() && self.eat_kw("DEFAULT") {
            None
        } else {
            Some(self.expr()?)
        };
        Ok(SetClause::Column { column, op, value })
    }

    /// `@v = expr` or `@v = column = expr`.
    fn set_clause_variable(&mut self) -> SqlResult<SetClause> {
        let variable = self.variable()?;
        let first_op = self.assign_op()?;
        let column_follows = first_op.is_none()
            && self.is_ident()
            && matches!(self.peek_at(1).kind, Tok::Eq | Tok::CompoundAssign);
        if column_follows {
            let column = self.object_name()?;
            let op = self.assign_op()?;
            let value = self.expr()?;
            return Ok(SetClause::Both {
                variable,
                column,
                op,
                value,
            });
        }
        let value = self.expr()?;
        Ok(SetClause::Variable {
            variable,
            op: first_op,
            value,
        })
    }

    pub fn delete(&mut self, with: Vec<Cte>) -> SqlResult<StmtKind> {
        self.advance();
        let top = self.dml_top()?;
        self.eat_kw("FROM");
        let target = self.dml_target(Verb::Change)?;
        let output = self.output_clause()?;
        let from = if self.eat_kw("FROM") {
            self.table_sources()?
        } else {
            Vec::new()
        };
        let filter = self.where_clause()?;
        let options = self.query_options()?;
        Ok(TableStmt::Delete(DeleteStmt {
            with,
            top,
            target,
            output,
            from,
            filter,
            options,
        })
        .into())
    }
}
