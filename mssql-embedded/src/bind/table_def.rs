//! CREATE TABLE, DECLARE @t TABLE and ALTER TABLE ADD: from syntax to definition.

use std::collections::HashSet;
use std::sync::Arc;

use crate::ast::{ColumnDef, ConstraintKind, TableConstraint, TypeName};
use crate::catalog::{Catalog, Column, Database, DefaultDef, Home, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::interrupt::{Asking, stop_if};
use crate::plan::VariableMap;
use crate::value::{BareLength, DataType};

use super::BindContext;
use super::column_def;
use super::constraint::{add_one, auto_name, constraint_names, has_primary_key};
use super::errors::not_created;
use super::index_def::nullable_key;
use super::row_size::check_row_size;
use super::rules::{bind_default, bind_row_rules, computed_type, context};
use super::{resolve_collation, resolve_type};

/// How many columns a table may have ("Maximum capacity specifications for SQL Server").
pub const COLUMNS_MAX: usize = 1024;

/// What a new table is called and where it goes.
#[derive(Clone, Debug)]
pub struct TableName {
    pub schema_id: i32,
    pub schema: String,
    pub name: String,
    pub database: String,
}

impl TableName {
    /// A table variable, which is in no schema; messages call it `dbo.@name`.
    pub fn variable(name: &str, database: &Database) -> Self {
        Self {
            schema_id: 0,
            schema: "dbo".to_owned(),
            name: name.to_owned(),
            database: database.name.clone(),
        }
    }

    /// The definition of a table of this name with nothing but columns, not yet numbered.
    pub fn table(self, columns: Vec<Column>) -> TableDef {
        TableDef {
            id: 0,
            schema_id: self.schema_id,
            schema: self.schema,
            name: self.name,
            database: self.database,
            version: 1,
            columns,
            indexes: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            referenced_by: Vec::new(),
            lock_escalation: true,
            created_ms: 0,
            modified_ms: 0,
        }
    }
}

/// Makes the definition of a table. All ids are 0: the caller numbers the table and its constraints;
/// a foreign key to the table itself has table 0.
///
/// # Errors
///
/// What SQL Server refuses in a table definition: 1702, 2705, 2744, 8110, 8111, 1919 and others; besides, that of
/// `interrupted`, which is asked at each column and each constraint.
pub fn table_def_from_ast(
    name: &TableName,
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    home: Home<'_>,
    interrupted: Asking<'_>,
) -> SqlResult<TableDef> {
    let mut table = name.clone().table(Vec::new());
    columns_from_ast(&mut table, columns, home.database, interrupted)?;
    add_constraints(&mut table, columns, constraints, home, interrupted)?;
    Ok(table)
}

/// Adds columns and constraints to the definition of a table that exists (ALTER TABLE ADD).
///
/// # Errors
///
/// As [`table_def_from_ast`], and 1779 for a second primary key.
pub fn add_to_table(
    table: &mut TableDef,
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    home: Home<'_>,
    interrupted: Asking<'_>,
) -> SqlResult<()> {
    columns_from_ast(table, columns, home.database, interrupted)?;
    let mut all = (columns.iter().flat_map(|c| &c.constraints)).chain(constraints);
    let primary = |c: &TableConstraint| matches!(c.kind, ConstraintKind::PrimaryKey { .. });
    if has_primary_key(table) && all.any(primary) {
        let message = format!(
            "Table '{}' already has a primary key defined on it.",
            table.name
        );
        return Err(not_created(SqlError::with(1779, 16, 0, message)));
    }
    add_constraints(table, columns, constraints, home, interrupted)
}

/// Adds constraints, those of the new columns first, and checks the definition. A constraint that is written at a column
/// is the table's.
fn add_constraints(
    table: &mut TableDef,
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    home: Home<'_>,
    interrupted: Asking<'_>,
) -> SqlResult<()> {
    let database = home.database;
    let inline = columns
        .iter()
        .flat_map(|c| c.constraints.iter().map(move |k| (k, Some(c))));
    let all: Vec<(&TableConstraint, Option<&ColumnDef>)> = inline
        .chain(constraints.iter().map(|k| (k, None)))
        .collect();
    // A PRIMARY KEY is clustered unless another key says that it is.
    let mut taken = table.indexes.iter().any(|i| i.clustered);
    taken |= all.iter().any(|(k, _)| match &k.kind {
        ConstraintKind::Unique { clustered, .. } => *clustered == Some(true),
        ConstraintKind::Index(index) => index.clustered,
        ConstraintKind::PrimaryKey { .. }
        | ConstraintKind::Check(..)
        | ConstraintKind::ForeignKey { .. }
        | ConstraintKind::Default { .. } => false,
    });
    let mut names: HashSet<String> = constraint_names(table).map(|n| database.fold(n)).collect();
    for (constraint, column) in all {
        stop_if(interrupted())?;
        refuse_null_key(table, constraint, columns, database)?;
        let column = column.map(|c| c.name.name.as_str());
        add_one(table, constraint, column, taken, &mut names, home)?;
    }
    column_def::check_names(table, database)?;
    validate(table, database, interrupted)
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
    let nullable = columns.iter().filter(|c| c.nullable == Some(true));
    let nullable: HashSet<String> = nullable.map(|c| database.fold(&c.name.name)).collect();
    let declared_null = |name: &str| nullable.contains(&database.fold(name));
    if keys.iter().any(|k| declared_null(&k.name.name)) {
        return Err(not_created(nullable_key(table)));
    }
    Ok(())
}

/// Appends columns to a definition, without their inline constraints.
///
/// # Errors
///
/// 1702 for too many, 2705 for a name used twice, 2744 for a second identity column, and those of each column.
fn columns_from_ast(
    table: &mut TableDef,
    columns: &[ColumnDef],
    database: &Database,
    interrupted: Asking<'_>,
) -> SqlResult<()> {
    let known = table.columns.iter();
    let mut names: HashSet<String> = known.map(|c| database.fold(&c.name)).collect();
    for def in columns {
        stop_if(interrupted())?;
        check_count(table.columns.len(), &def.name.name, &table.name)?;
        if !names.insert(database.fold(&def.name.name)) {
            return Err(column_twice(&def.name.name, &table.name));
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
        column_def::check(table, def, &column, database)?;
        table.columns.push(column);
    }
    Ok(())
}

/// 2705: two columns of one name.
pub fn column_twice(column: &str, table: &str) -> SqlError {
    SqlError::with(
        2705,
        16,
        3,
        format!(
            "Column names in each table must be unique. Column name '{column}' in table '{table}' is \
             specified more than once."
        ),
    )
}

/// 1702: a column for which a table that has so many has no place.
pub fn check_count(columns: usize, column: &str, table: &str) -> SqlResult<()> {
    if columns < COLUMNS_MAX {
        return Ok(());
    }
    Err(SqlError::new(
        1702,
        format!(
            "CREATE TABLE failed because column '{column}' in table '{table}' exceeds the maximum of \
             {COLUMNS_MAX} columns."
        ),
    ))
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
    column_def::check_written(table, def)?;
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
        sysname: def.ty.as_ref().is_some_and(TypeName::is_sysname),
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
    // "By default, sysname is NOT NULL", unlike the NVARCHAR(128) that it is otherwise.
    let sysname = ty.is_sysname();
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
    // "If nullability isn't specified, all columns participating in a PRIMARY KEY constraint have their
    // nullability set to NOT NULL."
    let key = |c: &TableConstraint| matches!(c.kind, ConstraintKind::PrimaryKey { .. });
    let nullable = def.identity.is_none() && !sysname && !def.constraints.iter().any(key);
    Ok((ty, def.nullable.unwrap_or(nullable)))
}

/// Binds every expression of the definition once, so that a wrong one is refused now, as is a row that is too large.
fn validate(table: &TableDef, database: &Database, interrupted: Asking<'_>) -> SqlResult<()> {
    check_row_size(table)?;
    let (catalog, variables) = (Catalog::default(), VariableMap::default());
    let ctx = BindContext {
        interrupted,
        ..context(&catalog, &variables, database)
    };
    let rules = bind_row_rules(&ctx, table)?;
    for (check, condition) in table.checks.iter().zip(&rules.checks) {
        column_def::check_reads(table, check, condition, database)?;
    }
    for column in &table.columns {
        bind_default(&ctx, column)?;
    }
    Ok(())
}
