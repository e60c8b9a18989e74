//! FROM: table references, joins, APPLY.

use std::sync::Arc;

use crate::ast::{
    Condition, Ident, JoinKind, JoinStrategy, ObjectName, Permission, QueryExpr, TableHint,
    TableSource,
};
use crate::catalog::{Database, Object, ViewDef, invalid_object};
use crate::error::SqlResult;
use crate::plan::{Purpose, Query};

use super::BindContext;
use super::context::Binder;
use super::inline::Part;
use super::names::{Relation, relation};
use super::planner::{Rel, no_plan};
use super::scope::{Clause, SourceColumn};
use super::source::rename;
use super::state::QueryUse;
use super::typing::Coercibility;

impl<'a> Binder<'a> {
    /// Binds the FROM clause of the innermost level; afterwards all its sources are visible.
    pub(super) fn bind_from(&mut self, from: &'a [TableSource]) -> SqlResult<Option<Rel>> {
        let mut members = Vec::with_capacity(from.len());
        for source in from {
            self.scope().visible = 0..0;
            members.push(self.bind_source(source)?);
        }
        let count = self.scope().sources.len();
        self.scope().visible = 0..count;
        Ok(match members.len() {
            0 => None,
            1 => members.pop(),
            _ => Some(Rel::Inner {
                members,
                conds: Vec::new(),
            }),
        })
    }

    pub(super) fn bind_source(&mut self, source: &'a TableSource) -> SqlResult<Rel> {
        let rel = self.in_level(|b| b.bind_source_here(source))?;
        self.check_sources()?;
        Ok(rel)
    }

    fn bind_source_here(&mut self, source: &'a TableSource) -> SqlResult<Rel> {
        if self.target_source.is_some_and(|t| std::ptr::eq(t, source)) {
            let target = self.add_modifiable_source(source)?;
            let rel = target.rel.clone();
            self.modified = Some(target);
            return Ok(rel);
        }
        match source {
            TableSource::Named { name, alias, hints } => {
                self.bind_named(name, alias.as_ref(), hints)
            }
            TableSource::Variable { name, alias } => self.bind_variable(name, alias.as_ref()),
            TableSource::Derived {
                query,
                alias,
                columns,
            } => self.bind_derived(query, alias.as_ref(), columns),
            TableSource::OpenJson {
                json,
                path,
                with,
                alias,
            } => self.bind_open_json(json, path.as_ref(), with.as_deref(), alias.as_ref()),
            TableSource::Function {
                name,
                args,
                alias,
                columns,
            } => self.bind_table_function(name, args, alias.as_ref(), columns),
            TableSource::Join {
                kind,
                strategy,
                left,
                right,
                on,
            } => self.bind_join((*kind, *strategy), left, right, on.as_ref()),
        }
    }

    fn bind_join(
        &mut self,
        (kind, strategy): (JoinKind, JoinStrategy),
        left: &'a TableSource,
        right: &'a TableSource,
        on: Option<&'a Condition>,
    ) -> SqlResult<Rel> {
        self.check_recursive_join(kind)?;
        let outside = self.scope().visible.clone();
        let start = self.scope().sources.len();
        let left = self.bind_source(left)?;
        let middle = self.scope().sources.len();
        let first = if outside.is_empty() {
            start
        } else {
            outside.start
        };
        if matches!(kind, JoinKind::CrossApply | JoinKind::OuterApply) {
            self.scope().visible = first..middle;
        }
        let right = self.bind_source(right)?;
        let end = self.scope().sources.len();
        self.scope().visible = first..end;
        let on = match on {
            Some(cond) => self.in_clause(Clause::On, |b| b.bind_conjuncts(cond))?,
            None => Vec::new(),
        };
        // "Join hints": LOOP can't be specified together with RIGHT or FULL.
        if strategy == JoinStrategy::Loop && matches!(kind, JoinKind::Right | JoinKind::Full) {
            return Err(no_plan());
        }
        let scope = self.scope();
        let joined = if kind == JoinKind::Right {
            &left
        } else {
            &right
        };
        if let (JoinStrategy::Loop | JoinStrategy::Hash, Some(leaf)) =
            (strategy, joined.first_leaf())
        {
            scope.join_hints.push((leaf, strategy));
        }
        scope.visible = outside;
        let mut nullable = |range: std::ops::Range<usize>| {
            for source in &mut scope.sources[range] {
                source.columns.iter_mut().for_each(|c| c.nullable = true);
            }
        };
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(match kind {
            JoinKind::Inner | JoinKind::Cross | JoinKind::CrossApply => Rel::Inner {
                members: vec![*left, *right],
                conds: on,
            },
            JoinKind::Left | JoinKind::OuterApply => {
                nullable(middle..end);
                Rel::Left { left, right, on }
            }
            JoinKind::Right => {
                nullable(start..middle);
                Rel::Left {
                    left: right,
                    right: left,
                    on,
                }
            }
            JoinKind::Full => {
                nullable(start..end);
                Rel::Full { left, right, on }
            }
        })
    }

    fn bind_named(
        &mut self,
        name: &'a ObjectName,
        alias: Option<&Ident>,
        hints: &[TableHint],
    ) -> SqlResult<Rel> {
        if let [single] = name.parts.as_slice()
            && self.is_cte(&single.name)
        {
            let exposed = alias.map_or(single.name.as_str(), |a| a.name.as_str());
            if let Some(rel) = self.inline_cte(&single.name, exposed)? {
                return Ok(rel);
            }
        }
        if let [single] = name.parts.as_slice()
            && let Some(found) = self.bind_cte(name)?
        {
            let (node, columns) = found;
            return self.add_other(node, columns, alias.map_or(&single.name, |a| &a.name), true);
        }
        match relation(&self.ctx, name)? {
            Relation::Object(found) => match found.object {
                Object::Table(table) => {
                    self.require_in(found.database, table.id, Permission::Select);
                    let rel = self.add_table(table, alias, hints, Purpose::Read)?;
                    if let Some(source) = self.scope().sources.last_mut() {
                        source.bare = name.parts.len() == 1;
                    }
                    Ok(rel)
                }
                Object::View(view) => self.bind_view(found.database, view, alias),
                Object::Procedure(_) | Object::Constraint { .. } => Err(invalid_object(name)),
            },
            Relation::System(database, view) => self.add_system_view(database, view, alias),
        }
    }

    fn bind_variable(&mut self, name: &'a str, alias: Option<&Ident>) -> SqlResult<Rel> {
        self.add_local(name, alias, false)
    }

    fn bind_derived(
        &mut self,
        query: &'a QueryExpr,
        alias: Option<&Ident>,
        columns: &'a [Ident],
    ) -> SqlResult<Rel> {
        let exposed = alias.map_or("", |a| a.name.as_str());
        let part = Part {
            query,
            exposed,
            names: columns,
            closed: false,
        };
        if let Some(rel) = self.inline(&part)? {
            return Ok(rel);
        }
        let mut bound = self.bind_nested(query, QueryUse::Derived)?;
        rename(&mut bound.columns, columns, exposed)?;
        self.add_query(bound, exposed, true)
    }

    /// A view, in whose text names mean what they mean in its own database and schema.
    fn bind_view(
        &mut self,
        database: &'a Database,
        view: &'a Arc<ViewDef>,
        alias: Option<&Ident>,
    ) -> SqlResult<Rel> {
        self.depend(view.id, view.version);
        self.require_in(database, view.id, Permission::Select);
        let schema = database.schemas.get(&view.schema_id);
        let schema = schema.map_or("dbo", |s| s.name.as_str());
        let inside = BindContext {
            database,
            default_schema: schema,
            ..self.ctx
        };
        let outside = std::mem::replace(&mut self.ctx, inside);
        let exposed = alias.map_or(&view.name, |a| &a.name);
        let bound = match self.inline_view(view, exposed) {
            Ok(None) => self.view_query(view).map(Err),
            Ok(Some(rel)) => Ok(Ok(rel)),
            Err(error) => Err(error),
        };
        self.ctx = outside;
        let rel = match bound? {
            Ok(rel) => rel,
            Err(query) => self.add_query(query, exposed, alias.is_some())?,
        };
        // "Collation Precedence": a view's column is implicit even if the view gave it a collation.
        if let Some(source) = self.scope().sources.last_mut() {
            let explicit = |c: &&mut SourceColumn| c.coll == Coercibility::Explicit;
            let columns = source.columns.iter_mut().filter(explicit);
            columns.for_each(|c| c.coll = Coercibility::Implicit);
        }
        if alias.is_none() {
            self.qualify(schema, database);
        }
        Ok(rel)
    }

    fn view_query(&mut self, view: &'a Arc<ViewDef>) -> SqlResult<Query> {
        let mut bound = self.in_view(|b| {
            b.push_ctes(&view.query.with)?;
            b.bind_nested(&view.query.query, QueryUse::Closed)
        })?;
        for (column, name) in bound.columns.iter_mut().zip(&view.columns) {
            column.name.clone_from(name);
        }
        Ok(bound)
    }
}
