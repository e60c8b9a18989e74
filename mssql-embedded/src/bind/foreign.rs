//! The checks of foreign keys, as queries over the other table.

use std::sync::Arc;

use crate::ast::{
    CompareOp, Condition, Expr, ExprKind, Ident, Literal, ObjectName, Pos, QueryBody, QueryExpr,
    QuerySpec, SelectItem, TableHint, TableSource,
};
use crate::catalog::{ForeignKeyDef, Object, ObjectId, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Cascade, ChildRule, Cond, Conflict, ForeignRules, ParentRule};

use super::context::Binder;
use super::scope::{Clause, Source, table_columns};
use super::state::QueryUse;
use super::{BindContext, bind_row_rules};

/// What a statement does to the rows of a table.
#[derive(Clone, Copy)]
pub enum Touched<'s> {
    Inserted,
    /// It sets these columns.
    Updated(&'s [usize]),
    Deleted,
}

/// The objects that rules depend on, with their versions.
pub type Depends = Vec<(ObjectId, u64)>;

/// The name of the row that is written, in the queries below; no table is called so.
const ROW: &str = "$row";
/// The name of the other table.
const OTHER: &str = "$other";

/// Binds what the foreign keys of and to a table demand.
///
/// # Errors
///
/// Those of the conditions; there are none while the catalogue is consistent.
pub fn bind_foreign(
    ctx: &BindContext<'_>,
    table: &TableDef,
    touched: Touched<'_>,
) -> SqlResult<(ForeignRules, Depends)> {
    // The other ends of a table's keys are in its own database.
    let home = ctx.catalog.database(&table.database);
    let ctx = &BindContext {
        database: home.unwrap_or(ctx.database),
        ..*ctx
    };
    let mut rules = ForeignRules::default();
    let mut depends = Vec::new();
    let sets = |positions: &[usize]| match touched {
        Touched::Inserted | Touched::Deleted => true,
        Touched::Updated(set) => positions.iter().any(|p| set.contains(p)),
    };
    if !matches!(touched, Touched::Deleted) {
        for key in &table.foreign_keys {
            let columns = positions(table, &key.columns);
            if sets(&columns) {
                let parent = table_by_id(ctx, key.table)?;
                let referenced = positions(parent, &key.referenced);
                let pairs = pairs(parent, &referenced, table, &columns);
                rules.parents.push(ParentRule {
                    exists: exists(ctx, table, parent, &pairs, &mut depends)?,
                    columns,
                    conflict: conflict(key, table, parent, &referenced),
                });
            }
        }
    }
    if !matches!(touched, Touched::Inserted) {
        for id in &table.referenced_by {
            let child = table_by_id(ctx, *id)?;
            for key in child.foreign_keys.iter().filter(|k| k.table == table.id) {
                if sets(&positions(table, &key.referenced)) {
                    let rule = child_rule(ctx, table, child, key, touched, &mut depends)?;
                    rules.children.push(rule);
                }
            }
        }
    }
    Ok((rules, depends))
}

fn child_rule(
    ctx: &BindContext<'_>,
    table: &TableDef,
    child: &Arc<TableDef>,
    key: &ForeignKeyDef,
    touched: Touched<'_>,
    depends: &mut Depends,
) -> SqlResult<ChildRule> {
    let referenced = positions(table, &key.referenced);
    let columns = positions(child, &key.columns);
    let own = pairs(table, &referenced, table, &referenced);
    let pairs = pairs(child, &columns, table, &referenced);
    let cascade = if key.cascade_delete && matches!(touched, Touched::Deleted) {
        let (foreign, more) = bind_foreign(ctx, child, Touched::Deleted)?;
        depends.extend(more);
        Some(Cascade {
            table: Arc::clone(child),
            rows: rows(ctx, table, child, &pairs, depends)?,
            rules: bind_row_rules(ctx, child)?,
            foreign,
        })
    } else {
        None
    };
    Ok(ChildRule {
        replaced: exists(ctx, table, table, &own, depends)?,
        exists: exists(ctx, table, child, &pairs, depends)?,
        cascade,
        conflict: conflict(key, table, child, &columns),
    })
}

fn conflict(
    key: &ForeignKeyDef,
    table: &TableDef,
    other: &TableDef,
    columns: &[usize],
) -> Conflict {
    Conflict {
        same_table: table.id == other.id,
        constraint: key.name.clone(),
        database: other.database.clone(),
        table: format!("{}.{}", other.schema, other.name),
        column: match columns {
            [one] => Some(other.columns[*one].name.clone()),
            _ => None,
        },
    }
}

/// The positions of columns by their ids.
fn positions(table: &TableDef, ids: &[i32]) -> Vec<usize> {
    let position = |id: &i32| table.columns.iter().position(|c| c.id == *id);
    ids.iter().filter_map(position).collect()
}

/// A table by its id; the table itself need not be in the catalogue yet.
fn table_by_id<'c>(ctx: &BindContext<'c>, id: ObjectId) -> SqlResult<&'c Arc<TableDef>> {
    let found = ctx.database.objects.get(&id).and_then(Object::as_table);
    found.ok_or_else(|| SqlError::internal("a foreign key to no table"))
}

/// Pairs of names: a column of the other table and the column of the row that it equals.
fn pairs(
    other: &TableDef,
    of_other: &[usize],
    table: &TableDef,
    of_row: &[usize],
) -> Vec<(String, String)> {
    let name = |t: &TableDef, p: &usize| t.columns[*p].name.clone();
    let both = of_other.iter().zip(of_row);
    both.map(|(o, r)| (name(other, o), name(table, r)))
        .collect()
}

fn exists(
    ctx: &BindContext<'_>,
    table: &TableDef,
    other: &TableDef,
    pairs: &[(String, String)],
    depends: &mut Depends,
) -> SqlResult<Cond> {
    let condition = Condition::Exists(Box::new(matching(other, pairs)));
    let mut binder = row_binder(ctx, table);
    let cond = binder.bind_cond(&condition)?;
    depends.extend(binder.depends);
    Ok(cond)
}

fn rows(
    ctx: &BindContext<'_>,
    table: &TableDef,
    other: &TableDef,
    pairs: &[(String, String)],
    depends: &mut Depends,
) -> SqlResult<crate::plan::Query> {
    let query = matching(other, pairs);
    let mut binder = row_binder(ctx, table);
    if let QueryBody::Select(spec) = &query.body {
        binder.through = Some(spec);
        binder.target_source = spec.from.first();
    }
    let query = binder.bind_nested(&query, QueryUse::Derived)?;
    depends.extend(binder.depends);
    Ok(query)
}

/// A binder whose level 0 is the row that is written.
fn row_binder<'a>(ctx: &BindContext<'a>, table: &TableDef) -> Binder<'a> {
    let mut binder = Binder::new(ctx);
    binder.push_scope(true);
    let scope = binder.scope();
    scope.clause = Clause::Where;
    let base = scope.allocate(table.columns.len());
    scope.sources.push(Source {
        exposed: ROW.to_owned(),
        qualifier: None,
        aliased: true,
        columns: table_columns(table, base),
        hidden: false,
        bare: false,
        qualified_only: false,
        leaf: Some(0),
    });
    scope.visible = 0..1;
    binder
}

/// `SELECT 1 AS one FROM other WHERE other.a = row.x AND …`. Foreign keys are checked under locks, also
/// where plain reads see versions.
fn matching(other: &TableDef, pairs: &[(String, String)]) -> QueryExpr {
    let equal = pairs.iter().map(|(o, r)| {
        let (left, right) = (column(OTHER, o), column(ROW, r));
        Condition::Compare(CompareOp::Eq, left, right)
    });
    let filter = equal.reduce(|a, b| Condition::And(Box::new(a), Box::new(b)));
    let from = TableSource::Named {
        name: name(&[&other.schema, &other.name]),
        alias: Some(ident(OTHER)),
        hints: vec![TableHint::ReadCommittedLock],
    };
    let one = SelectItem::Expr {
        expr: Expr {
            pos: Pos::default(),
            kind: ExprKind::Literal(Literal::Integer("1".to_owned())),
        },
        alias: Some(ident("one")),
    };
    QueryExpr {
        body: QueryBody::Select(Box::new(QuerySpec {
            distinct: false,
            top: None,
            items: vec![one],
            into: None,
            from: vec![from],
            filter,
            group_by: Vec::new(),
            grouping_sets: Vec::new(),
            having: None,
        })),
        order_by: Vec::new(),
        offset: None,
        fetch: None,
        for_json: None,
    }
}

fn column(table: &str, column: &str) -> Expr {
    Expr {
        pos: Pos::default(),
        kind: ExprKind::Column(name(&[table, column])),
    }
}

fn name(parts: &[&str]) -> ObjectName {
    ObjectName {
        parts: parts.iter().map(|p| ident(p)).collect(),
    }
}

fn ident(name: &str) -> Ident {
    Ident {
        name: name.to_owned(),
        pos: Pos::default(),
    }
}
