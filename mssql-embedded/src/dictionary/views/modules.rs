//! sys.sql_modules and sys.parameters.

use crate::catalog::Object;
use crate::dictionary::source::{objects, ordinal, reads};
use crate::dictionary::view::view;

/// What sys.sql_modules shows of a procedure or view.
struct Module<'m> {
    id: i32,
    text: &'m str,
    quoted_identifier: bool,
}

fn module(object: &Object) -> Option<Module<'_>> {
    match object {
        Object::Procedure(p) => Some(Module {
            id: p.id,
            text: &p.text,
            quoted_identifier: p.quoted_identifier,
        }),
        Object::View(v) => Some(Module {
            id: v.id,
            text: &v.text,
            quoted_identifier: true,
        }),
        Object::Table(_) | Object::Constraint { .. } => None,
    }
}

view! {
    /// The texts of procedures and views.
    SQL_MODULES: "sys.sql_modules";
    each (m, text) in |s| objects(s).filter_map(module).map(|m| {
        let text = reads(s, m.id).then_some(m.text);
        (m, text)
    });
    "object_id": Int = m.id,
    "definition": Max = text,
    "uses_ansi_nulls": Bit = true,
    "uses_quoted_identifier": Bit = m.quoted_identifier,
    "is_schema_bound": Bit = false,
    "uses_database_collation": Bit = false,
    "is_recompiled": Bit = false,
    "null_on_null_input": Bit = false,
    "execute_as_principal_id": Int = None::<i32>,
    "uses_native_compilation": Bit = false,
    "inline_type": Bit = false,
    "is_inlineable": Bit = false,
}

view! {
    /// The parameters of procedures. SQL Server never parses the defaults of T-SQL procedures, so that
    /// has_default_value is 0 for every one.
    PARAMETERS: "sys.parameters";
    each (p, i, param) in |s| objects(s)
        .filter_map(Object::as_procedure)
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
    "is_cursor_ref": Bit = false,
    "has_default_value": Bit = false,
    "is_xml_document": Bit = false,
    "xml_collection_id": Int = 0,
    "is_readonly": Bit = false,
    "is_nullable": Bit = true,
    "encryption_type": Int = None::<i32>,
    "encryption_type_desc": Text60 = None::<&str>,
    "encryption_algorithm_name": Name = None::<&str>,
    "column_encryption_key_id": Int = None::<i32>,
    "column_encryption_key_database_name": Name = None::<&str>,
}
