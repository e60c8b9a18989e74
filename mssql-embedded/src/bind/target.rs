//! What INSERT, UPDATE, DELETE and OUTPUT INTO write to.

use std::sync::Arc;

use crate::ast::{DmlTarget, Ident, ObjectName, TableHint, TableSource};
use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::plan::{Purpose, Target};

use super::context::Binder;
use super::names::{Resolved, resolve_source};
use super::planner::Rel;
use super::{errors, fold};

/// A resolved target.
pub(super) struct BoundTarget<'a> {
    pub(super) target: Target,
    pub(super) table: &'a Arc<TableDef>,
    pub(super) hints: &'a [TableHint],
}

/// Where the target of UPDATE or DELETE is in the buffer.
pub(super) struct TargetSlots {
    pub(super) rel: Rel,
    /// Its position among the sources.
    pub(super) source: usize,
    pub(super) base: usize,
    pub(super) locator: usize,
}

impl<'a> Binder<'a> {
    /// Finds the table to write to.
    pub(super) fn resolve_target(&mut self, target: &'a DmlTarget) -> SqlResult<BoundTarget<'a>> {
        match target {
            DmlTarget::Variable(name) => {
                let variable = self.ctx.variables.table(name)?;
                let target = Target::Local(variable.slot, variable.table.clone());
                Ok(BoundTarget {
                    target,
                    table: &variable.table,
                    hints: &[],
                })
            }
            DmlTarget::Named(name, hints) => {
                let table = self.base_table(name)?;
                Ok(BoundTarget {
                    target: Target::Table(table.clone()),
                    table,
                    hints,
                })
            }
        }
    }

    fn base_table(&mut self, name: &'a ObjectName) -> SqlResult<&'a Arc<TableDef>> {
        if let [single] = name.parts.as_slice()
            && self.is_cte(&single.name)
        {
            return Err(SqlError::unsupported(format!(
                "changing rows through the common table expression {}",
                single.name
            )));
        }
        match resolve_source(self.ctx, name)? {
            Resolved::Table(table) => {
                self.depend(table.id, table.version);
                Ok(table)
            }
            Resolved::View(view) => Err(SqlError::unsupported(format!(
                "changing rows through the view {}",
                view.name
            ))),
            Resolved::System(_) => Err(SqlError::new(
                259,
                "Ad hoc updates to system catalogs are not allowed.",
            )),
        }
    }

    /// Opens level 0 with the target of UPDATE or DELETE and the FROM clause.
    pub(super) fn bind_target(
        &mut self,
        target: &'a DmlTarget,
        from: &'a [TableSource],
    ) -> SqlResult<(BoundTarget<'a>, TargetSlots)> {
        self.push_scope(false);
        let found = from.iter().find_map(|s| self.matching(s, target, true));
        let found = found.or_else(|| from.iter().find_map(|s| self.matching(s, target, false)));
        let Some(source) = found else {
            let bound = self.resolve_target(target)?;
            let own = self.add_target(&bound, None)?;
            let rel = match self.bind_from(from)? {
                Some(others) => Rel::Inner {
                    members: vec![own, others],
                    conds: Vec::new(),
                },
                None => own,
            };
            let slots = self.target_slots(rel, 0)?;
            return Ok((bound, slots));
        };
        let bound = self.target_of_source(source, target)?;
        self.target_source = Some(source);
        let rel = self.bind_from(from)?;
        self.target_source = None;
        let leaf = self
            .scope()
            .leaves
            .iter()
            .position(|l| l.locator().is_some())
            .unwrap_or(0);
        let position = self
            .scope()
            .sources
            .iter()
            .position(|s| s.leaf == leaf)
            .unwrap_or(0);
        let rel = rel.unwrap_or(Rel::Leaf(leaf));
        let slots = self.target_slots(rel, position)?;
        Ok((bound, slots))
    }

    fn target_slots(&mut self, rel: Rel, source: usize) -> SqlResult<TargetSlots> {
        let scope = self.scope();
        let count = scope.sources.len();
        scope.visible = 0..count;
        let leaf = &scope.leaves[scope.sources[source].leaf];
        let locator = leaf.locator();
        let base = leaf.slots.start;
        match locator {
            Some(locator) => Ok(TargetSlots {
                rel,
                source,
                base,
                locator,
            }),
            None => Err(SqlError::unsupported(
                "changing rows of anything but a table",
            )),
        }
    }

    fn add_target(&mut self, bound: &BoundTarget<'a>, alias: Option<&Ident>) -> SqlResult<Rel> {
        match &bound.target {
            Target::Table(_) => self.add_table(bound.table, alias, bound.hints, Purpose::Modify),
            Target::Local(_, table) => {
                let name = table.name.clone();
                self.add_local(&name, alias, true)
            }
        }
    }

    /// Binds the FROM item that is the target.
    pub(super) fn bind_target_source(&mut self, source: &'a TableSource) -> SqlResult<Rel> {
        match source {
            TableSource::Named { name, alias, hints } => {
                let table = self.base_table(name)?;
                self.add_table(table, alias.as_ref(), hints, Purpose::Modify)
            }
            TableSource::Variable { name, alias } => self.add_local(name, alias.as_ref(), true),
            _ => Err(SqlError::unsupported("changing rows of a derived table")),
        }
    }

    fn target_of_source(
        &mut self,
        source: &'a TableSource,
        target: &'a DmlTarget,
    ) -> SqlResult<BoundTarget<'a>> {
        match source {
            TableSource::Named { name, hints, .. } => {
                let table = self.base_table(name)?;
                Ok(BoundTarget {
                    target: Target::Table(table.clone()),
                    table,
                    hints,
                })
            }
            TableSource::Variable { name, .. } => {
                let variable = self.ctx.variables.table(name)?;
                let target = Target::Local(variable.slot, variable.table.clone());
                Ok(BoundTarget {
                    target,
                    table: &variable.table,
                    hints: &[],
                })
            }
            _ => {
                let name = match target {
                    DmlTarget::Named(name, _) => errors::dotted(name),
                    DmlTarget::Variable(name) => name.clone(),
                };
                Err(SqlError::unsupported(format!(
                    "changing rows of the derived table {name}"
                )))
            }
        }
    }

    /// The FROM item that the target names: by alias, or else by the table itself.
    fn matching(
        &self,
        source: &'a TableSource,
        target: &DmlTarget,
        by_alias: bool,
    ) -> Option<&'a TableSource> {
        let is = |alias: &Option<Ident>| match (alias, target) {
            (Some(alias), DmlTarget::Named(name, _)) => {
                by_alias
                    && matches!(name.parts.as_slice(), [single] if self.same_name(&single.name, &alias.name))
            }
            _ => false,
        };
        let same = match source {
            TableSource::Join { left, right, .. } => {
                return self
                    .matching(left, target, by_alias)
                    .or_else(|| self.matching(right, target, by_alias));
            }
            TableSource::Named { name, alias, .. } => {
                is(alias)
                    || match target {
                        DmlTarget::Named(wanted, _) if !by_alias => self.same_table(name, wanted),
                        _ => false,
                    }
            }
            TableSource::Variable { name, alias } => {
                is(alias)
                    || matches!(target, DmlTarget::Variable(v) if !by_alias && v.eq_ignore_ascii_case(name))
            }
            TableSource::Derived { alias, .. }
            | TableSource::OpenJson { alias, .. }
            | TableSource::Function { alias, .. } => is(alias),
        };
        same.then_some(source)
    }

    fn same_table(&self, a: &ObjectName, b: &ObjectName) -> bool {
        let id = |name| match resolve_source(self.ctx, name) {
            Ok(Resolved::Table(table)) => Some(table.id),
            _ => None,
        };
        id(a).is_some_and(|x| id(b) == Some(x))
    }

    /// 1934: a table with a filtered index or computed column demands QUOTED_IDENTIFIER ON.
    pub(super) fn check_settings(&self, table: &TableDef, verb: &str) -> SqlResult<()> {
        let demanding = table.indexes.iter().any(|i| i.filter.is_some());
        if self.ctx.quoted_identifier || !demanding {
            return Ok(());
        }
        Err(SqlError::new(
            1934,
            format!(
                "{verb} failed because the following SET options have incorrect settings: \
                 'QUOTED_IDENTIFIER'. Verify that SET options are correct for use with indexed views \
                 and/or indexes on computed columns and/or filtered indexes and/or query notifications \
                 and/or XML data type methods and/or spatial index operations."
            ),
        ))
    }

    /// The position of a column of the table to write to; 207 when there is none.
    pub(super) fn target_column(&self, table: &TableDef, name: &Ident) -> SqlResult<usize> {
        let wanted = fold(self.ctx.database, &name.name);
        table
            .columns
            .iter()
            .position(|c| fold(self.ctx.database, &c.name) == wanted)
            .ok_or_else(|| errors::invalid_column(&name.name, name.pos))
    }
}
