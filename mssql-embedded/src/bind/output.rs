//! OUTPUT and OUTPUT … INTO.

use crate::ast::{OutputClause, Permission, SelectItem};
use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::exec::unequal_counts;
use crate::plan::{ColumnSource, Output, OutputInto};
use crate::value::ColumnMeta;
use crate::value::precedence::check_implicit;

use super::bind_row_rules;
use super::context::Binder;
use super::items::{check_elements, meta};
use super::scope::{Clause, Source, SourceColumn, column_ex, table_columns};

/// Where the rows that OUTPUT shows are in the buffer.
#[derive(Clone, Copy, Default)]
pub(super) struct OutputSlots<'s> {
    pub(super) inserted: Option<usize>,
    pub(super) deleted: Option<usize>,
    /// The target's position among the sources, which OUTPUT cannot name directly.
    pub(super) target: Option<usize>,
    /// For a target that is a query: the table's column behind each of its columns.
    pub(super) through: Option<&'s [Option<usize>]>,
}

impl<'a> Binder<'a> {
    /// Binds OUTPUT over the innermost level, which is level 0.
    pub(super) fn bind_output(
        &mut self,
        clause: &'a OutputClause,
        table: &TableDef,
        slots: OutputSlots<'_>,
    ) -> SqlResult<Output> {
        let before = self.scope().sources.len();
        if let Some(target) = slots.target {
            self.scope().sources[target].hidden = true;
        }
        for (name, base) in [("inserted", slots.inserted), ("deleted", slots.deleted)] {
            if let Some(base) = base {
                let columns = self.shown_columns(table, base, slots);
                self.scope().sources.push(Source {
                    exposed: name.to_owned(),
                    qualifier: None,
                    aliased: true,
                    columns,
                    hidden: false,
                    bare: false,
                    qualified_only: true,
                    leaf: None,
                });
            }
        }
        let end = self.scope().sources.len();
        self.scope().visible = 0..end;
        let items = self.in_clause(Clause::Output, |b| b.bind_output_items(&clause.items));
        let scope = self.scope();
        scope.sources.truncate(before);
        scope.visible = 0..before;
        if let Some(target) = slots.target {
            scope.sources[target].hidden = false;
        }
        let (exprs, columns): (Vec<_>, Vec<_>) = items?.into_iter().unzip();
        // "OUTPUT clause", permissions: SELECT on what it shows of the table.
        for base in [slots.inserted, slots.deleted].into_iter().flatten() {
            self.require_select(table, exprs.iter(), base);
        }
        let into = self.bind_output_into(clause, &columns)?;
        Ok(Output {
            inserted: slots.inserted,
            deleted: slots.deleted,
            exprs,
            columns,
            into,
            width: self.scope().width,
        })
    }

    /// The columns of `inserted` or `deleted`: those of the table whose row is at `base`, or those of the
    /// query through which it is changed. What the query computed stays as it was.
    fn shown_columns(
        &self,
        table: &TableDef,
        base: usize,
        slots: OutputSlots<'_>,
    ) -> Vec<SourceColumn> {
        let columns = table_columns(table, base);
        let (Some(behind), Some(target)) = (slots.through, slots.target) else {
            return columns;
        };
        let offered = &self.scopes[0].sources[target].columns;
        let shown = |(own, behind): (&SourceColumn, &Option<usize>)| SourceColumn {
            slot: behind.map_or(own.slot, |i| columns[i].slot),
            ..own.clone()
        };
        offered.iter().zip(behind).map(shown).collect()
    }

    fn bind_output_items(
        &mut self,
        items: &'a [SelectItem],
    ) -> SqlResult<Vec<(crate::plan::Scalar, ColumnMeta)>> {
        let level = self.scopes.len() - 1;
        let mut list = Vec::new();
        for item in items {
            check_elements(list.len())?;
            match item {
                SelectItem::Star(prefix) => {
                    let parts = prefix.as_ref().map_or(&[][..], |p| p.parts.as_slice());
                    let mut found = false;
                    for source in &self.scopes[level].sources {
                        if source.hidden || !self.qualifies(source, parts) {
                            continue;
                        }
                        found = true;
                        for column in &source.columns {
                            let ex = column_ex(level, column);
                            list.push((ex.expr, meta(&column.name, &ex.ty, ex.nullable)));
                        }
                    }
                    if let (Some(name), false) = (prefix, found) {
                        return Err(super::errors::unbound(name));
                    }
                }
                SelectItem::Expr { expr, alias } => {
                    let ex = self.bind_expr(expr)?;
                    let own = expr.kind.as_column().and_then(|c| c.parts.last());
                    let name = alias.as_ref().or(own).map_or("", |n| n.name.as_str());
                    list.push((ex.expr, meta(name, &ex.ty, ex.nullable)));
                }
                SelectItem::Assign { .. } => {
                    return Err(SqlError::near("="));
                }
            }
        }
        check_elements(list.len())?;
        Ok(list)
    }

    fn bind_output_into(
        &mut self,
        clause: &'a OutputClause,
        columns: &[ColumnMeta],
    ) -> SqlResult<Option<OutputInto>> {
        let Some((target, names)) = &clause.into else {
            return Ok(None);
        };
        let bound = self.resolve_target(target)?;
        if let crate::plan::Target::Table(table) = &bound.target {
            if !table.foreign_keys.is_empty() || !table.referenced_by.is_empty() {
                return Err(relation_of_output(table));
            }
            self.require(table.id, Permission::Insert);
        }
        let positions = self.insert_columns(bound.table, names)?;
        if positions.len() != columns.len() {
            return Err(count_mismatch(
                names.is_empty(),
                positions.len(),
                columns.len(),
            ));
        }
        let mut sources = self.default_sources(bound.table)?;
        for (i, position) in positions.into_iter().enumerate() {
            check_implicit(&columns[i].ty, &bound.table.columns[position].ty)?;
            sources[position] = ColumnSource::Output(i, columns[i].ty.clone());
        }
        let rules = bind_row_rules(&self.ctx, bound.table)?;
        Ok(Some(OutputInto {
            target: bound.target,
            columns: sources,
            rules,
        }))
    }
}

/// As many values as columns are needed: 213 without a column list, 120 and 121 with one.
pub(super) fn count_mismatch(implicit: bool, columns: usize, values: usize) -> SqlError {
    if implicit {
        return unequal_counts(1);
    }
    let (number, how) = if values < columns {
        (120, "fewer")
    } else {
        (121, "more")
    };
    SqlError::with(
        number,
        15,
        1,
        format!(
            "The select list for the INSERT statement contains {how} items than the insert list. The \
             number of SELECT values must match the number of INSERT columns."
        ),
    )
}

/// 332: what OUTPUT … INTO writes to must stand apart from foreign keys.
fn relation_of_output(table: &TableDef) -> SqlError {
    let key = table.foreign_keys.first().map_or("", |k| k.name.as_str());
    SqlError::new(
        332,
        format!(
            "The target table '{}.{}' of the OUTPUT INTO clause cannot be on either side of a \
             (primary key, foreign key) relationship. Found reference constraint '{key}'.",
            table.schema, table.name
        ),
    )
}
