//! What INSERT, UPDATE, DELETE and OUTPUT INTO write to.

use std::sync::Arc;

use crate::ast::{DmlTarget, Ident, ObjectName, TableHint, TableSource};
use crate::catalog::{Found, Object, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::plan::Target;

use super::context::Binder;
use super::errors;
use super::names::{Relation, not_changed, relation};
use super::planner::Rel;
use super::state::Modifiable;

pub(super) struct BoundTarget<'a> {
    pub(super) target: Target,
    pub(super) table: &'a Arc<TableDef>,
    pub(super) hints: &'a [TableHint],
}

impl<'a> Binder<'a> {
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
        match relation(&self.ctx, name)? {
            Relation::Object(Found {
                object: Object::Table(table),
                ..
            }) => {
                self.depend(table.id, table.version);
                Ok(table)
            }
            other @ (Relation::Object(_) | Relation::System(..)) => Err(not_changed(&other)),
        }
    }

    /// Opens level 0 with the target of UPDATE or DELETE and the FROM clause. The target's `rel` is then
    /// all that the statement reads.
    pub(super) fn bind_target(
        &mut self,
        target: &'a DmlTarget,
        from: &'a [TableSource],
    ) -> SqlResult<Modifiable<'a>> {
        self.push_scope(false);
        let found = from.iter().find_map(|s| self.matching(s, target, true));
        let found = found.or_else(|| from.iter().find_map(|s| self.matching(s, target, false)));
        let (mut own, others) = match found {
            None => {
                let own = self.add_modifiable(target)?;
                (own, self.bind_from(from)?)
            }
            Some(source) => {
                self.target_source = Some(source);
                let rel = self.bind_from(from)?;
                self.target_source = None;
                let own = self.modified.take();
                let mut own = own.ok_or_else(|| {
                    SqlError::internal("a target that the FROM clause does not read")
                })?;
                own.rel = rel.unwrap_or(own.rel);
                (own, None)
            }
        };
        if let Some(others) = others {
            own.rel = Rel::Inner {
                members: vec![own.rel, others],
                conds: Vec::new(),
            };
        }
        let scope = self.scope();
        scope.visible = 0..scope.sources.len();
        Ok(own)
    }

    /// The FROM item that the target names: by alias, or else by the table itself.
    fn matching(
        &self,
        source: &'a TableSource,
        target: &DmlTarget,
        by_alias: bool,
    ) -> Option<&'a TableSource> {
        let is = |alias: &Option<Ident>| {
            match target {
            DmlTarget::Named(name, _) => alias.as_ref().is_some_and(|alias| {
                by_alias
                    && matches!(name.parts.as_slice(), [single] if self.same_name(&single.name, &alias.name))
            }),
            DmlTarget::Variable(_) => false,
        }
        };
        let same = match source {
            TableSource::Join { left, right, .. } => {
                return self
                    .matching(left, target, by_alias)
                    .or_else(|| self.matching(right, target, by_alias));
            }
            TableSource::Named { name, alias, .. } => {
                is(alias)
                    || if let DmlTarget::Named(wanted, _) = target
                        && !by_alias
                    {
                        self.same_table(name, wanted)
                    } else {
                        false
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

    /// Whether two names mean the same table or the same CTE.
    fn same_table(&self, a: &ObjectName, b: &ObjectName) -> bool {
        if let ([x], [y]) = (a.parts.as_slice(), b.parts.as_slice())
            && self.is_cte(&x.name)
        {
            return self.same_name(&x.name, &y.name);
        }
        let id = |name| match relation(&self.ctx, name) {
            Ok(Relation::Object(found)) => Some(found.object.id()),
            Ok(Relation::System(..)) | Err(_) => None,
        };
        id(a).is_some_and(|x| id(b) == Some(x))
    }

    /// 1934: a table with a filtered index or computed column demands QUOTED_IDENTIFIER ON.
    pub(super) fn check_settings(&self, table: &TableDef, verb: &str) -> SqlResult<()> {
        let demanding = table.indexes.iter().any(|i| i.filter.is_some());
        if self.ctx.quoted_identifier || !demanding {
            return Ok(());
        }
        Err(errors::wrong_settings(verb))
    }

    /// The position of a column of the table to write to; 207 when there is none.
    pub(super) fn target_column(&self, table: &TableDef, name: &Ident) -> SqlResult<usize> {
        let wanted = self.ctx.database.fold(&name.name);
        table
            .columns
            .iter()
            .position(|c| self.ctx.database.fold(&c.name) == wanted)
            .ok_or_else(|| errors::invalid_column(&name.name, name.pos))
    }
}
