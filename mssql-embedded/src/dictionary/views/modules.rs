//! sys.sql_modules and sys.parameters.

use crate::catalog::Object;
use crate::dictionary::source::{objects, ordinal};
use crate::dictionary::view::view;

/// What sys.sql_modules shows of a procedure or view.
struct Module<'m> {
    id: i32,
    text: &'m str,
    ansi_nulls: bool,
    quoted_identifier: bool,
}

fn module(object: &Object) -> Option<Module<'_>> {
    match object {
        Object::Procedure(p) => Some(Module {
            id: p.id,
            text: &p.text,
            ansi_nulls: p.ansi_nulls,
            quoted_identifier: p.quoted_identifier,
        }),
        Object::View(v) => Some(Module {
            id: v.id,
            text: &v.text,
            ansi_nulls: true,
            quoted_identifier: true,
        }),
        Object::Table(_) | Object::Constraint { .. } => None,
    }
}

view! {
    /// The texts of procedures and views.
    SQL_MODULES: "sys.sql_modules";
    each m in |s| objects(s).filter_map(module);
    "object_id": Int = m.id,
    "definition": Max = m.text,
    "uses_ansi_nulls": Bit = m.ansi_nulls,
    "uses_quoted_identifier": Bit = m.quoted_identifier,
    "is_schema_bound": Bit = false,
    "is_recompiled": Bit = false,
    "execute_as_principal_id": Int = None::<i32>,
}

view! {
    /// The parameters of procedures. SQL Server never parses the defaults of T-SQL procedures, so that
    /// has_default_value is 0 for every one.
    PARAMETERS: "sys.parameters";
    each (p, i, param) in |s| objects(s)
        .filter_map(|o| match o {
            Object::Procedure(p) => Some(p),
            Object::Table(_) | Object::View(_) | Object::Constraint { .. } => None,
        })
        .flat_map(|p| p.params.iter().enumerate().map(move |(i, param)| (p, i, param)));
    "object_id": Int = p.id,
    "name": Name = &param.name,
    "parameter_id": Int = ordinal(i),
    "system_type_id": TinyInt = param.ty.system_type_id(),
    "user_type_id": Int = i32::from(param.ty.system_type_id()),
    "max_length": SmallInt = param.ty.max_length(),
    "precision": TinyInt = param.ty.precision(),
    "scale": TinyInt = param.ty.scale(),
    "is_output": Bit = param.output,
    "has_default_value": Bit = false,
}
