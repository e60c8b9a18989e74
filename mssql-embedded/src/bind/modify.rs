//! UPDATE and DELETE.

use crate::ast::{Condition, DeleteStmt, DmlTarget, Ident, Permission, SetClause, Top, UpdateStmt};
use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::plan::{Assign, Delete, ForeignRules, Output, Query, Scalar, Target, Update};
use crate::value::DataType;
use crate::value::precedence::check_implicit;

use super::context::Binder;
use super::expr::arithmetic;
use super::output::OutputSlots;
use super::planner::{JoinHints, Rel, Request, plan, prune};
use super::scope::{Clause, column_ex, table_columns};
use super::state::Modifiable;
use super::through::derived_field;
use super::typing::Ex;
use super::{Touched, bind_foreign, bind_row_rules, errors};

/// The columns and variables that UPDATE sets.
#[derive(Default)]
struct Sets {
    set: Vec<(usize, Scalar, DataType)>,
    assign: Vec<Assign>,
}

impl<'a> Binder<'a> {
    pub(super) fn bind_update(&mut self, update: &'a UpdateStmt) -> SqlResult<Update> {
        self.apply_hints(&update.options);
        self.push_ctes(&update.with)?;
        let target = self.bind_target(&update.target, &update.from)?;
        let table = target.table;
        self.check_settings(table, "UPDATE")?;
        if let Target::Table(t) = &target.target {
            self.require(t.id, Permission::Update);
            if update.filter.is_some() || !update.from.is_empty() {
                self.require(t.id, Permission::Select);
            }
        }
        let inserted = self.scope().allocate(table.columns.len());
        let sets = self.in_clause(Clause::Set, |b| b.bind_sets(update, &target, inserted))?;
        self.require_read(&sets, target.base, table);
        let output = match &update.output {
            Some(clause) => {
                let output_slots = OutputSlots {
                    inserted: Some(inserted),
                    deleted: Some(target.base),
                    target: Some(target.source),
                    through: target.through.as_deref(),
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
        let mut query = self.target_query(
            target.rel,
            update.filter.as_ref(),
            update.top.as_ref(),
            also,
            &output,
        )?;
        // Learn, "Optimized locking", LAQ limitations: not with OUTPUT, not with variables in SET.
        if output.is_none() && sets.assign.is_empty() {
            query.root.let_target_qualify_first();
        }
        let rules = bind_row_rules(&self.ctx, table)?;
        let set: Vec<usize> = sets.set.iter().map(|(position, _, _)| *position).collect();
        let foreign = self.foreign_rules(table, Touched::Updated(&set))?;
        Ok(Update {
            foreign,
            target: target.target,
            query,
            base: target.base,
            locator: target.locator,
            set: sets.set,
            inserted,
            assign: sets.assign,
            rules,
            output,
        })
    }

    /// "UPDATE", permissions: SELECT, too, if an expression of SET uses a column of the table.
    fn require_read(&mut self, sets: &Sets, base: usize, table: &TableDef) {
        let values = sets.set.iter().map(|(_, value, _)| value);
        let all = values.chain(sets.assign.iter().map(|a| &a.value));
        self.require_select(table, all, base);
    }

    /// Notes SELECT on a table if an expression reads the row of it that begins at `base`.
    pub(super) fn require_select<'e>(
        &mut self,
        table: &TableDef,
        exprs: impl Iterator<Item = &'e Scalar>,
        base: usize,
    ) {
        let row = base..base + table.columns.len();
        let mut reads = false;
        for expr in exprs {
            expr.each_slot(&mut |level, slot| reads |= level == 0 && row.contains(&slot));
        }
        // A table variable has no id.
        if reads && table.id != 0 {
            self.require(table.id, Permission::Select);
        }
    }

    pub(super) fn bind_delete(&mut self, delete: &'a DeleteStmt) -> SqlResult<Delete> {
        self.apply_hints(&delete.options);
        self.push_ctes(&delete.with)?;
        let target = self.bind_target(&delete.target, &delete.from)?;
        let table = target.table;
        self.check_settings(table, "DELETE")?;
        if let Target::Table(t) = &target.target {
            self.require(t.id, Permission::Delete);
            if delete.filter.is_some() || !delete.from.is_empty() {
                self.require(t.id, Permission::Select);
            }
        }
        let output = match &delete.output {
            Some(clause) => {
                let output_slots = OutputSlots {
                    inserted: None,
                    deleted: Some(target.base),
                    target: Some(target.source),
                    through: target.through.as_deref(),
                };
                Some(self.bind_output(clause, table, output_slots)?)
            }
            None => None,
        };
        let mut query = self.target_query(
            target.rel,
            delete.filter.as_ref(),
            delete.top.as_ref(),
            Vec::new(),
            &output,
        )?;
        if output.is_none() {
            query.root.let_target_qualify_first();
        }
        let rules = bind_row_rules(&self.ctx, table)?;
        let foreign = self.foreign_rules(table, Touched::Deleted)?;
        Ok(Delete {
            foreign,
            target: target.target,
            query,
            base: target.base,
            locator: target.locator,
            rules,
            output,
        })
    }

    /// What foreign keys demand; the statement then depends on the tables on their other ends.
    pub(super) fn foreign_rules(
        &mut self,
        table: &TableDef,
        touched: Touched<'_>,
    ) -> SqlResult<ForeignRules> {
        if table.foreign_keys.is_empty() && table.referenced_by.is_empty() {
            return Ok(ForeignRules::default());
        }
        let (rules, depends) = bind_foreign(&self.ctx, table, touched)?;
        for (id, version) in depends {
            self.depend(id, version);
        }
        Ok(rules)
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
            hints: JoinHints {
                force_order: self.force_order,
                strategy: self.join_strategy,
                joins: std::mem::take(&mut self.scope().join_hints),
            },
            choices: self.ctx.choices,
            interrupted: self.ctx.interrupted,
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
        update: &'a UpdateStmt,
        target: &Modifiable<'a>,
        inserted: usize,
    ) -> SqlResult<Sets> {
        let (clauses, written) = (&update.set, &update.target);
        let table = target.table;
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
                    let position = self.set_column(column, (target, written), &sets)?;
                    let value = match value {
                        Some(value) => self.bind_expr(value)?,
                        None => self.explicit_default(table, position)?,
                    };
                    let value = compound(target, position, *op, value)?;
                    sets.set.push(stored(table, position, value)?);
                }
                SetClause::Both {
                    variable,
                    column,
                    op,
                    value,
                } => {
                    let position = self.set_column(column, (target, written), &sets)?;
                    let value = self.bind_expr(value)?;
                    let value = compound(target, position, *op, value)?;
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

    /// The position of a column that SET names.
    fn set_column(
        &mut self,
        name: &crate::ast::ObjectName,
        (target, written): (&Modifiable<'a>, &DmlTarget),
        sets: &Sets,
    ) -> SqlResult<usize> {
        let [qualifier @ .., last] = name.parts.as_slice() else {
            return Err(errors::unbound(name));
        };
        let table = target.table;
        let source = &self.scopes[0].sources[target.source];
        if !qualifier.is_empty() {
            // The name after UPDATE, which an alias in FROM does not hide.
            let same_as_written = |qualifier: &Ident| match written {
                DmlTarget::Named(name, _) => {
                    let last = name.parts.last();
                    last.is_some_and(|last| self.same_name(&last.name, &qualifier.name))
                }
                DmlTarget::Variable(_) => false,
            };
            let named =
                self.qualifies(source, qualifier) || matches!(qualifier, [t] if same_as_written(t));
            if !named {
                return Err(errors::unbound(name));
            }
        }
        let position = match &target.through {
            None => self.target_column(table, last)?,
            Some(behind) => {
                let at = source
                    .columns
                    .iter()
                    .position(|c| self.same_name(&c.name, &last.name))
                    .ok_or_else(|| errors::invalid_column(&last.name, last.pos))?;
                behind[at].ok_or_else(|| derived_field(&source.exposed))?
            }
        };
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

/// `column op= value`.
fn compound(
    target: &Modifiable<'_>,
    position: usize,
    op: Option<crate::ast::BinaryOp>,
    value: Ex,
) -> SqlResult<Ex> {
    let Some(op) = op else {
        return Ok(value);
    };
    let column = &table_columns(target.table, target.base)[position];
    arithmetic(op, column_ex(0, column), value)
}

/// A new value of a column, which must convert to its type by itself.
fn stored(table: &TableDef, position: usize, value: Ex) -> SqlResult<(usize, Scalar, DataType)> {
    check_implicit(&value.ty, &table.columns[position].ty)?;
    Ok((position, value.expr, value.ty))
}
