//! What FROM can read: tables, table variables, queries, system views, each with its slots and names.

use std::collections::HashSet;
use std::sync::Arc;

use crate::ast::{Ident, TableHint};
use crate::catalog::{Database, TableDef};
use crate::dictionary::View;
use crate::error::{SqlError, SqlResult};
use crate::plan::{Cond, Node, Purpose, Query};
use crate::value::ColumnMeta;

use super::context::Binder;
use super::hints::table_hints;
use super::planner::{Leaf, LeafKind, Rel, TableLeaf};
use super::scope::{Clause, Source, SourceColumn, table_columns};
use super::typing::Coercibility;

impl<'a> Binder<'a> {
    /// Adds a base table to the innermost level.
    pub(super) fn add_table(
        &mut self,
        table: &'a Arc<TableDef>,
        alias: Option<&Ident>,
        hints: &[TableHint],
        purpose: Purpose,
    ) -> SqlResult<Rel> {
        self.depend(table.id, table.version);
        let home = self.ctx.home_of(table).database;
        let hints = table_hints(hints, table, home, purpose == Purpose::Modify)?;
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
            bare: false,
            qualified_only: false,
            leaf: Some(leaf),
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
            bare: false,
            qualified_only: false,
            leaf: Some(leaf),
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

    pub(super) fn add_system_view(
        &mut self,
        database: &'a Database,
        view: &'static View,
        alias: Option<&Ident>,
    ) -> SqlResult<Rel> {
        let collation = database.collation;
        let columns = view
            .columns
            .iter()
            .map(|column| ColumnMeta {
                name: column.name.to_owned(),
                ty: (column.ty)(collation),
                nullable: true,
                identity: false,
                label: Coercibility::Implicit,
            })
            .collect();
        let elsewhere = (database.id != self.ctx.database.id).then(|| database.name.clone());
        let (schema, own) = view.name.split_once('.').unwrap_or(("sys", view.name));
        let exposed = alias.map_or(own, |a| a.name.as_str());
        let rel = self.add_other(
            |base| Node::SystemView {
                view,
                database: elsewhere,
                base,
            },
            columns,
            exposed,
            alias.is_some(),
        )?;
        if alias.is_none() {
            self.qualify(schema, database);
        }
        Ok(rel)
    }

    /// Lets the columns of the source added last be named with its schema and database.
    pub(super) fn qualify(&mut self, schema: &str, database: &Database) {
        let database = database.name.clone();
        if let Some(source) = self.scope().sources.last_mut() {
            source.qualifier = Some((schema.to_owned(), database));
        }
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
        let node = node(base);
        // What a query inside has computed is no column yet.
        let strength = |column: &ColumnMeta| match &node {
            Node::Derived { .. } | Node::Recursive { .. } | Node::Working { .. } => column.label,
            Node::Once
            | Node::Values { .. }
            | Node::Scan(_)
            | Node::LocalScan(_)
            | Node::SystemView { .. }
            | Node::OpenJson { .. }
            | Node::StringSplit { .. }
            | Node::Filter { .. }
            | Node::Loop { .. }
            | Node::Hash(_)
            | Node::Full { .. }
            | Node::Compute { .. }
            | Node::Group(_)
            | Node::Window { .. }
            | Node::Distinct { .. }
            | Node::Sort { .. }
            | Node::Top { .. }
            | Node::Offset { .. }
            | Node::Concat { .. }
            | Node::Set { .. }
            | Node::ForJson { .. } => Coercibility::Implicit,
        };
        let columns = columns
            .into_iter()
            .enumerate()
            .map(|(i, c)| SourceColumn {
                coll: strength(&c),
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
            bare: false,
            qualified_only: false,
            leaf: Some(leaf),
        })?;
        self.scope().leaves.push(Leaf {
            kind: LeafKind::Other(Box::new(node)),
            slots,
        });
        Ok(Rel::Leaf(leaf))
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
    let mut names = HashSet::with_capacity(columns.len());
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
        if !names.insert(column.name.to_lowercase()) {
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
