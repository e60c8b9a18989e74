//! UPDATE and DELETE.

use crate::ast::{Condition, DeleteStmt, SetClause, Top, UpdateStmt};
use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::plan::{Assign, Delete, Output, Query, Scalar, Target, Update};
use crate::value::DataType;
use crate::value::precedence::check_implicit;

use super::context::Binder;
use super::expr::arithmetic;
use super::output::OutputSlots;
use super::planner::{Rel, Request, plan, prune};
use super::scope::{Clause, column_ex};
use super::typing::Ex;
use super::{bind_row_rules, errors};

/// The columns and variables that UPDATE sets.
#[derive(Default)]
struct Sets {
    set: Vec<(usize, Scalar, DataType)>,
    assign: Vec<Assign>,
}

impl<'a> Binder<'a> {
    /// Binds an UPDATE.
    pub(super) fn bind_update(&mut self, update: &'a UpdateStmt) -> SqlResult<Update> {
        self.apply_hints(&update.options);
        self.push_ctes(&update.with)?;
        let (bound, slots) = self.bind_target(&update.target, &update.from)?;
        let table = bound.table;
        self.check_settings(table, "UPDATE")?;
        if let Target::Table(t) = &bound.target {
            self.require(t.id, "UPDATE");
            if update.filter.is_some() || !update.from.is_empty() {
                self.require(t.id, "SELECT");
            }
        }
        let inserted = self.scope().allocate(table.columns.len());
        let sets = self.in_clause(Clause::Set, |b| {
            b.bind_sets(&update.set, table, slots.source, inserted)
        })?;
        let output = match &update.output {
            Some(clause) => {
                let output_slots = OutputSlots {
                    inserted: Some(inserted),
                    deleted: Some(slots.base),
                    target: Some(slots.source),
                };
                Some(self.bind_output(clause, table, output_slots)?)
            }
            None => None,
        };
        let mut also = Vec::new();
        sets.set.iter().for_each(|(_, x, _)| {
            x.each_slot(&mut |l, s| {
                if l == 0 {
                    also.push(s)
                }
            })
        });
        sets.assign.iter().for_each(|a| {
            a.value.each_slot(&mut |l, s| {
                if l == 0 {
                    also.push(s)
                }
            })
        });
        let query = self.target_query(
            slots.rel,
            update.filter.as_ref(),
            update.top.as_ref(),
            also,
            &output,
        )?;
        let rules = bind_row_rules(self.ctx, table)?;
        Ok(Update {
            target: bound.target,
            query,
            base: slots.base,
            locator: slots.locator,
            set: sets.set,
            inserted,
            assign: sets.assign,
            rules,
            output,
        })
    }

    /// Binds a DELETE.
    pub(super) fn bind_delete(&mut self, delete: &'a DeleteStmt) -> SqlResult<Delete> {
        self.apply_hints(&delete.options);
        self.push_ctes(&delete.with)?;
        let (bound, slots) = self.bind_target(&delete.target, &delete.from)?;
        let table = bound.table;
        self.check_settings(table, "DELETE")?;
        if let Target::Table(t) = &bound.target {
            self.require(t.id, "DELETE");
            if delete.filter.is_some() || !delete.from.is_empty() {
                self.require(t.id, "SELECT");
            }
        }
        let output = match &delete.output {
            Some(clause) => {
                let output_slots = OutputSlots {
                    inserted: None,
                    deleted: Some(slots.base),
                    target: Some(slots.source),
                };
                Some(self.bind_output(clause, table, output_slots)?)
            }
            None => None,
        };
        let query = self.target_query(
            slots.rel,
            delete.filter.as_ref(),
            delete.top.as_ref(),
            Vec::new(),
            &output,
        )?;
        let rules = bind_row_rules(self.ctx, table)?;
        Ok(Delete {
            target: bound.target,
            query,
            base: slots.base,
            locator: slots.locator,
            rules,
            output,
        })
    }

    /// The query that finds the rows to change.
    fn target_query(
        &mut self,
        rel: Rel,
        filter: Option<&'a Condition>,
        top: Option<&'a Top>,
        mut also: Vec<usize>,
        output: &Option<Output>,
    ) -> SqlResult<Query> {
        let filter = match filter {
            Some(cond) => self.in_clause(Clause::Where, |b| b.bind_conjuncts(cond))?,
            None => Vec::new(),
        };
        let request = Request {
            level: 0,
            leaves: std::mem::take(&mut self.scope().leaves),
            rel: Some(rel),
            filter,
            order: Vec::new(),
            limited: top.is_some(),
            force_order: self.force_order,
        };
        let planned = plan(request)?;
        let visible = std::mem::take(&mut self.scope().visible);
        let root = self.dml_top(planned.node, top)?;
        self.scope().visible = visible;
        for expr in output.iter().flat_map(|o| &o.exprs) {
            expr.each_slot(&mut |l, s| {
                if l == 0 {
                    also.push(s)
                }
            });
        }
        let mut query = self.finish_query(0, root, Vec::new(), Vec::new());
        prune(&mut query, &also);
        Ok(query)
    }

    fn bind_sets(
        &mut self,
        clauses: &'a [SetClause],
        table: &'a TableDef,
        source: usize,
        inserted: usize,
    ) -> SqlResult<Sets> {
        let mut sets = Sets::default();
        for clause in clauses {
            match clause {
                SetClause::Variable {
                    variable,
                    op,
                    value,
                } => {
                    let value = self.bind_expr(value)?;
                    let assign = self.assignment(variable, *op, value)?;
                    sets.assign.push(assign);
                }
                SetClause::Column { column, op, value } => {
                    let position = self.set_column(column, table, source, &sets)?;
                    let value = match value {
                        Some(value) => self.bind_expr(value)?,
                        None => self.explicit_default(table, position)?,
                    };
                    let value = self.compound(source, position, *op, value)?;
                    sets.set.push(stored(table, position, value)?);
                }
                SetClause::Both {
                    variable,
                    column,
                    op,
                    value,
                } => {
                    let position = self.set_column(column, table, source, &sets)?;
                    let value = self.bind_expr(value)?;
                    let value = self.compound(source, position, *op, value)?;
                    sets.set.push(stored(table, position, value)?);
                    let ty = table.columns[position].ty.clone();
                    let new = Scalar::Slot {
                        level: 0,
                        slot: inserted + position,
                    };
                    let assign = self.assignment(variable, None, Ex::new(new, ty, true))?;
                    sets.assign.push(assign);
                }
            }
        }
        Ok(sets)
    }

    fn compound(
        &mut self,
        source: usize,
        position: usize,
        op: Option<crate::ast::BinaryOp>,
        value: Ex,
    ) -> SqlResult<Ex> {
        match op {
            Some(op) => {
                let old = column_ex(0, &self.scope().sources[source].columns[position]);
                arithmetic(op, old, value)
            }
            None => Ok(value),
        }
    }

    /// The position of a column that SET names.
    fn set_column(
        &mut self,
        name: &crate::ast::ObjectName,
        table: &TableDef,
        source: usize,
        sets: &Sets,
    ) -> SqlResult<usize> {
        let [qualifier @ .., last] = name.parts.as_slice() else {
            return Err(errors::unbound(name));
        };
        if !qualifier.is_empty() {
            let target = &self.scopes[0].sources[source];
            let named = self.qualifies(target, qualifier)
                || matches!(qualifier, [t] if self.same_name(&t.name, &table.name));
            if !named {
                return Err(errors::unbound(name));
            }
        }
        let position = self.target_column(table, last)?;
        let column = &table.columns[position];
        if column.identity.is_some() {
            return Err(SqlError::new(
                8102,
                format!("Cannot update identity column '{}'.", column.name),
            ));
        }
        if column.computed.is_some() {
            return Err(errors::not_writable(&column.name));
        }
        if sets.set.iter().any(|(p, _, _)| *p == position) {
            return Err(errors::duplicate_assignment(&column.name));
        }
        Ok(position)
    }
}

/// A new value of a column, which must convert to its type by itself.
fn stored(table: &TableDef, position: usize, value: Ex) -> SqlResult<(usize, Scalar, DataType)> {
    check_implicit(&value.ty, &table.columns[position].ty)?;
    Ok((position, value.expr, value.ty))
}
