//! FROM: table references, joins, APPLY.

use std::sync::Arc;

use crate::ast::{
    CompareOp, Condition, Ident, JoinKind, ObjectName, QueryExpr, TableHint, TableSource,
};
use crate::catalog::{TableDef, ViewDef};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Cond, Node, Purpose, Query, Scalar, SystemType, SystemView};
use crate::session::ColumnMeta;
use crate::value::{DataType, Length};

use super::compare::operands;
use super::context::Binder;
use super::hints::table_hints;
use super::names::{Resolved, resolve_source};
use super::planner::{AsJoin, Leaf, LeafKind, Rel, TableLeaf};
use super::query::QueryUse;
use super::scope::{Clause, Source, SourceColumn, table_columns};
use super::typing::{Coercibility, Ex};

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

    fn bind_source(&mut self, source: &'a TableSource) -> SqlResult<Rel> {
        if self.target_source.is_some_and(|t| std::ptr::eq(t, source)) {
            return self.bind_target_source(source);
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
                left,
                right,
                on,
            } => self.bind_join(*kind, left, right, on.as_ref()),
        }
    }

    fn bind_join(
        &mut self,
        kind: JoinKind,
        left: &'a TableSource,
        right: &'a TableSource,
        on: Option<&'a Condition>,
    ) -> SqlResult<Rel> {
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
        let scope = self.scope();
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
            && let Some(found) = self.bind_cte(&single.name)?
        {
            let (node, columns) = found;
            return self.add_other(node, columns, alias.map_or(&single.name, |a| &a.name), true);
        }
        match resolve_source(self.ctx, name)? {
            Resolved::Table(table) => {
                self.require(table.id, "SELECT");
                self.add_table(table, alias, hints, Purpose::Read)
            }
            Resolved::View(view) => {
                let query = self.bind_view(view)?;
                let exposed = alias.map_or(&view.name, |a| &a.name);
                self.add_query(query, exposed, alias.is_some())
            }
            Resolved::System(view) => self.add_system_view(view, alias),
        }
    }

    /// Adds a base table to the innermost level.
    pub(super) fn add_table(
        &mut self,
        table: &'a Arc<TableDef>,
        alias: Option<&Ident>,
        hints: &[TableHint],
        purpose: Purpose,
    ) -> SqlResult<Rel> {
        self.depend(table.id, table.version);
        let hints = table_hints(hints, table, purpose == Purpose::Modify)?;
        let base = self.scope().allocate(table.columns.len());
        let locator = (purpose == Purpose::Modify).then(|| self.scope().allocate(1));
        let leaf = self.scope().leaves.len();
        self.add_source(Source {
            exposed: alias.map_or(&table.name, |a| &a.name).clone(),
            qualifier: alias
                .is_none()
                .then(|| (table.schema.clone(), table.database.clone())),
            aliased: alias.is_some(),
            columns: table_columns(table, base),
            hidden: false,
            qualified_only: false,
            leaf,
        })?;
        let filters = self.bind_index_filters(table);
        let table_leaf = TableLeaf {
            table: table.clone(),
            hints,
            purpose,
            locator,
            filters,
        };
        self.scope().leaves.push(Leaf {
            kind: LeafKind::Table(Box::new(table_leaf)),
            slots: base..base + table.columns.len(),
        });
        Ok(Rel::Leaf(leaf))
    }

    /// The filters of a table's indexes over the source added last. Without QUOTED_IDENTIFIER none of
    /// them may be used.
    fn bind_index_filters(&mut self, table: &'a TableDef) -> Vec<Result<Option<Cond>, ()>> {
        let count = self.scope().sources.len();
        let before = std::mem::replace(&mut self.scope().visible, count - 1..count);
        let usable = self.ctx.quoted_identifier;
        let mut filters = Vec::with_capacity(table.indexes.len());
        for index in &table.indexes {
            filters.push(match &index.filter {
                None => Ok(None),
                Some(_) if !usable => Err(()),
                Some((cond, _)) => self
                    .in_clause(Clause::Rule, |b| b.bind_cond(cond))
                    .map(Some)
                    .map_err(|_| ()),
            });
        }
        self.scope().visible = before;
        filters
    }

    fn bind_variable(&mut self, name: &'a str, alias: Option<&Ident>) -> SqlResult<Rel> {
        self.add_local(name, alias, false)
    }

    /// Adds a table variable, as the target of DML with a slot for its locator.
    pub(super) fn add_local(
        &mut self,
        name: &str,
        alias: Option<&Ident>,
        target: bool,
    ) -> SqlResult<Rel> {
        let variable = self.ctx.variables.table(name)?;
        let table = variable.table.clone();
        let base = self.scope().allocate(table.columns.len());
        let locator = target.then(|| self.scope().allocate(1));
        let leaf = self.scope().leaves.len();
        self.add_source(Source {
            exposed: alias.map_or(name, |a| a.name.as_str()).to_owned(),
            qualifier: None,
            aliased: alias.is_some(),
            columns: table_columns(&table, base),
            hidden: false,
            qualified_only: false,
            leaf,
        })?;
        let slots = base..base + table.columns.len();
        let kind = LeafKind::Local {
            variable: variable.slot,
            table,
            locator,
        };
        self.scope().leaves.push(Leaf { kind, slots });
        Ok(Rel::Leaf(leaf))
    }

    fn bind_derived(
        &mut self,
        query: &'a QueryExpr,
        alias: Option<&Ident>,
        columns: &'a [Ident],
    ) -> SqlResult<Rel> {
        let mut bound = self.bind_nested(query, QueryUse::Derived)?;
        let exposed = alias.map_or("", |a| a.name.as_str());
        rename(&mut bound.columns, columns, exposed)?;
        self.add_query(bound, exposed, true)
    }

    fn bind_view(&mut self, view: &'a Arc<ViewDef>) -> SqlResult<Query> {
        self.depend(view.id, view.version);
        self.require(view.id, "SELECT");
        self.view_depth += 1;
        let ctes = std::mem::take(&mut self.ctes);
        self.push_ctes(&view.query.with)?;
        let bound = self.bind_nested(&view.query.query, QueryUse::Closed);
        self.ctes = ctes;
        self.view_depth -= 1;
        let mut bound = bound?;
        for (column, name) in bound.columns.iter_mut().zip(&view.columns) {
            column.name.clone_from(name);
        }
        Ok(bound)
    }

    /// Adds the rows of a query; every column needs a name, and each its own.
    pub(super) fn add_query(
        &mut self,
        query: Query,
        exposed: &str,
        aliased: bool,
    ) -> SqlResult<Rel> {
        let columns = query.columns.clone();
        check_names(&columns, exposed)?;
        self.add_other(
            |base| Node::Derived {
                query: Box::new(query),
                base,
            },
            columns,
            exposed,
            aliased,
        )
    }

    fn add_system_view(
        &mut self,
        view: &'static SystemView,
        alias: Option<&Ident>,
    ) -> SqlResult<Rel> {
        let collation = self.ctx.database.collation;
        let columns = view
            .columns
            .iter()
            .map(|(name, ty)| ColumnMeta {
                name: (*name).to_owned(),
                ty: system_type(*ty, collation),
                nullable: true,
                identity: false,
            })
            .collect();
        let own = view.name.rsplit('.').next().unwrap_or(view.name);
        let exposed = alias.map_or(own, |a| a.name.as_str());
        self.add_other(
            |base| Node::SystemView {
                view: view.clone(),
                base,
            },
            columns,
            exposed,
            true,
        )
    }

    /// Adds a source that is read from its beginning; `node` makes its operator from the first slot.
    pub(super) fn add_other(
        &mut self,
        node: impl FnOnce(usize) -> Node,
        columns: Vec<ColumnMeta>,
        exposed: &str,
        aliased: bool,
    ) -> SqlResult<Rel> {
        let base = self.scope().allocate(columns.len());
        let slots = base..base + columns.len();
        let leaf = self.scope().leaves.len();
        let columns = columns
            .into_iter()
            .enumerate()
            .map(|(i, c)| SourceColumn {
                name: c.name,
                ty: c.ty,
                nullable: c.nullable,
                identity: c.identity,
                slot: base + i,
            })
            .collect();
        self.add_source(Source {
            exposed: exposed.to_owned(),
            qualifier: None,
            aliased,
            columns,
            hidden: false,
            qualified_only: false,
            leaf,
        })?;
        self.scope().leaves.push(Leaf {
            kind: LeafKind::Other(Box::new(node(base))),
            slots,
        });
        Ok(Rel::Leaf(leaf))
    }

    /// `column IN (list or query)` as a join with the distinct members, if it can be one.
    pub(super) fn in_as_join(&mut self, cond: &'a Condition) -> SqlResult<Option<Box<AsJoin>>> {
        let level = self.scopes.len() - 1;
        let (expr, members) = match cond {
            Condition::InList {
                expr,
                list,
                negated: false,
            } if list.len() > 1 => {
                let mut rows = Vec::new();
                for item in list {
                    rows.push(vec![self.bind_expr(item)?]);
                }
                let mut reads = false;
                for ex in rows.iter().flatten() {
                    ex.expr.each_slot(&mut |l, _| reads |= l == level);
                }
                if reads {
                    return Ok(None);
                }
                (expr, self.values_node(rows)?)
            }
            Condition::InQuery {
                expr,
                query,
                negated: false,
            } => {
                let query = self.bind_nested(query, QueryUse::Value)?;
                let mut reads = false;
                query.each_slot(&mut |l, _| reads |= l == level);
                if reads || query.columns.len() != 1 {
                    return Ok(None);
                }
                let columns = query.columns.clone();
                let base = self.scope().allocate(1);
                (
                    expr,
                    (
                        Node::Derived {
                            query: Box::new(query),
                            base,
                        },
                        columns,
                    ),
                )
            }
            _ => return Ok(None),
        };
        let (node, columns) = members;
        let (Node::Values { base, .. } | Node::Derived { base, .. }) = node else {
            return Ok(None);
        };
        let left = self.bind_expr(expr)?;
        if !matches!(&left.expr, Scalar::Slot { level: l, .. } if *l == level) {
            return Ok(None);
        }
        let right = Ex {
            expr: Scalar::Slot { level, slot: base },
            ty: columns[0].ty.clone(),
            nullable: true,
            coll: Coercibility::Default,
        };
        let (left, right, ty) = operands(left, right, "equal to")?;
        // Members that differ only before a conversion would find a row twice.
        if !matches!(right, Scalar::Slot { .. }) {
            return Ok(None);
        }
        let keys = vec![(base, ty.clone())];
        Ok(Some(Box::new(AsJoin {
            members: Node::Distinct {
                input: Box::new(node),
                keys,
            },
            slot: base,
            cond: Cond::Compare {
                op: CompareOp::Eq,
                left,
                right,
                ty,
            },
        })))
    }
}

/// Gives columns the names listed after an alias or CTE.
pub(super) fn rename(columns: &mut [ColumnMeta], names: &[Ident], exposed: &str) -> SqlResult<()> {
    if names.is_empty() {
        return Ok(());
    }
    if names.len() != columns.len() {
        let (number, how) = if columns.len() > names.len() {
            (8158, "more")
        } else {
            (8159, "fewer")
        };
        return Err(SqlError::new(
            number,
            format!("'{exposed}' has {how} columns than were specified in the column list."),
        ));
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.name.clone_from(&name.name);
    }
    Ok(())
}

/// 8155 and 8156: columns without a name, or with the same one.
pub(super) fn check_names(columns: &[ColumnMeta], exposed: &str) -> SqlResult<()> {
    for (i, column) in columns.iter().enumerate() {
        if column.name.is_empty() {
            return Err(SqlError::with(
                8155,
                16,
                2,
                format!(
                    "No column name was specified for column {} of '{exposed}'.",
                    i + 1
                ),
            ));
        }
        let folded = column.name.to_lowercase();
        if columns[..i].iter().any(|c| c.name.to_lowercase() == folded) {
            return Err(SqlError::new(
                8156,
                format!(
                    "The column '{}' was specified multiple times for '{exposed}'.",
                    column.name
                ),
            ));
        }
    }
    Ok(())
}

fn system_type(ty: SystemType, collation: crate::value::Collation) -> DataType {
    match ty {
        SystemType::Int => DataType::Int,
        SystemType::BigInt => DataType::BigInt,
        SystemType::SmallInt => DataType::SmallInt,
        SystemType::TinyInt => DataType::TinyInt,
        SystemType::Bit => DataType::Bit,
        SystemType::Name => DataType::nvarchar(128, collation),
        SystemType::Text60 => DataType::nvarchar(60, collation),
        SystemType::Max => DataType::nvarchar_max(collation),
        SystemType::Char2 => DataType::Char(2, collation),
        SystemType::Char4 => DataType::Char(4, collation),
        SystemType::DateTime => DataType::DateTime,
        SystemType::Sid => DataType::VarBinary(Length::Limited(85)),
    }
}
