//! From the text of a batch or procedure to a module that can run.

use std::sync::Arc;

use crate::access::Latch;
use crate::ast::{ProcParam, Stmt};
use crate::bind::{self, BindContext, bind_scalars, resolve_type};
use crate::catalog::{Catalog, Database, Param, ProcedureDef};
use crate::context::Core;
use crate::error::{SqlError, SqlResult};
use crate::exec::constant;
use crate::parse::{ParseOptions, parse_batch};
use crate::plan::{BoundKind, Module, VariableMap};
use crate::value::{BareLength, CastMode, cast};

/// The compiled unit of a procedure, from the cache or new.
pub fn module_of(
    latch: &Latch<'_>,
    procedure: &Arc<ProcedureDef>,
    core: &Core,
) -> SqlResult<Arc<Module>> {
    if let Some(module) = core.engine.module(procedure.id, procedure.version) {
        return Ok(module);
    }
    let database = latch
        .catalog
        .databases
        .get(&core.database)
        .ok_or_else(|| SqlError::new(911, "The current database does not exist."))?;
    let variables = collect_variables(database, &procedure.params, &procedure.body)?;
    let module = Module::new(
        procedure.params.clone(),
        Arc::clone(&procedure.body),
        Arc::new(variables),
        procedure.id,
        procedure.name.clone(),
        procedure.quoted_identifier,
    );
    let qualified = format!("{}.{}", procedure.schema, procedure.name);
    let module = module.with_source(&procedure.text, qualified);
    let module = Arc::new(module.in_schema(&procedure.schema));
    core.engine
        .keep_module(procedure.id, procedure.version, &module);
    Ok(module)
}

/// Parses and prepares a text: a batch, EXEC ('…'), sp_executesql. Texts are kept, so that a
/// parameterised text is compiled once.
pub fn compile_text(text: &str, params: Vec<Param>, core: &Core) -> SqlResult<Arc<Module>> {
    let engine = Arc::clone(&core.engine);
    let key = format!(
        "{}\u{1}{}\u{1}{}\u{1}{}",
        core.database,
        core.user,
        u8::from(core.settings.quoted_identifier),
        text
    );
    if let Some(found) = engine.texts.lock().get(&key)
        && same_params(&found.params, &params)
    {
        return Ok(Arc::clone(found));
    }
    let catalog = engine.catalog();
    let database = catalog
        .databases
        .get(&core.database)
        .ok_or_else(|| SqlError::new(911, "The current database does not exist."))?;
    let options = ParseOptions {
        quoted_identifier: core.settings.quoted_identifier,
        open_json: database.has_open_json(),
    };
    let batch = parse_batch(text, options)?;
    let body = Arc::new(batch.statements);
    let variables = collect_variables(database, &params, &body)?;
    let module = Module::new(
        params,
        body,
        Arc::new(variables),
        0,
        String::new(),
        core.settings.quoted_identifier,
    );
    let module = Arc::new(module.with_source(text, String::new()));
    engine.keep_text(key, &module);
    Ok(module)
}

fn same_params(a: &[Param], b: &[Param]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(x, y)| x.name == y.name && x.ty == y.ty)
}

/// The parameter list of sp_executesql: `@a INT, @b NVARCHAR(20) OUTPUT`.
pub fn parse_parameters(text: &str, core: &Core) -> SqlResult<Vec<Param>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let declared = crate::parse::parse_parameters(text)?;
    let catalog = core.engine.catalog();
    let database = catalog
        .databases
        .get(&core.database)
        .ok_or_else(|| SqlError::new(911, "The current database does not exist."))?;
    declared
        .iter()
        .map(|p| bind_parameter(&catalog, database, p))
        .collect()
}

/// The variables of a unit: its parameters and what its statements declare.
pub fn collect_variables(
    database: &Database,
    params: &[Param],
    body: &[Stmt],
) -> SqlResult<VariableMap> {
    let params: Vec<_> = params
        .iter()
        .map(|p| (p.name.clone(), p.ty.clone()))
        .collect();
    bind::collect_variables(&params, body, database)
}

/// A declared parameter: its type, and its default as a value of that type.
pub fn bind_parameter(
    catalog: &Catalog,
    database: &Database,
    declared: &ProcParam,
) -> SqlResult<Param> {
    if declared.readonly {
        return Err(SqlError::unsupported("a table-valued parameter"));
    }
    let ty = resolve_type(&declared.ty, database.collation, BareLength::One)?;
    let default = match &declared.default {
        None => None,
        Some(expr) => {
            let context = BindContext {
                catalog,
                database,
                default_schema: "dbo",
                login: "",
                variables: &VariableMap::default(),
                quoted_identifier: true,
                temporaries: crate::catalog::TemporaryTables::none(),
                choices: None,
                interrupted: &crate::interrupt::never,
            };
            if let BoundKind::Scalars(list) = bind_scalars(&context, &[expr])?.kind {
                let value = constant(&list[0].expr)?;
                Some(cast(&value, &list[0].ty, &ty, None, CastMode::Assign)?)
            } else {
                None
            }
        }
    };
    Ok(Param {
        name: declared.name.clone(),
        ty,
        default,
        output: declared.output,
    })
}
