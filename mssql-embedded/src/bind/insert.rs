//! INSERT.

use crate::ast::{Ident, InsertSource, InsertStmt, InsertValue, Permission, Top};
use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::parse::errors::assignment_with_data;
use crate::plan::{ColumnSource, Insert, Node, Query, Scalar, Source, Target};
use crate::value::precedence::check_implicit;
use crate::value::{ColumnMeta, DataType, Value};

use super::Touched;
use super::context::Binder;
use super::hints::table_hints;
use super::items::meta;
use super::output::{OutputSlots, count_mismatch};
use super::state::QueryUse;
use super::typing::Ex;
use super::{bind_default, bind_row_rules, errors};

impl<'a> Binder<'a> {
    pub(super) fn bind_insert(&mut self, insert: &'a InsertStmt) -> SqlResult<Insert> {
        self.apply_hints(&insert.options);
        let bound = self.resolve_target(&insert.target)?;
        self.push_ctes(&insert.with)?;
        let table = bound.table;
        if let Target::Table(table) = &bound.target {
            self.require(table.id, Permission::Insert);
        }
        self.check_settings(table, "INSERT")?;
        let hints = table_hints(bound.hints, table, self.ctx.home_of(table).database, true)?.lock;
        let mut positions = self.insert_columns(table, &insert.columns)?;
        let mut columns = self.default_sources(table)?;
        let source = match &insert.source {
            InsertSource::DefaultValues => {
                positions.clear();
                let level = self.push_scope(false);
                let root = self.dml_top(Node::Once, insert.top.as_ref())?;
                let query = self.finish_query(level, root, Vec::new(), Vec::new());
                self.scopes.clear();
                Source::Query(query)
            }
            InsertSource::Exec(_) => {
                for (i, position) in positions.iter().enumerate() {
                    let ty = table.columns[*position].ty.clone();
                    columns[*position] = ColumnSource::Output(i, ty);
                }
                Source::Exec
            }
            InsertSource::Values(rows) => {
                let query = self.bind_rows(rows, table, &positions, insert)?;
                Source::Query(query)
            }
            InsertSource::Query(query) => {
                let query = self.bind_insert_query(query, insert.top.as_ref())?;
                if query.columns.len() != positions.len() {
                    return Err(self.query_count(
                        table,
                        insert,
                        positions.len(),
                        query.columns.len(),
                    ));
                }
                Source::Query(query)
            }
        };
        if let Source::Query(query) = &source {
            for (i, position) in positions.iter().enumerate() {
                let ty = output_type(query, i);
                check_implicit(&ty, &table.columns[*position].ty)?;
                columns[*position] = ColumnSource::Output(i, ty);
            }
        }
        let explicit_identity = positions
            .iter()
            .any(|p| table.columns[*p].identity.is_some());
        let output = match &insert.output {
            Some(clause) => {
                self.push_scope(false);
                let inserted = self.scope().allocate(table.columns.len());
                let slots = OutputSlots {
                    inserted: Some(inserted),
                    ..OutputSlots::default()
                };
                let output = self.bind_output(clause, table, slots)?;
                self.scopes.clear();
                Some(output)
            }
            None => None,
        };
        let rules = bind_row_rules(&self.ctx, table)?;
        Ok(Insert {
            target: bound.target,
            hints,
            columns,
            explicit_identity,
            source,
            rules,
            foreign: self.foreign_rules(table, Touched::Inserted)?,
            output,
        })
    }

    /// The positions of the columns that get values: those listed, or all that can be written.
    pub(super) fn insert_columns(
        &self,
        table: &TableDef,
        names: &[Ident],
    ) -> SqlResult<Vec<usize>> {
        if names.is_empty() {
            let writable = |(i, c): (usize, &crate::catalog::Column)| {
                (c.identity.is_none() && c.computed.is_none()).then_some(i)
            };
            return Ok(table
                .columns
                .iter()
                .enumerate()
                .filter_map(writable)
                .collect());
        }
        let mut positions = Vec::new();
        let mut given = vec![false; table.columns.len()];
        for name in names {
            self.ctx.go_on()?;
            let position = self.target_column(table, name)?;
            if std::mem::replace(&mut given[position], true) {
                return Err(errors::duplicate_assignment(&name.name));
            }
            if table.columns[position].computed.is_some() {
                return Err(errors::not_writable(&name.name));
            }
            positions.push(position);
        }
        Ok(positions)
    }

    /// What each column gets when the statement gives it nothing.
    pub(super) fn default_sources(&self, table: &'a TableDef) -> SqlResult<Vec<ColumnSource>> {
        let mut sources = Vec::with_capacity(table.columns.len());
        for column in &table.columns {
            sources.push(if column.identity.is_some() {
                ColumnSource::Identity
            } else if column.computed.is_some() {
                ColumnSource::Computed
            } else if let Some((expr, ty)) = bind_default(&self.ctx.home_of(table), column)? {
                ColumnSource::Default(expr, ty)
            } else {
                ColumnSource::Null
            });
        }
        Ok(sources)
    }

    fn bind_rows(
        &mut self,
        rows: &'a [Vec<InsertValue>],
        table: &'a TableDef,
        positions: &[usize],
        insert: &'a InsertStmt,
    ) -> SqlResult<Query> {
        let width = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|r| r.len() != width) {
            return Err(SqlError::internal("rows of different length"));
        }
        if width != positions.len() {
            return Err(self.values_count(table, insert, positions.len(), width));
        }
        let level = self.push_scope(false);
        let mut bound = Vec::with_capacity(rows.len());
        for row in rows {
            let mut values = Vec::with_capacity(width);
            for (value, position) in row.iter().zip(positions) {
                values.push(match value {
                    InsertValue::Expr(expr) => self.bind_expr(expr)?,
                    InsertValue::Default => self.explicit_default(table, *position)?,
                });
            }
            bound.push(values);
        }
        let (root, output, columns) = if bound.len() == 1 {
            let values = bound.pop().unwrap_or_default();
            let columns: Vec<ColumnMeta> =
                values.iter().map(|v| meta("", &v.ty, v.nullable)).collect();
            (
                Node::Once,
                values.into_iter().map(|v| v.expr).collect(),
                columns,
            )
        } else {
            let (root, columns) = self.values_node(bound)?;
            let output = super::query::slots(level, &root, columns.len());
            (root, output, columns)
        };
        let root = self.dml_top(root, insert.top.as_ref())?;
        let query = self.finish_query(level, root, output, columns);
        self.scopes.clear();
        Ok(query)
    }

    /// DEFAULT written in VALUES or SET.
    pub(super) fn explicit_default(&self, table: &'a TableDef, position: usize) -> SqlResult<Ex> {
        let column = &table.columns[position];
        if column.identity.is_some() {
            return Err(SqlError::new(
                339,
                "DEFAULT or NULL are not allowed as explicit identity values.",
            ));
        }
        Ok(match bind_default(&self.ctx.home_of(table), column)? {
            Some((expr, ty)) => Ex::new(expr, ty, true),
            None => Ex::new(Scalar::Const(Value::Null), DataType::Null, true),
        })
    }

    fn bind_insert_query(
        &mut self,
        query: &'a crate::ast::QueryExpr,
        top: Option<&'a Top>,
    ) -> SqlResult<Query> {
        if top.is_none() {
            let built = self.bind_built(query, QueryUse::Statement)?;
            if !built.assign.is_empty() {
                return Err(assignment_with_data(0));
            }
            return Ok(built.query);
        }
        let level = self.push_scope(false);
        let inner = self.bind_nested(query, QueryUse::Part)?;
        let columns = inner.columns.clone();
        let base = self.scope().allocate(columns.len());
        let root = self.dml_top(
            Node::Derived {
                query: Box::new(inner),
                base,
            },
            top,
        )?;
        let output = (base..base + columns.len())
            .map(|slot| Scalar::Slot { level, slot })
            .collect();
        let query = self.finish_query(level, root, output, columns);
        self.scopes.clear();
        Ok(query)
    }

    fn query_count(
        &self,
        table: &TableDef,
        insert: &InsertStmt,
        columns: usize,
        values: usize,
    ) -> SqlError {
        identity_given(table, insert, values)
            .unwrap_or_else(|| count_mismatch(insert.columns.is_empty(), columns, values))
    }

    fn values_count(
        &self,
        table: &TableDef,
        insert: &InsertStmt,
        columns: usize,
        values: usize,
    ) -> SqlError {
        if insert.columns.is_empty() {
            return self.query_count(table, insert, columns, values);
        }
        let (number, how) = if values < columns {
            (109, "more")
        } else {
            (110, "fewer")
        };
        SqlError::with(
            number,
            15,
            1,
            format!(
                "There are {how} columns in the INSERT statement than values specified in the VALUES \
                 clause. The number of values in the VALUES clause must match the number of columns \
                 specified in the INSERT statement."
            ),
        )
    }
}

/// 8101: values for all columns, the identity column included, without a column list.
fn identity_given(table: &TableDef, insert: &InsertStmt, values: usize) -> Option<SqlError> {
    let writable = table
        .columns
        .iter()
        .filter(|c| c.computed.is_none())
        .count();
    let identity = table.columns.iter().any(|c| c.identity.is_some());
    (insert.columns.is_empty() && identity && values == writable).then(|| {
        SqlError::new(
            8101,
            format!(
                "An explicit value for the identity column in table '{}' can only be specified when a \
                 column list is used and IDENTITY_INSERT is ON.",
                table.name
            ),
        )
    })
}

/// The type of an output; an untyped NULL converts to everything.
fn output_type(query: &Query, i: usize) -> DataType {
    if let Scalar::Const(Value::Null) = &query.output[i] {
        DataType::Null
    } else {
        query.columns[i].ty.clone()
    }
}
