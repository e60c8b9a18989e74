//! FOREIGN KEY: from syntax to definition.

use std::collections::HashSet;
use std::sync::Arc;

use crate::ast::{ColumnDef, ConstraintKind, Ident, ObjectName, TableConstraint};
use crate::catalog::{
    Database, ForeignKeyDef, Home, LookUp, Object, ObjectId, TableDef, dotted, is_temporary,
};
use crate::error::{SqlError, SqlResult};
use crate::value::DataType;

use super::errors::not_created;

/// A FOREIGN KEY constraint as written.
pub(super) struct ForeignKey<'a> {
    pub(super) name: String,
    pub(super) system_named: bool,
    pub(super) columns: &'a [Ident],
    pub(super) parent: &'a ObjectName,
    /// Empty for the parent's primary key.
    pub(super) referenced: &'a [Ident],
    pub(super) cascade_delete: bool,
}

/// Adds a foreign key to a definition. One to the table itself has the table's id, 0 while it is new.
///
/// # Errors
///
/// 1763, 1767, 1769, 1770, 1773, 1776, 1778, 1785 or 8139, each followed by 1750.
pub(super) fn add_foreign_key(
    table: &mut TableDef,
    key: &ForeignKey<'_>,
    home: Home<'_>,
) -> SqlResult<()> {
    if is_temporary(&table.name) || table.name.starts_with('@') {
        return Err(SqlError::unsupported("FOREIGN KEY of a temporary table"));
    }
    let def = resolve(table, key, home).map_err(not_created)?;
    table.foreign_keys.push(def);
    if key.cascade_delete && cascades_meet(table, home.database) {
        return Err(not_created(SqlError::with(
            1785,
            16,
            0,
            format!(
                "Introducing FOREIGN KEY constraint '{}' on table '{}' may cause cycles or multiple \
                 cascade paths. Specify ON DELETE NO ACTION or ON UPDATE NO ACTION, or modify other \
                 FOREIGN KEY constraints.",
                key.name, table.name
            ),
        )));
    }
    Ok(())
}

fn resolve(table: &TableDef, key: &ForeignKey<'_>, home: Home<'_>) -> SqlResult<ForeignKeyDef> {
    let database = home.database;
    let own = (table.schema.as_str(), table.name.as_str());
    let found = find_parent(own, &key.name, key.parent, home)?;
    let parent = found.as_deref().unwrap_or(table);
    let shown = dotted(key.parent);
    let columns = columns(table, key.columns, database).map_err(|column| {
        SqlError::new(
            1769,
            format!(
                "Foreign key '{}' references invalid column '{column}' in referencing table '{}'.",
                key.name, table.name
            ),
        )
    })?;
    let referenced = if key.referenced.is_empty() {
        primary_key(parent).ok_or_else(|| {
            SqlError::with(
                1773,
                16,
                0,
                format!(
                    "Foreign key '{}' has implicit reference to object '{shown}' which does not have \
                     a primary key defined on it.",
                    key.name
                ),
            )
        })?
    } else {
        self::columns(parent, key.referenced, database).map_err(|column| {
            SqlError::new(
                1770,
                format!(
                    "Foreign key '{}' references invalid column '{column}' in referenced table \
                     '{shown}'.",
                    key.name
                ),
            )
        })?
    };
    if columns.len() != referenced.len() {
        return Err(SqlError::with(
            8139,
            16,
            0,
            format!(
                "Number of referencing columns in foreign key differs from number of referenced \
                 columns, table '{}'.",
                table.name
            ),
        ));
    }
    if !is_key(parent, &referenced) {
        return Err(SqlError::with(
            1776,
            16,
            0,
            format!(
                "There are no primary or candidate keys in the referenced table '{shown}' that match \
                 the referencing column list in the foreign key '{}'.",
                key.name
            ),
        ));
    }
    for (own, other) in columns.iter().zip(&referenced) {
        let (own, other) = (&table.columns[*own], &parent.columns[*other]);
        if !same_type(&own.ty, &other.ty) {
            return Err(SqlError::with(
                1778,
                16,
                0,
                format!(
                    "Column '{}.{}' is not the same data type as referencing column '{}.{}' in \
                     foreign key '{}'.",
                    shown, other.name, table.name, own.name, key.name
                ),
            ));
        }
    }
    let ids =
        |t: &TableDef, positions: &[usize]| positions.iter().map(|p| t.columns[*p].id).collect();
    Ok(ForeignKeyDef {
        id: 0,
        name: key.name.clone(),
        system_named: key.system_named,
        columns: ids(table, &columns),
        table: parent.id,
        referenced: ids(parent, &referenced),
        cascade_delete: key.cascade_delete,
    })
}

/// Whether a column may refer to another: the same type, where text may have another length.
fn same_type(a: &DataType, b: &DataType) -> bool {
    a == b || a.is_string() && a.name() == b.name() && a.collation() == b.collation()
}

/// The tables that foreign keys refer to, but for the table `own` (schema and name) and those that there are not.
pub fn referenced_tables(
    own: (&str, &str),
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    home: Home<'_>,
) -> Vec<ObjectId> {
    parents(columns, constraints)
        .filter_map(|parent| find_parent(own, "", parent, home).ok().flatten())
        .map(|table| table.id)
        .collect()
}

/// Where the tables that foreign keys refer to are looked for.
pub fn referenced_names(
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    home: Home<'_>,
) -> Vec<LookUp> {
    let places = parents(columns, constraints).filter_map(|parent| home.places(parent).ok()?);
    let names = places.flat_map(|places| {
        let schemas = std::iter::once(places.schema).chain(places.then);
        let schemas = schemas.filter_map(|schema| home.database.find_schema(schema));
        schemas.map(move |schema| home.database.look_up(schema.id, places.object))
    });
    names.collect()
}

/// The names behind REFERENCES.
fn parents<'c>(
    columns: &'c [ColumnDef],
    constraints: &'c [TableConstraint],
) -> impl Iterator<Item = &'c ObjectName> {
    let inline = columns.iter().flat_map(|c| &c.constraints);
    inline.chain(constraints).filter_map(|c| match &c.kind {
        ConstraintKind::ForeignKey { table, .. } => Some(table),
        ConstraintKind::PrimaryKey { .. }
        | ConstraintKind::Unique { .. }
        | ConstraintKind::Check(..)
        | ConstraintKind::Default { .. }
        | ConstraintKind::Index(_) => None,
    })
}

/// The table that a key of the table `own` (schema and name) refers to; `None` for the table itself. A name without schema is looked up where the user's names are,
/// even if the table itself is in another schema: `CREATE TABLE s.t (… REFERENCES t)` is 1767 unless the user has a `t`
/// (tools that rely on the table's schema fail so: github.com/dmtolpeko/sqlines/issues/12,
/// github.com/dotnet/efcore/issues/15813).
fn find_parent(
    own: (&str, &str),
    key: &str,
    parent: &ObjectName,
    home: Home<'_>,
) -> SqlResult<Option<Arc<TableDef>>> {
    let database = home.database;
    let Some(places) = home.places(parent)? else {
        let message = format!(
            "Cross-database foreign key references are not supported. Foreign key '{}'.",
            dotted(parent)
        );
        return Err(SqlError::with(1763, 16, 0, message));
    };
    for schema in std::iter::once(places.schema).chain(places.then) {
        let itself = database.fold(schema) == database.fold(own.0)
            && database.fold(places.object) == database.fold(own.1);
        if itself {
            return Ok(None);
        }
        if let Some(Object::Table(found)) = database.find_object(schema, places.object) {
            return Ok(Some(Arc::clone(found)));
        }
    }
    Err(SqlError::with(
        1767,
        16,
        0,
        format!(
            "Foreign key '{key}' references invalid table '{}'.",
            dotted(parent)
        ),
    ))
}

fn columns<'n>(
    table: &TableDef,
    names: &'n [Ident],
    database: &Database,
) -> Result<Vec<usize>, &'n str> {
    let position = |name: &'n Ident| {
        let wanted = database.fold(&name.name);
        let found = table
            .columns
            .iter()
            .position(|c| database.fold(&c.name) == wanted);
        found.ok_or(name.name.as_str())
    };
    names.iter().map(position).collect()
}

fn primary_key(table: &TableDef) -> Option<Vec<usize>> {
    let primary = |i: &&crate::catalog::IndexDef| i.constraint.as_ref().is_some_and(|k| k.primary);
    let index = table.indexes.iter().find(primary)?;
    Some(index.keys.iter().map(|(p, _)| *p).collect())
}

/// Whether a unique index without filter has just these columns, in any order.
fn is_key(table: &TableDef, columns: &[usize]) -> bool {
    table.indexes.iter().any(|index| {
        index.unique
            && index.filter.is_none()
            && index.keys.len() == columns.len()
            && index.keys.iter().all(|(p, _)| columns.contains(p))
    })
}

/// Whether a deletion could reach a table on two ways, once `table` is as defined here.
fn cascades_meet(table: &TableDef, database: &Database) -> bool {
    let mut edges: Vec<(ObjectId, ObjectId)> = Vec::new();
    let mut add = |t: &TableDef| {
        let cascading = t.foreign_keys.iter().filter(|k| k.cascade_delete);
        edges.extend(cascading.map(|k| (k.table, t.id)));
    };
    add(table);
    for object in database.objects.values() {
        if let Object::Table(other) = object
            && other.id != table.id
        {
            add(other);
        }
    }
    let starts: HashSet<ObjectId> = edges.iter().map(|(from, _)| *from).collect();
    starts.into_iter().any(|start| {
        let mut reached = HashSet::from([start]);
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            for (_, to) in edges.iter().filter(|(from, _)| *from == at) {
                if !reached.insert(*to) {
                    return true;
                }
                open.push(*to);
            }
        }
        false
    })
}
