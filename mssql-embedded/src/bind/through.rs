//! UPDATE and DELETE of what is not a table by itself: a CTE, a derived table or a view over one table.
//!
//! The query behind it is bound as always, with its table as the target, and hands the table's row and
//! locator on as additional outputs. What the statement names is the query; what it writes is the table.

use std::sync::Arc;

use crate::ast::TableSource;
use crate::ast::{DmlTarget, Ident, ObjectName, QueryBody, QueryExpr, QuerySpec, TableHint};
use crate::catalog::{Found, Object, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Node, Purpose, Query, Scalar, Target};
use crate::value::DataType;

use super::context::Binder;
use super::items::Item;
use super::names::{Relation, not_changed, relation};
use super::planner::{Leaf, LeafKind, Rel};
use super::scope::{Source, SourceColumn};
use super::source::{check_names, rename};
use super::state::{Modifiable, Passed, QueryUse};
use super::typing::{Coercibility, Ex};

impl<'a> Binder<'a> {
    /// Adds the target of UPDATE or DELETE that no FROM clause names.
    pub(super) fn add_modifiable(&mut self, target: &'a DmlTarget) -> SqlResult<Modifiable<'a>> {
        match target {
            DmlTarget::Variable(name) => self.modifiable_variable(name, None),
            DmlTarget::Named(name, hints) => self.modifiable_named(name, None, hints),
        }
    }

    /// Adds the FROM item that is the target.
    pub(super) fn add_modifiable_source(
        &mut self,
        source: &'a TableSource,
    ) -> SqlResult<Modifiable<'a>> {
        match source {
            TableSource::Named { name, alias, hints } => {
                self.modifiable_named(name, alias.as_ref(), hints)
            }
            TableSource::Variable { name, alias } => self.modifiable_variable(name, alias.as_ref()),
            TableSource::Derived {
                query,
                alias,
                columns,
            } => {
                let exposed = alias.as_ref().map_or("", |a| a.name.as_str());
                self.modifiable_query(query, exposed, columns, QueryUse::Derived)
            }
            TableSource::Join { .. } => Err(SqlError::unsupported(
                "changing rows through a query over several tables",
            )),
            TableSource::OpenJson { .. } | TableSource::Function { .. } => Err(
                SqlError::unsupported("changing rows of anything but a table"),
            ),
        }
    }

    fn modifiable_variable(
        &mut self,
        name: &'a str,
        alias: Option<&Ident>,
    ) -> SqlResult<Modifiable<'a>> {
        let variable = self.ctx.variables.table(name)?;
        let rel = self.add_local(name, alias, true)?;
        let target = Target::Local(variable.slot, variable.table.clone());
        self.modifiable_leaf(rel, target, &variable.table)
    }

    fn modifiable_named(
        &mut self,
        name: &'a ObjectName,
        alias: Option<&Ident>,
        hints: &[TableHint],
    ) -> SqlResult<Modifiable<'a>> {
        if let [single] = name.parts.as_slice()
            && self.is_cte(&single.name)
        {
            let exposed = alias.map_or(single.name.as_str(), |a| a.name.as_str());
            return self.within_cte(&single.name, |binder, cte| {
                binder.modifiable_query(&cte.query, exposed, &cte.columns, QueryUse::Closed)
            });
        }
        match relation(&self.ctx, name)? {
            Relation::Object(Found {
                object: Object::Table(table),
                ..
            }) => {
                let rel = self.add_table(table, alias, hints, Purpose::Modify)?;
                self.modifiable_leaf(rel, Target::Table(table.clone()), table)
            }
            other @ (Relation::Object(_) | Relation::System(..)) => Err(not_changed(&other)),
        }
    }

    /// A table or table variable that was added last.
    fn modifiable_leaf(
        &mut self,
        rel: Rel,
        target: Target,
        table: &'a Arc<TableDef>,
    ) -> SqlResult<Modifiable<'a>> {
        let scope = self.scope();
        let source = scope.sources.len() - 1;
        let leaf = scope.sources[source].leaf.map(|leaf| &scope.leaves[leaf]);
        let leaf = leaf.ok_or_else(|| SqlError::internal("a target that is read from nowhere"))?;
        let (base, locator) = (leaf.slots.start, leaf.locator());
        let locator =
            locator.ok_or_else(|| SqlError::internal("a target whose rows have no locators"))?;
        Ok(Modifiable {
            rel,
            target,
            table,
            source,
            base,
            locator,
            through: None,
        })
    }

    fn modifiable_query(
        &mut self,
        query: &'a QueryExpr,
        exposed: &str,
        names: &'a [Ident],
        use_: QueryUse,
    ) -> SqlResult<Modifiable<'a>> {
        let (spec, inner) = modifiable_spec(query, exposed)?;
        let outer_source = self.target_source.replace(inner);
        let outer_spec = self.through.replace(spec);
        let bound = self.bind_nested(query, use_);
        self.target_source = outer_source;
        self.through = outer_spec;
        let mut bound = bound?;
        let passed = self.passed.take();
        let passed = passed.ok_or_else(|| not_updatable(exposed))?;
        let own = passed.columns.len();
        rename(&mut bound.columns[..own], names, exposed)?;
        check_names(&bound.columns[..own], exposed)?;
        self.add_passing(bound, passed, exposed)
    }

    /// Adds a query that passes on the rows of its table.
    fn add_passing(
        &mut self,
        query: Query,
        passed: Passed<'a>,
        exposed: &str,
    ) -> SqlResult<Modifiable<'a>> {
        let own = passed.columns.len();
        let base = self.scope().allocate(query.columns.len());
        let slots = base..base + query.columns.len();
        let columns = query.columns[..own]
            .iter()
            .enumerate()
            .map(|(i, c)| SourceColumn {
                name: c.name.clone(),
                ty: c.ty.clone(),
                nullable: c.nullable,
                identity: c.identity,
                slot: base + i,
                coll: Coercibility::Implicit,
            })
            .collect();
        let leaf = self.scope().leaves.len();
        self.add_source(Source {
            exposed: exposed.to_owned(),
            qualifier: None,
            aliased: true,
            columns,
            hidden: false,
            bare: false,
            qualified_only: false,
            leaf: Some(leaf),
        })?;
        let node = Node::Derived {
            query: Box::new(query),
            base,
        };
        let scope = self.scope();
        scope.leaves.push(Leaf {
            kind: LeafKind::Other(Box::new(node)),
            slots,
        });
        Ok(Modifiable {
            rel: Rel::Leaf(leaf),
            source: scope.sources.len() - 1,
            base: base + own,
            locator: base + own + passed.table.columns.len(),
            target: passed.target,
            table: passed.table,
            through: Some(passed.columns),
        })
    }

    /// Appends the row and the locator of the target to the outputs of the query that is bound.
    ///
    /// # Errors
    ///
    /// 4403 when the query does not show rows of its table one by one.
    pub(super) fn pass_on(&mut self, spec: &'a QuerySpec, items: &mut Vec<Item>) -> SqlResult<()> {
        if !self.through.is_some_and(|t| std::ptr::eq(t, spec)) {
            return Ok(());
        }
        let Some(inner) = self.modified.take() else {
            return Ok(());
        };
        if !self.scope().aggregates.is_empty() {
            return Err(aggregated(""));
        }
        let level = self.scopes.len() - 1;
        let columns = items
            .iter()
            .map(|item| self.column_behind(&item.ex.expr, level, &inner))
            .collect();
        let slot = |slot: usize| Scalar::Slot { level, slot };
        for (i, column) in inner.table.columns.iter().enumerate() {
            items.push(Item {
                name: String::new(),
                ex: Ex::new(slot(inner.base + i), column.ty.clone(), true),
                identity: false,
            });
        }
        let locator = DataType::VarBinary(crate::value::Length::Max);
        items.push(Item {
            name: String::new(),
            ex: Ex::new(slot(inner.locator), locator, true),
            identity: false,
        });
        self.passed = Some(Passed {
            target: inner.target,
            table: inner.table,
            columns,
        });
        Ok(())
    }

    /// The column of the table that an output shows unchanged.
    fn column_behind(
        &self,
        output: &Scalar,
        level: usize,
        inner: &Modifiable<'a>,
    ) -> Option<usize> {
        let Scalar::Slot { level: l, slot } = output else {
            return None;
        };
        if *l != level {
            return None;
        }
        match &inner.through {
            None => slot
                .checked_sub(inner.base)
                .filter(|i| *i < inner.table.columns.len()),
            Some(behind) => {
                let columns = &self.scopes[level].sources[inner.source].columns;
                let at = columns.iter().position(|c| c.slot == *slot)?;
                behind[at]
            }
        }
    }
}

/// The SELECT of a query through which rows can be changed, and its one FROM item.
fn modifiable_spec<'a>(
    query: &'a QueryExpr,
    exposed: &str,
) -> SqlResult<(&'a QuerySpec, &'a TableSource)> {
    let spec = match &query.body {
        QueryBody::Select(spec) => spec,
        QueryBody::Nested(inner) => return modifiable_spec(inner, exposed),
        QueryBody::SetOp { .. } => {
            return Err(SqlError::new(
                4426,
                format!(
                    "View '{exposed}' is not updatable because the definition contains a UNION \
                     operator."
                ),
            ));
        }
        QueryBody::Values(_) => return Err(not_updatable(exposed)),
    };
    if query.for_json.is_some() {
        return Err(not_updatable(exposed));
    }
    let grouped = !spec.group_by.is_empty() || !spec.grouping_sets.is_empty();
    if spec.distinct || grouped || spec.having.is_some() {
        return Err(aggregated(exposed));
    }
    match spec.from.as_slice() {
        [TableSource::Join { .. }] | [_, _, ..] => Err(SqlError::unsupported(format!(
            "changing rows through {exposed}, a query over several tables"
        ))),
        [one] => Ok((spec, one)),
        [] => Err(not_updatable(exposed)),
    }
}

fn aggregated(exposed: &str) -> SqlError {
    SqlError::new(
        4403,
        format!(
            "Cannot update the view or function '{exposed}' because it contains aggregates, or a \
             DISTINCT or GROUP BY clause, or PIVOT or UNPIVOT operator."
        ),
    )
}

fn not_updatable(exposed: &str) -> SqlError {
    SqlError::unsupported(format!("changing rows through {exposed}"))
}

/// 4406: a column that no column of the table stands behind.
pub(super) fn derived_field(exposed: &str) -> SqlError {
    SqlError::new(
        4406,
        format!(
            "Update or insert of view or function '{exposed}' failed because it contains a derived \
             or constant field."
        ),
    )
}
