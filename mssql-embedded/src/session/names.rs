//! Finding objects by name, entering databases, compiling texts.

use std::sync::Arc;

use crate::access::Latch;
use crate::ast::{ObjectName, ProcParam, Stmt};
use crate::bind::{BindContext, VariableMap, bind_scalars, resolve_type};
use crate::catalog::{
    Catalog, Database, Object, ObjectId, Param, ProcedureDef, TableDef, is_temporary,
};
use crate::engine::State;
use crate::error::{SqlError, SqlResult};
use crate::exec::{Frame, constant};
use crate::parse::{ParseOptions, parse_batch};
use crate::plan::BoundKind;
use crate::value::{BareLength, CastMode, cast};

use super::{Core, Module, login};

/// The default schema of a user.
pub fn default_schema(database: &Database, user: i32) -> String {
    database
        .principals
        .get(&user)
        .and_then(|p| p.default_schema.clone())
        .unwrap_or_else(|| "dbo".to_owned())
}

/// Schema and object part of a name; a database part must be the current one.
fn split<'n>(core: &Core, name: &'n ObjectName) -> SqlResult<(Option<&'n str>, &'n str)> {
    let (database, schema, object) = match name.parts.as_slice() {
        [o] => (None, None, o),
        [s, o] => (None, Some(s), o),
        [d, s, o] => (Some(d), Some(s), o),
        _ => return Err(SqlError::unsupported("a four-part name")),
    };
    if let Some(database) = database.filter(|d| login::fold(&d.name) != core.database) {
        return Err(SqlError::unsupported(format!(
            "a name in another database ({})",
            database.name
        )));
    }
    Ok((
        schema.map(|s| s.name.as_str()).filter(|s| !s.is_empty()),
        &object.name,
    ))
}

/// An object by name: in the given schema, or the default schema and then dbo.
pub fn resolve_object<'l>(
    latch: &'l State,
    core: &Core,
    frame: &Frame,
    name: &ObjectName,
) -> SqlResult<Option<&'l Object>> {
    if let Some(last) = name.parts.last()
        && is_temporary(&last.name)
    {
        return Ok(core.temporaries.find(&latch.catalog, &last.name));
    }
    let Some(database) = latch.catalog.databases.get(&core.database) else {
        return Ok(None);
    };
    let (schema, object) = split(core, name)?;
    let default = default_schema(database, frame.user);
    let schemas = match schema {
        Some(s) => vec![s],
        None => vec![default.as_str(), "dbo"],
    };
    for schema in schemas {
        if let Some(found) = database.find_object(schema, object) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A procedure by name.
pub fn resolve_procedure(
    latch: &State,
    core: &Core,
    frame: &Frame,
    name: &ObjectName,
) -> SqlResult<Option<Arc<ProcedureDef>>> {
    match resolve_object(latch, core, frame, name)? {
        Some(Object::Procedure(p)) => Ok(Some(Arc::clone(p))),
        _ => Ok(None),
    }
}

/// A table by name; 208 when there is none.
pub fn resolve_table(
    latch: &State,
    core: &Core,
    frame: &Frame,
    name: &ObjectName,
) -> SqlResult<Arc<TableDef>> {
    match resolve_object(latch, core, frame, name)? {
        Some(Object::Table(t)) => Ok(Arc::clone(t)),
        _ => {
            let shown: Vec<&str> = name.parts.iter().map(|p| p.name.as_str()).collect();
            Err(SqlError::new(
                208,
                format!("Invalid object name '{}'.", shown.join(".")),
            ))
        }
    }
}

/// `database.schema.table` of a table.
pub fn table_name(latch: &State, core: &Core, id: ObjectId) -> String {
    match latch
        .catalog
        .databases
        .get(&core.database)
        .and_then(|d| d.objects.get(&id))
    {
        Some(Object::Table(t)) => format!("{}.{}.{}", t.database, t.schema, t.name),
        _ => String::new(),
    }
}

/// Makes a database current; new and old name.
pub fn enter_database(latch: &State, core: &mut Core, name: &str) -> SqlResult<(String, String)> {
    let key = login::fold(name);
    let Some(database) = latch.catalog.databases.get(&key) else {
        return Err(SqlError::new(
            911,
            format!(
                "Database '{name}' does not exist. Make sure that the name is entered correctly."
            ),
        ));
    };
    let Some(user) = login::database_user(database, &core.login, core.sysadmin) else {
        return Err(SqlError::with(
            916,
            14,
            1,
            format!(
                "The server principal \"{}\" is not able to access the database \"{name}\" under the current security context.",
                core.login
            ),
        ));
    };
    let old = latch
        .catalog
        .databases
        .get(&core.database)
        .map_or(String::new(), |d| d.name.clone());
    core.user = user;
    core.database = key;
    Ok((database.name.clone(), old))
}

/// The compiled unit of a procedure, from the cache or new.
pub fn module_of(
    latch: &mut Latch<'_>,
    procedure: &Arc<ProcedureDef>,
    core: &Core,
) -> SqlResult<Arc<Module>> {
    if let Some((version, module)) = latch.modules.get(&procedure.id)
        && *version == procedure.version
    {
        return Ok(Arc::clone(module));
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
    let module = Arc::new(module.with_source(&procedure.text, qualified));
    latch
        .modules
        .insert(procedure.id, (procedure.version, Arc::clone(&module)));
    Ok(module)
}

/// Parses and prepares a text: a batch, EXEC ('…'), sp_executesql. Texts are kept, so that a
/// parameterised text is compiled once.
pub fn compile_text(text: &str, params: Vec<Param>, core: &Core) -> SqlResult<Arc<Module>> {
    let engine = Arc::clone(&core.engine);
    let key = format!(
        "{}\u{1}{}\u{1}{}",
        core.database,
        u8::from(core.settings.quoted_identifier),
        text
    );
    if let Some(found) = engine.texts.lock().get(&key)
        && same_params(&found.params, &params)
    {
        return Ok(Arc::clone(found));
    }
    let options = ParseOptions {
        quoted_identifier: core.settings.quoted_identifier,
    };
    let batch = parse_batch(text, options)?;
    let body = Arc::new(batch.statements);
    let latch = Latch::new(&engine);
    let database = latch
        .catalog
        .databases
        .get(&core.database)
        .ok_or_else(|| SqlError::new(911, "The current database does not exist."))?;
    let variables = collect_variables(database, &params, &body)?;
    drop(latch);
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
    let engine = Arc::clone(&core.engine);
    let latch = Latch::new(&engine);
    let database = latch
        .catalog
        .databases
        .get(&core.database)
        .ok_or_else(|| SqlError::new(911, "The current database does not exist."))?;
    declared
        .iter()
        .map(|p| bind_parameter(&latch.catalog, database, p))
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
    VariableMap::collect(&params, body, database)
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
                variables: &VariableMap::default(),
                quoted_identifier: true,
                temporaries: crate::catalog::TemporaryTables::none(),
            };
            match bind_scalars(&context, &[expr])?.kind {
                BoundKind::Scalars(list) => {
                    let value = constant(&list[0].expr)?;
                    Some(cast(&value, &list[0].ty, &ty, None, CastMode::Assign)?)
                }
                _ => None,
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
