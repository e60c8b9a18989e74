//! What a column of a table definition may not be.

use crate::ast::{ColumnDef, ConstraintKind, Repeated};
use crate::catalog::{Catalog, CheckDef, Column, Database, TableDef, name_taken};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Cond, Part, VariableMap};
use crate::value::DataType;

use super::constraint::constraint_names;
use super::errors::not_created;
use super::rules::{computed_parts, context};

/// Refuses properties that contradict each other, as they are written.
pub(super) fn check_written(table: &TableDef, def: &ColumnDef) -> SqlResult<()> {
    let (column, table) = (&def.name.name, &table.name);
    let refuse = |number, message: String| Err(SqlError::with(number, 16, 0, message));
    let repeated = match def.repeated {
        Some(Repeated::Default) => Some((
            8148,
            "More than one column DEFAULT constraint specified".to_owned(),
        )),
        Some(Repeated::Nullability) => {
            Some((8150, "Multiple NULL constraints were specified".to_owned()))
        }
        None => None,
    };
    let twice = || {
        let kind = twice(def)?;
        Some((
            8148,
            format!("More than one column {kind} constraint specified"),
        ))
    };
    if let Some((number, what)) = repeated.or_else(twice) {
        let message = format!("{what} for column '{column}', table '{table}'.");
        return refuse(number, message);
    }
    let primary = |k: &ConstraintKind| matches!(k, ConstraintKind::PrimaryKey { .. });
    let unique = |k: &ConstraintKind| matches!(k, ConstraintKind::Unique { .. });
    let any = |is: &dyn Fn(&ConstraintKind) -> bool| def.constraints.iter().any(|c| is(&c.kind));
    if any(&primary) && any(&unique) {
        let message = format!(
            "Both a PRIMARY KEY and UNIQUE constraint have been defined for column '{column}', table \
             '{table}'. Only one is allowed."
        );
        return refuse(8151, message);
    }
    if def.identity.is_some() && def.default.is_some() {
        let message = format!(
            "Defaults cannot be created on columns with an IDENTITY attribute. Table '{table}', column \
             '{column}'."
        );
        return Err(not_created(SqlError::with(1754, 16, 0, message)));
    }
    Ok(())
}

/// The kind of constraint that a column has two of.
fn twice(def: &ColumnDef) -> Option<&'static str> {
    let mut seen = Vec::new();
    for constraint in &def.constraints {
        let kind = match constraint.kind {
            ConstraintKind::PrimaryKey { .. } => "PRIMARY KEY",
            ConstraintKind::Unique { .. } => "UNIQUE",
            ConstraintKind::Check(..) => "CHECK",
            ConstraintKind::ForeignKey { .. }
            | ConstraintKind::Default { .. }
            | ConstraintKind::Index(_) => continue,
        };
        if seen.contains(&kind) {
            return Some(kind);
        }
        seen.push(kind);
    }
    None
}

/// Refuses what a column's type and the columns before it do not allow.
pub(super) fn check(
    table: &TableDef,
    def: &ColumnDef,
    column: &Column,
    database: &Database,
) -> SqlResult<()> {
    check_identity(column)?;
    let Some(expr) = &def.computed else {
        return Ok(());
    };
    let (catalog, variables) = (Catalog::default(), VariableMap::default());
    let ctx = context(&catalog, &variables, database);
    let (mut computed, mut varies) = (None, false);
    computed_parts(&ctx, table, expr, &mut |part| match part {
        Part::Slot { slot, .. } => {
            computed = computed.or(table.columns.get(slot).filter(|c| c.computed.is_some()));
        }
        Part::Call(function) => varies |= !function.is_deterministic(),
        Part::Given | Part::Working => {}
    })?;
    if let Some(used) = computed {
        let message = format!(
            "Computed column '{}' in table '{}' is not allowed to be used in another computed-column \
             definition.",
            used.name, table.name
        );
        return Err(SqlError::with(1759, 16, 0, message));
    }
    if def.persisted && varies {
        let message = format!(
            "Computed column '{}' in table '{}' cannot be persisted because the column is \
             non-deterministic.",
            column.name, table.name
        );
        return Err(SqlError::new(4936, message));
    }
    Ok(())
}

/// Refuses a CHECK of a column that reads another column, and one that reads a computed column that is not stored.
pub(super) fn check_reads(
    table: &TableDef,
    check: &CheckDef,
    condition: &Cond,
    database: &Database,
) -> SqlResult<()> {
    let own = |c: &Column| {
        let same = |name: &String| database.fold(name) == database.fold(&c.name);
        check.column.as_ref().is_none_or(same)
    };
    let (mut computed, mut other) = (None, false);
    condition.each_part(&mut |part| {
        if let Part::Slot { slot, .. } = part
            && let Some(column) = table.columns.get(slot)
        {
            let stored = column
                .computed
                .as_ref()
                .is_none_or(|(_, _, stored)| *stored);
            if !stored {
                computed = computed.or(Some(column));
            }
            other |= !own(column);
        }
    });
    if let Some(column) = computed {
        if check.column.is_some() && own(column) {
            return Err(SqlError::new(
                8183,
                "Only UNIQUE or PRIMARY KEY constraints can be created on computed columns, while CHECK, FOREIGN KEY, and \
                 NOT NULL constraints require that computed columns be persisted.",
            ));
        }
        let message = format!(
            "Computed Column '{}' in table '{}' is invalid for use in 'CHECK CONSTRAINT' because it is not persisted.",
            column.name, table.name
        );
        return Err(not_created(SqlError::new(1764, message)));
    }
    match &check.column {
        Some(column) if other => {
            let message = format!(
                "Column CHECK constraint for column '{column}' references another column, table '{}'.",
                table.name
            );
            Err(not_created(SqlError::with(8141, 16, 0, message)))
        }
        Some(_) | None => Ok(()),
    }
}

/// 2752 and 2753: both numbers of IDENTITY fit the type, and the second moves on.
fn check_identity(column: &Column) -> SqlResult<()> {
    let Some((seed, increment)) = column.identity else {
        return Ok(());
    };
    let fits = |n: i64| {
        if let DataType::Decimal { precision, .. } = column.ty {
            let digits = n.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
            return digits <= u32::from(precision);
        }
        // Any number here fits BIGINT, and no other type has an identity.
        !(column.ty == DataType::TinyInt && u8::try_from(n).is_err()
            || column.ty == DataType::SmallInt && i16::try_from(n).is_err()
            || column.ty == DataType::Int && i32::try_from(n).is_err())
    };
    let invalid = |number, what: &str| {
        let message = format!("Identity column '{}' contains invalid {what}.", column.name);
        Err(SqlError::new(number, message))
    };
    if !fits(seed) {
        return invalid(2752, "SEED");
    }
    // A TINYINT can count down, so its increment is only held to have one byte.
    if increment == 0 || !fits(increment.saturating_abs()) {
        return invalid(2753, "INCREMENT");
    }
    Ok(())
}

/// 2714: constraints of one table have different names.
pub(super) fn check_names(table: &TableDef, database: &Database) -> SqlResult<()> {
    let mut seen = std::collections::HashSet::new();
    for name in constraint_names(table) {
        if !seen.insert(database.fold(name)) {
            return Err(not_created(name_taken(name, 5)));
        }
    }
    Ok(())
}
