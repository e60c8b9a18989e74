//! CREATE, ALTER and DROP PROCEDURE and VIEW.

use std::cell::RefCell;
use std::sync::Arc;

use crate::access::lock_object;
use crate::ast::{CreateProcedure, CreateView, Ident, Making, ObjectName, SelectStmt};
use crate::bind::{BindContext, check_view};
use crate::catalog::permission::Definition;
use crate::catalog::{LookedUp, Object, ProcedureDef, ViewDef, no_object};
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::interrupt::is_interrupt;
use crate::lock::Mode;
use crate::plan::{Module, Origin, VariableMap};
use crate::session::{bind_parameter, collect_variables, precompile};

use super::lock_found::lock_found;
use super::table::shown;

/// CREATE [OR ALTER] PROCEDURE, ALTER PROCEDURE. The body is checked as far as its objects exist, and again if others have
/// changed the procedure meanwhile.
pub fn create(create: &CreateProcedure, env: &mut Env<'_, '_>) -> SqlResult<()> {
    while !try_create(create, env)? {}
    Ok(())
}

/// Whether something new may have a name: 208 when ALTER finds nothing of its kind under it, 2714 when it is taken.
fn require_new(
    making: Making,
    existing: Option<&Object>,
    (schema, name): (i32, &str),
    env: &Env<'_, '_>,
) -> SqlResult<()> {
    match (making, existing) {
        (Making::Alter, None) => Err(no_object(name, 6)),
        (Making::Create | Making::CreateOrAlter, None)
        | (Making::Create | Making::CreateOrAlter | Making::Alter, Some(_)) => {
            env.require_free_module_name(schema, name)
        }
    }
}

/// Whether it was created: not if others have changed what was found.
fn try_create(create: &CreateProcedure, env: &mut Env<'_, '_>) -> SqlResult<bool> {
    let (schema_id, schema, name) = env.target_schema(&create.name)?;
    if env.await_free_name(schema_id, &name)? {
        return Ok(false);
    }
    let existing = existing(schema_id, &name, env)?;
    let own = existing.as_ref().and_then(Object::as_procedure);
    let previous = own.filter(|_| create.making != Making::Create).cloned();
    if previous.is_none() {
        require_new(create.making, existing.as_ref(), (schema_id, &name), env)?;
    }
    if previous.is_some() {
        super::require_ddl(Definition::Alter(schema_id), env)?;
    } else {
        super::require_ddl(Definition::CreateProcedure(schema_id), env)?;
    }
    let origin = Origin::procedure(previous.as_ref().map(|p| p.id), &schema, &name);
    let looked_up = LookedUp::default();
    let module = match checked_body(create, origin, &looked_up, env) {
        Ok(module) => module,
        Err(error) if is_interrupt(&error) || !env.await_names(&looked_up)? => return Err(error),
        Err(_) => return Ok(false),
    };
    if let Some(p) = &previous {
        lock_object(&mut env.access()?, p.id, Mode::SCH_M, true)?;
    }
    // Others have had the latch meanwhile.
    let version = |object: Option<Object>| object.and_then(|o| o.as_procedure().map(|p| p.version));
    if version(self::existing(schema_id, &name, env)?) != previous.as_ref().map(|p| p.version) {
        return Ok(false);
    }
    let now = env.latch.clock().unix_ms();
    let id = match &previous {
        Some(p) => p.id,
        None => env.new_object_id(),
    };
    let version = env.latch.next_version();
    env.put_object(Object::Procedure(Arc::new(ProcedureDef {
        id,
        schema_id,
        schema,
        name,
        version,
        params: module.params.clone(),
        body: Arc::clone(&create.body),
        text: create.text.clone(),
        quoted_identifier: env.core.settings.quoted_identifier,
        created_ms: previous.as_ref().map_or(now, |p| p.created_ms),
        modified_ms: now,
    })))?;
    Ok(true)
}

fn existing(schema: i32, name: &str, env: &Env<'_, '_>) -> SqlResult<Option<Object>> {
    let database = env.database()?;
    let id = database.object_names.get(&(schema, database.fold(name)));
    Ok(id.and_then(|id| database.objects.get(id)).cloned())
}

/// The module of a new procedure, checked as far as its objects exist.
fn checked_body(
    create: &CreateProcedure,
    origin: Origin,
    looked_up: &LookedUp,
    env: &mut Env<'_, '_>,
) -> SqlResult<Arc<Module>> {
    let catalog = Arc::clone(&env.latch.catalog);
    // Binding may take its time, that of its table variables too, and nothing has been changed yet.
    env.latch.release();
    let database = catalog.databases.get(&env.core.database);
    let database = database.ok_or_else(|| SqlError::internal("a procedure without a database"))?;
    let asked = RefCell::new(&mut *env.interrupted);
    let interrupted = || (asked.borrow_mut())();
    let params = create
        .params
        .iter()
        .map(|p| bind_parameter(&catalog, database, p))
        .collect::<SqlResult<Vec<_>>>()?;
    let variables = collect_variables(database, &params, &create.body, &interrupted)?;
    let module = Arc::new(Module::new(
        params,
        Arc::clone(&create.body),
        Arc::new(variables),
        origin,
        env.core.settings.quoted_identifier,
    ));
    let frame: Frame = Frame::of(&module, 1, env.frame.user);
    let (list, core) = (&module.body, &*env.core);
    precompile::check(
        &module,
        list,
        core,
        &frame,
        &catalog,
        looked_up,
        &interrupted,
    )?;
    Ok(module)
}

/// CREATE [OR ALTER] VIEW, ALTER VIEW. The query is checked again if others have changed the view meanwhile.
pub fn create_view(create: &CreateView, env: &mut Env<'_, '_>) -> SqlResult<()> {
    while !try_create_view(create, env)? {}
    Ok(())
}

/// Whether it was created: not if others have changed what was found.
fn try_create_view(create: &CreateView, env: &mut Env<'_, '_>) -> SqlResult<bool> {
    let CreateView {
        name,
        columns,
        query,
        text,
        making,
    } = create;
    let (schema_id, schema, view) = env.target_schema(name)?;
    if env.await_free_name(schema_id, &view)? {
        return Ok(false);
    }
    let existing = existing(schema_id, &view, env)?;
    let own = existing.as_ref().and_then(Object::as_view);
    let previous = own.filter(|_| *making != Making::Create).cloned();
    if previous.is_none() {
        require_new(*making, existing.as_ref(), (schema_id, &view), env)?;
    }
    super::require_ddl(Definition::CreateView(schema_id), env)?;
    let line = name.parts.last().map_or(0, |part| part.pos.line);
    let looked_up = LookedUp::default();
    match check_query(&schema, &view, (columns, query), &looked_up, env) {
        Ok(()) => {}
        Err(error) if is_interrupt(&error) || !env.await_names(&looked_up)? => {
            return Err(error.at(line));
        }
        Err(_) => return Ok(false),
    }
    if let Some(v) = &previous {
        lock_object(&mut env.access()?, v.id, Mode::SCH_M, true)?;
    }
    // Others have had the latch meanwhile.
    let version = |object: Option<Object>| object.and_then(|o| o.as_view().map(|v| v.version));
    if version(self::existing(schema_id, &view, env)?) != previous.as_ref().map(|v| v.version) {
        return Ok(false);
    }
    let now = env.latch.clock().unix_ms();
    let id = match &previous {
        Some(v) => v.id,
        None => env.new_object_id(),
    };
    let version = env.latch.next_version();
    env.put_object(Object::View(Arc::new(ViewDef {
        id,
        schema_id,
        name: view,
        version,
        columns: columns.iter().map(|c| c.name.clone()).collect(),
        query: Arc::new(query.clone()),
        text: text.clone(),
        created_ms: previous.as_ref().map_or(now, |v| v.created_ms),
        modified_ms: now,
    })))?;
    Ok(true)
}

fn check_query(
    schema: &str,
    view: &str,
    (columns, query): (&[Ident], &SelectStmt),
    looked_up: &LookedUp,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let catalog = Arc::clone(&env.latch.catalog);
    // As with the body of a procedure.
    env.latch.release();
    let database = catalog.databases.get(&env.core.database);
    let asked = RefCell::new(&mut *env.interrupted);
    let context = BindContext {
        catalog: &catalog,
        database: database.ok_or_else(|| SqlError::internal("a view without a database"))?,
        default_schema: schema,
        login: &env.core.login,
        variables: &VariableMap::default(),
        quoted_identifier: env.core.settings.quoted_identifier,
        temporaries: &env.core.temporaries,
        choices: env.core.choices.as_ref(),
        looked_up: Some(looked_up),
        interrupted: &|| (asked.borrow_mut())(),
    };
    check_view(&context, view, columns, query).map_err(|mut error| {
        view.clone_into(&mut error.procedure);
        error
    })
}

pub fn drop(name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let is_procedure = |object: &Object| matches!(object, Object::Procedure(_));
    drop_module("procedure", is_procedure, name, if_exists, env)
}

pub fn drop_view(name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let is_view = |object: &Object| matches!(object, Object::View(_));
    drop_module("view", is_view, name, if_exists, env)
}

fn drop_module(
    word: &str,
    is_one: impl Fn(&Object) -> bool,
    name: &ObjectName,
    if_exists: bool,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let found = lock_found(name, env, is_one, |schema, env| {
        super::require_ddl_or(Definition::Drop(schema), env, || {
            super::not_dropped(14, 20, word, &shown(name))
        })
    })?;
    let Some(found) = found else {
        let other = crate::context::resolve_object(&env.latch.catalog, env.core, env.frame, name)?;
        if let Some(other) = other {
            super::refuse_other_kind(other, &word.to_uppercase(), &shown(name))?;
        }
        if if_exists {
            return Ok(());
        }
        return Err(super::not_dropped(11, 5, word, &shown(name)));
    };
    env.remove_object(found.id())?;
    env.core.engine.forget_module(found.id());
    Ok(())
}
