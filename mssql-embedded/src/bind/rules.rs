//! What a table demands of its rows: computed columns, checks, filters, defaults.

use std::sync::Arc;

use crate::catalog::{Catalog, Column, Database, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Part, RowRules, Scalar, VariableMap};
use crate::value::DataType;
use crate::value::precedence::check_implicit;

use super::BindContext;
use super::context::Binder;
use super::scope::{Clause, Source, table_columns};

/// Binds the rules of a table: slots 0… of level 0 are its columns.
///
/// # Errors
///
/// What the expressions of its constraints are refused for; they have been bound once before, when
/// the table was defined.
pub fn bind_row_rules<'a>(ctx: &BindContext<'a>, table: &'a TableDef) -> SqlResult<Arc<RowRules>> {
    let mut binder = row_binder(&ctx.home_of(table), table)?;
    let mut rules = RowRules::default();
    for (i, column) in table.columns.iter().enumerate() {
        if let Some((expr, _, _)) = &column.computed {
            ctx.go_on()?;
            let ex = binder.bind_expr(expr)?;
            rules.computed.push((i, ex.expr, ex.ty));
        }
    }
    for check in &table.checks {
        ctx.go_on()?;
        rules.checks.push(binder.bind_cond(&check.condition)?);
    }
    for index in &table.indexes {
        rules.filters.push(match &index.filter {
            Some((cond, _)) => Some(binder.bind_cond(cond)?),
            None => None,
        });
    }
    Ok(Arc::new(rules))
}

/// The type and nullability of a computed column's expression.
pub(super) fn computed_type<'a>(
    ctx: &BindContext<'a>,
    table: &'a TableDef,
    expr: &'a crate::ast::Expr,
) -> SqlResult<(DataType, bool)> {
    let ex = row_binder(ctx, table)?.bind_expr(expr)?;
    Ok((ex.ty, ex.nullable))
}

/// Calls `f` with everything that a computed column's expression reads: slot n is the column at n.
pub(super) fn computed_parts<'a>(
    ctx: &BindContext<'a>,
    table: &'a TableDef,
    expr: &'a crate::ast::Expr,
    f: &mut dyn FnMut(Part),
) -> SqlResult<()> {
    let ex = row_binder(ctx, table)?.bind_expr(expr)?;
    ex.expr.each_part(f);
    Ok(())
}

/// Binds the DEFAULT of a column and checks that it converts to the column's type.
///
/// # Errors
///
/// 128 when it names a column, 206 or 257 when it does not convert.
pub fn bind_default<'a>(
    ctx: &BindContext<'a>,
    column: &'a Column,
) -> SqlResult<Option<(Scalar, DataType)>> {
    let Some(default) = &column.default else {
        return Ok(None);
    };
    let mut binder = Binder::new(ctx);
    binder.push_scope(true);
    let ex = binder.in_clause(Clause::Rule, |b| b.bind_expr(&default.expr)).map_err(|e| {
        if e.number != 207 {
            return e;
        }
        SqlError::with(
            128,
            15,
            1,
            "The name is not permitted in this context. Valid expressions are constants, constant \
             expressions, and (in some contexts) variables. Column names are not permitted.",
        )
    })?;
    check_implicit(&ex.ty, &column.ty)?;
    Ok(Some((ex.expr, ex.ty)))
}

/// A binder whose level 0 is a row of the table.
fn row_binder<'a>(ctx: &BindContext<'a>, table: &'a TableDef) -> SqlResult<Binder<'a>> {
    let mut binder = Binder::new(ctx);
    binder.push_scope(true);
    let scope = binder.scope();
    scope.clause = Clause::Rule;
    let base = scope.allocate(table.columns.len());
    binder.add_source(Source {
        exposed: table.name.clone(),
        qualifier: Some((table.schema.clone(), table.database.clone())),
        aliased: false,
        columns: table_columns(table, base),
        hidden: false,
        bare: false,
        qualified_only: false,
        leaf: Some(0),
    })?;
    binder.scope().visible = 0..1;
    Ok(binder)
}

/// Where expressions of a definition are bound: no variables, no other tables.
pub(super) fn context<'a>(
    catalog: &'a Catalog,
    variables: &'a VariableMap,
    database: &'a Database,
) -> BindContext<'a> {
    BindContext {
        catalog,
        database,
        default_schema: "dbo",
        login: "",
        variables,
        quoted_identifier: true,
        temporaries: crate::catalog::TemporaryTables::none(),
        choices: None,
        looked_up: None,
        interrupted: &crate::interrupt::never,
    }
}
