//! From the text of a batch or procedure to a module that can run.

use std::sync::Arc;

use crate::ast::{ProcParam, Stmt};
use crate::bind::{self, BindContext, bind_scalars, resolve_type};
use crate::catalog::{Catalog, Database, Param, ProcedureDef};
use crate::context::Core;
use crate::error::SqlResult;
use crate::exec::constant;
use crate::interrupt::{Asking, stop_if};
use crate::memory::Charge;
use crate::parse::{ParseOptions, parse_text};
use crate::plan::{BoundKind, Module, Origin, VariableMap};
use crate::refused::{Kind, refused};
use crate::value::{BareLength, CastMode, cast};

/// The compiled unit of a procedure, from the cache or new. Nobody holds the latch: the tables that it declares may
/// take their time.
pub fn module_of(
    catalog: &Catalog,
    procedure: &Arc<ProcedureDef>,
    core: &Core,
    interrupted: Asking<'_>,
) -> SqlResult<Arc<Module>> {
    if let Some(module) = core.engine.module(procedure.id, procedure.version) {
        return Ok(module);
    }
    let database = catalog.current(&core.database)?;
    let variables = collect_variables(database, &procedure.params, &procedure.body, interrupted)?;
    let module = Module::new(
        procedure.params.clone(),
        Arc::clone(&procedure.body),
        Arc::new(variables),
        Origin::procedure(Some(procedure.id), &procedure.schema, &procedure.name),
        procedure.quoted_identifier,
    );
    let module = Arc::new(module.with_source(&procedure.text));
    core.engine
        .keep_module(procedure.id, procedure.version, &module);
    Ok(module)
}

/// Longer texts are not kept: who repeats a text has put parameters into it, and then it is short.
const KEPT_TEXT_BYTES: usize = 64 << 10;

/// What each token takes: its statement parsed and bound, and itself while it is parsed. Measured with
/// `SET @a = @a + 1`, of which a million with six tokens each took 1.6 GB.
const BYTES_PER_TOKEN: usize = 270;

/// What each byte of the text takes besides: the text itself, and a literal's value, in UTF-16, in tree and plan.
const BYTES_PER_TEXT_BYTE: usize = 4;

/// A text that is ready to run.
pub struct Compiled {
    pub module: Arc<Module>,
    /// What it takes of the session's memory while it runs, unless it is kept for all sessions.
    _charge: Option<Charge>,
}

/// Parses and prepares a text: a batch, EXEC ('…'), sp_executesql. Short texts are kept, so that a
/// parameterised text is compiled once.
pub fn compile_text(
    text: &str,
    params: Vec<Param>,
    core: &Core,
    interrupted: Asking<'_>,
) -> SqlResult<Compiled> {
    let engine = Arc::clone(&core.engine);
    let key = (text.len() <= KEPT_TEXT_BYTES).then(|| {
        format!(
            "{}\u{1}{}\u{1}{}\u{1}{}",
            core.database,
            core.user,
            u8::from(core.settings.quoted_identifier),
            text
        )
    });
    if let Some(key) = &key
        && let Some(module) = engine.text(key)
        && same_params(&module.params, &params)
    {
        return Ok(Compiled {
            module,
            _charge: None,
        });
    }
    let catalog = engine.catalog();
    let database = catalog.current(&core.database)?;
    let options = ParseOptions {
        quoted_identifier: core.settings.quoted_identifier,
        open_json: database.has_open_json(),
    };
    let mut charge = core.memory.charge();
    charge.add(text.len() * BYTES_PER_TEXT_BYTE)?;
    let batch = parse_text(text, options, &mut |tokens| {
        stop_if(interrupted())?;
        charge.add(tokens * BYTES_PER_TOKEN)
    })?;
    let body = Arc::new(batch.statements);
    let variables = collect_variables(database, &params, &body, interrupted)?;
    let module = Module::new(
        params,
        body,
        Arc::new(variables),
        Origin::Text,
        core.settings.quoted_identifier,
    );
    let module = Arc::new(module.with_source(text));
    let charge = match key {
        Some(key) => {
            engine.keep_text(key, &module, charge.bytes());
            None
        }
        None => Some(charge),
    };
    Ok(Compiled {
        module,
        _charge: charge,
    })
}

fn same_params(a: &[Param], b: &[Param]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(x, y)| x.name == y.name && x.ty == y.ty)
}

/// The parameter list of sp_executesql: `@a INT, @b NVARCHAR(20) OUTPUT`.
pub fn parse_parameters(text: &str, core: &Core, interrupted: Asking<'_>) -> SqlResult<Vec<Param>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut charge = core.memory.charge();
    charge.add(text.len() * BYTES_PER_TEXT_BYTE)?;
    let declared = crate::parse::parse_parameters(text, &mut |tokens| {
        stop_if(interrupted())?;
        charge.add(tokens * BYTES_PER_TOKEN)
    })?;
    let catalog = core.engine.catalog();
    let database = catalog.current(&core.database)?;
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
    interrupted: Asking<'_>,
) -> SqlResult<VariableMap> {
    let params: Vec<_> = params
        .iter()
        .map(|p| (p.name.clone(), p.ty.clone()))
        .collect();
    bind::collect_variables(&params, body, database, interrupted)
}

/// A declared parameter: its type, and its default as a value of that type.
pub fn bind_parameter(
    catalog: &Catalog,
    database: &Database,
    declared: &ProcParam,
) -> SqlResult<Param> {
    if declared.readonly {
        return Err(refused(Kind::Client, "a table-valued parameter"));
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
                looked_up: None,
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
