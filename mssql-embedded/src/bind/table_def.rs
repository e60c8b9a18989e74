//! CREATE TABLE, DECLARE @t TABLE and ALTER TABLE ADD: from syntax to definition.

use std::sync::Arc;

use crate::ast::{ColumnDef, ConstraintKind, ObjectName, TableConstraint};
use crate::catalog::{
    Catalog, CheckDef, Column, Database, DefaultDef, ForeignKeyDef, KeyConstraint, TableDef,
};
use crate::error::{SqlError, SqlResult};
use crate::value::{BareLength, DataType};

use super::index_def::{IndexSpec, add_index, index_from_ast, nullable_key};
use super::rules::{bind_default, bind_row_rules, computed_type};
use super::{BindContext, VariableMap, errors, fold, resolve_collation, resolve_type};

/// What a new table is called and where it goes.
#[derive(Clone, Debug)]
pub struct TableName {
    /// The schema's id.
    pub schema_id: i32,
    /// The schema's name.
    pub schema: String,
    /// The table's name.
    pub name: String,
    /// The database's name.
    pub database: String,
}

impl TableName {
    /// A table variable, which is in no schema.
    pub fn variable(name: &str, database: &Database) -> Self {
        Self {
            schema_id: 0,
            schema: String::new(),
            name: name.to_owned(),
            database: database.name.clone(),
        }
    }
}

/// Makes the definition of a table. All ids are 0: the caller numbers the table and its constraints;
/// a foreign key to the table itself has table 0.
///
/// # Errors
///
/// What SQL Server refuses in a table definition: 2705, 2744, 8110, 8111, 1919 and others.
pub fn table_def_from_ast(
    name: &TableName,
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    database: &Database,
) -> SqlResult<TableDef> {
    let mut table = TableDef {
        id: 0,
        schema_id: name.schema_id,
        schema: name.schema.clone(),
        name: name.name.clone(),
        database: name.database.clone(),
        version: 1,
        columns: Vec::new(),
        indexes: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        lock_escalation: true,
        created_ms: 0,
        modified_ms: 0,
    };
    columns_from_ast(&mut table, columns, database)?;
    let inline = columns
        .iter()
        .flat_map(|c| c.constraints.iter().map(move |k| (k, Some(c))));
    let all: Vec<(&TableConstraint, Option<&ColumnDef>)> = inline
        .chain(constraints.iter().map(|k| (k, None)))
        .collect();
    // A PRIMARY KEY is clustered unless another key says that it is.
    let taken = all.iter().any(|(k, _)| match &k.kind {
        ConstraintKind::Unique { clustered, .. } => *clustered == Some(true),
        ConstraintKind::Index(index) => index.clustered,
        _ => false,
    });
    for (constraint, column) in all {
        refuse_null_key(&table, constraint, columns, database)?;
        let column = column.map(|c| c.name.name.as_str());
        add_one(&mut table, constraint, column, taken, database)?;
    }
    validate(&table, database)?;
    Ok(table)
}

/// 8111: a column declared NULL cannot be part of the PRIMARY KEY; one that says nothing becomes NOT
/// NULL by it.
fn refuse_null_key(
    table: &TableDef,
    constraint: &TableConstraint,
    columns: &[ColumnDef],
    database: &Database,
) -> SqlResult<()> {
    let ConstraintKind::PrimaryKey { columns: keys, .. } = &constraint.kind else {
        return Ok(());
    };
    let same = |a: &str, b: &str| fold(database, a) == fold(database, b);
    let declared_null = |name: &str| {
        columns
            .iter()
            .any(|c| same(&c.name.name, name) && c.nullable == Some(true))
    };
    if keys.iter().any(|k| declared_null(&k.name.name)) {
        return Err(nullable_key(table));
    }
    Ok(())
}

/// Appends columns to a definition, without their inline constraints.
///
/// # Errors
///
/// 2705 for a name used twice, 2744 for a second identity column, and those of each column.
pub fn columns_from_ast(
    table: &mut TableDef,
    columns: &[ColumnDef],
    database: &Database,
) -> SqlResult<()> {
    for def in columns {
        let folded = fold(database, &def.name.name);
        if table
            .columns
            .iter()
            .any(|c| fold(database, &c.name) == folded)
        {
            return Err(SqlError::with(
                2705,
                16,
                3,
                format!(
                    "Column names in each table must be unique. Column name '{}' in table '{}' is \
                     specified more than once.",
                    def.name.name, table.name
                ),
            ));
        }
        if def.identity.is_some() && table.columns.iter().any(|c| c.identity.is_some()) {
            return Err(SqlError::with(
                2744,
                16,
                2,
                format!(
                    "Multiple identity columns specified for table '{}'. Only one identity column per \
                     table is allowed.",
                    table.name
                ),
            ));
        }
        let column = column_from_ast(table, def, database)?;
        table.columns.push(column);
    }
    Ok(())
}

/// Makes one column that follows those the table has.
///
/// # Errors
///
/// 2715 and the like for its type, 2749 and 8147 for an identity column that cannot be one.
pub fn column_from_ast(
    table: &TableDef,
    def: &ColumnDef,
    database: &Database,
) -> SqlResult<Column> {
    let name = &def.name.name;
    let id = table.columns.iter().map(|c| c.id).max().unwrap_or(0) + 1;
    let (ty, nullable) = column_type(table, def, database)?;
    if def.identity.is_some() {
        let fits = ty.is_integer() || matches!(ty, DataType::Decimal { scale: 0, .. });
        if !fits {
            return Err(SqlError::with(
                2749,
                16,
                2,
                format!(
                    "Identity column '{name}' must be of data type int, bigint, smallint, tinyint, or \
                     decimal or numeric with a scale of 0, unencrypted, and constrained to be \
                     nonnullable."
                ),
            ));
        }
        if def.nullable == Some(true) {
            return Err(SqlError::new(
                8147,
                format!(
                    "Could not create IDENTITY attribute on nullable column '{name}', table '{}'.",
                    table.name
                ),
            ));
        }
    }
    let default = def.default.as_ref().map(|(given, expr, text)| DefaultDef {
        id: 0,
        name: given.as_ref().map_or_else(
            || auto_name("DF", &table.name, Some(name), table.columns.len()),
            |n| n.name.clone(),
        ),
        system_named: given.is_none(),
        expr: Arc::new(expr.clone()),
        text: text.clone(),
    });
    let computed = def.computed.as_ref().map(|expr| {
        let text = def.computed_text.clone().unwrap_or_default();
        (Arc::new(expr.clone()), text, def.persisted)
    });
    Ok(Column {
        id,
        name: name.clone(),
        ty,
        nullable,
        identity: def.identity,
        default,
        computed,
    })
}

fn column_type(
    table: &TableDef,
    def: &ColumnDef,
    database: &Database,
) -> SqlResult<(DataType, bool)> {
    if let Some(expr) = &def.computed {
        let (catalog, variables) = (Catalog::default(), VariableMap::default());
        let ctx = context(&catalog, &variables, database);
        let (ty, nullable) = computed_type(&ctx, table, expr)?;
        return Ok((ty, def.nullable.unwrap_or(nullable)));
    }
    let Some(ty) = &def.ty else {
        return Err(SqlError::with(
            173,
            15,
            1,
            format!(
                "The definition for column '{}' must include a data type.",
                def.name.name
            ),
        ));
    };
    let collation = match &def.collate {
        Some(name) => resolve_collation(name, database.collation)?,
        None => database.collation,
    };
    let ty = resolve_type(ty, collation, BareLength::One)?;
    if def.collate.is_some() && !ty.is_string() {
        return Err(SqlError::with(
            452,
            16,
            1,
            "COLLATE clause cannot be used on expressions containing a COLLATE clause or a type that \
             is not text.",
        ));
    }
    Ok((ty, def.nullable.unwrap_or(def.identity.is_none())))
}

/// Where expressions of a definition are bound: no variables, no other tables.
fn context<'a>(
    catalog: &'a Catalog,
    variables: &'a VariableMap,
    database: &'a Database,
) -> BindContext<'a> {
    BindContext {
        catalog,
        database,
        default_schema: "dbo",
        variables,
        quoted_identifier: true,
    }
}

/// Binds every expression of the definition once, so that a wrong one is refused now.
fn validate(table: &TableDef, database: &Database) -> SqlResult<()> {
    let (catalog, variables) = (Catalog::default(), VariableMap::default());
    let ctx = context(&catalog, &variables, database);
    bind_row_rules(&ctx, table)?;
    for column in &table.columns {
        bind_default(&ctx, column)?;
    }
    Ok(())
}

/// Adds a constraint to an existing definition (ALTER TABLE ADD CONSTRAINT).
///
/// # Errors
///
/// As [`table_def_from_ast`].
pub fn add_constraint(
    table: &mut TableDef,
    constraint: &TableConstraint,
    column: Option<&str>,
    database: &Database,
) -> SqlResult<()> {
    let taken = table.indexes.iter().any(|i| i.clustered);
    add_one(table, constraint, column, taken, database)?;
    validate(table, database)
}

fn add_one(
    table: &mut TableDef,
    constraint: &TableConstraint,
    column: Option<&str>,
    clustered_taken: bool,
    database: &Database,
) -> SqlResult<()> {
    let given = constraint.name.as_ref().map(|n| n.name.clone());
    let system_named = given.is_none();
    let count = table.indexes.len() + table.checks.len() + table.foreign_keys.len();
    let name = |prefix: &str| {
        given
            .clone()
            .unwrap_or_else(|| auto_name(prefix, &table.name, column, count))
    };
    match &constraint.kind {
        ConstraintKind::PrimaryKey {
            clustered,
            columns,
            options,
        } => {
            let key = KeyConstraint {
                id: 0,
                primary: true,
                system_named,
            };
            if table
                .indexes
                .iter()
                .any(|i| i.constraint.as_ref().is_some_and(|k| k.primary))
            {
                return Err(SqlError::with(
                    8110,
                    16,
                    0,
                    format!(
                        "Cannot add multiple PRIMARY KEY constraints to table '{}'.",
                        table.name
                    ),
                ));
            }
            let spec = IndexSpec {
                name: given
                    .clone()
                    .unwrap_or_else(|| auto_name("PK", &table.name, None, count)),
                unique: true,
                clustered: clustered.unwrap_or(!clustered_taken),
                columns,
                options,
                constraint: Some(key),
            };
            add_index(table, spec, database).map(|_| ())
        }
        ConstraintKind::Unique {
            clustered,
            columns,
            options,
        } => {
            let spec = IndexSpec {
                name: given
                    .clone()
                    .unwrap_or_else(|| auto_name("UQ", &table.name, None, count)),
                unique: true,
                clustered: clustered.unwrap_or(false),
                columns,
                options,
                constraint: Some(KeyConstraint {
                    id: 0,
                    primary: false,
                    system_named,
                }),
            };
            add_index(table, spec, database).map(|_| ())
        }
        ConstraintKind::Check(condition, text) => {
            let check = CheckDef {
                id: 0,
                name: name("CK"),
                system_named,
                condition: Arc::new(condition.clone()),
                text: text.clone(),
                column: column.map(str::to_owned),
            };
            table.checks.push(check);
            Ok(())
        }
        ConstraintKind::ForeignKey {
            columns,
            table: other,
            referenced,
            cascade_delete,
        } => {
            let name = name("FK");
            let positions = positions(
                table,
                columns.iter().map(|c| c.name.as_str()),
                database,
                1769,
            )?;
            let (id, referenced) = referenced_key(table, other, referenced, &name, database)?;
            if referenced.len() != positions.len() {
                return Err(SqlError::new(
                    8139,
                    format!(
                        "Number of referencing columns in foreign key differs from number of \
                         referenced columns, table '{}'.",
                        table.name
                    ),
                ));
            }
            table.foreign_keys.push(ForeignKeyDef {
                id: 0,
                name,
                system_named,
                columns: positions,
                table: id,
                referenced,
                cascade_delete: *cascade_delete,
            });
            Ok(())
        }
        ConstraintKind::Default { expr, text, column } => {
            let position = positions(table, [column.name.as_str()].into_iter(), database, 1752)?;
            let target = &table.columns[position[0]];
            if target.default.is_some() {
                return Err(SqlError::new(
                    1781,
                    "Column already has a DEFAULT bound to it.",
                ));
            }
            let name =
                given.unwrap_or_else(|| auto_name("DF", &table.name, Some(&column.name), count));
            let expr = Arc::new(expr.clone());
            table.columns[position[0]].default = Some(DefaultDef {
                id: 0,
                name,
                system_named,
                expr,
                text: text.clone(),
            });
            Ok(())
        }
        ConstraintKind::Index(index) => index_from_ast(table, index, database).map(|_| ()),
    }
}

fn positions<'n>(
    table: &TableDef,
    names: impl Iterator<Item = &'n str>,
    database: &Database,
    number: i32,
) -> SqlResult<Vec<usize>> {
    names
        .map(|name| {
            let folded = fold(database, name);
            table
                .columns
                .iter()
                .position(|c| fold(database, &c.name) == folded)
                .ok_or_else(|| {
                    SqlError::new(
                        number,
                        format!(
                            "Column '{name}' does not exist in table '{}' or cannot be used here.",
                            table.name
                        ),
                    )
                })
        })
        .collect()
}

/// The table and key columns that a foreign key refers to; id 0 is the table itself.
fn referenced_key(
    table: &TableDef,
    other: &ObjectName,
    columns: &[crate::ast::Ident],
    key: &str,
    database: &Database,
) -> SqlResult<(i32, Vec<usize>)> {
    let last = other.parts.last().map_or("", |p| p.name.as_str());
    let schema = match other.parts.as_slice() {
        [.., schema, _] => schema.name.as_str(),
        _ => table.schema.as_str(),
    };
    let own = fold(database, last) == fold(database, &table.name)
        && fold(database, schema) == fold(database, &table.schema);
    let found = database
        .schema_names
        .get(&fold(database, schema))
        .and_then(|id| database.object_names.get(&(*id, fold(database, last))))
        .and_then(|id| database.objects.get(id));
    let target: &TableDef = match found {
        _ if own => table,
        Some(crate::catalog::Object::Table(t)) => t,
        _ => {
            return Err(SqlError::with(
                1767,
                16,
                0,
                format!(
                    "Foreign key '{key}' references invalid table '{}'.",
                    errors::dotted(other)
                ),
            ));
        }
    };
    let wanted = if columns.is_empty() {
        let primary = target
            .indexes
            .iter()
            .find(|i| i.constraint.as_ref().is_some_and(|k| k.primary));
        primary
            .map(|i| i.keys.iter().map(|k| k.0).collect())
            .unwrap_or_default()
    } else {
        positions(
            target,
            columns.iter().map(|c| c.name.as_str()),
            database,
            1770,
        )?
    };
    let mut sorted = wanted.clone();
    sorted.sort_unstable();
    let is_key = target.indexes.iter().any(|i| {
        let mut keys: Vec<usize> = i.keys.iter().map(|k| k.0).collect();
        keys.sort_unstable();
        i.unique && i.filter.is_none() && keys == sorted
    });
    if !is_key {
        return Err(SqlError::with(
            1776,
            16,
            0,
            format!(
                "There are no primary or candidate keys in the referenced table '{}' that match the \
                 referencing column list in the foreign key '{key}'.",
                errors::dotted(other)
            ),
        ));
    }
    Ok((if own { 0 } else { target.id }, wanted))
}

/// A name like those SQL Server gives to constraints that have none: kind, table, column, and a
/// number in hexadecimal that depends on all of them and on `count`.
pub fn auto_name(prefix: &str, table: &str, column: Option<&str>, count: usize) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let text = format!("{prefix}\0{table}\0{}\0{count}", column.unwrap_or_default());
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let start = |s: &str, n: usize| s.chars().take(n).collect::<String>();
    match column {
        Some(column) => {
            format!(
                "{prefix}__{}__{}__{:08X}",
                start(table, 9),
                start(column, 5),
                hash as u32
            )
        }
        None => format!("{prefix}__{}__{hash:016X}", start(table, 9)),
    }
}
