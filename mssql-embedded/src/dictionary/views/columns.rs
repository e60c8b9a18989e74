//! sys.columns, sys.computed_columns and sys.identity_columns.

use std::sync::Arc;

use crate::catalog::{Column, TableDef};
use crate::dictionary::Source;
use crate::dictionary::source::{reads, tables};
use crate::dictionary::view::view;

/// The user type of SYSNAME.
const SYSNAME: i32 = 256;

fn columns(source: &dyn Source) -> impl Iterator<Item = (&Arc<TableDef>, &Column)> {
    tables(source).flat_map(|t| t.columns.iter().map(move |c| (t, c)))
}

/// A view with the columns of sys.columns, and some of its own behind them.
macro_rules! column_view {
    (
        $(#[$doc:meta])* $id:ident: $name:literal;
        each ($t:ident, $c:ident, $more:pat) in |$s:ident| $rows:expr;
        $($column:literal: $kind:ident = $value:expr,)*
    ) => {
        view! {
            $(#[$doc])*
            $id: $name;
            each ($t, $c, $more) in |$s| $rows;
            "object_id": Int = $t.id,
            "name": Name = &$c.name,
            "column_id": Int = $c.id,
            "system_type_id": TinyInt = $c.ty.system_type_id(),
            "user_type_id": Int = if $c.sysname { SYSNAME } else { i32::from($c.ty.system_type_id()) },
            "max_length": SmallInt = $c.ty.max_length(),
            "precision": TinyInt = $c.ty.precision(),
            "scale": TinyInt = $c.ty.scale(),
            "collation_name": Name = $c.ty.collation().map(|x| x.name()),
            "is_nullable": Bit = $c.nullable,
            "is_ansi_padded": Bit = $c.ty.length().is_some(),
            "is_rowguidcol": Bit = false,
            "is_identity": Bit = $c.identity.is_some(),
            "is_computed": Bit = $c.computed.is_some(),
            "is_filestream": Bit = false,
            "is_replicated": Bit = false,
            "is_non_sql_subscribed": Bit = false,
            "is_merge_published": Bit = false,
            "is_dts_replicated": Bit = false,
            "is_xml_document": Bit = false,
            "xml_collection_id": Int = 0,
            "default_object_id": Int = $c.default.as_ref().map_or(0, |d| d.id),
            "rule_object_id": Int = 0,
            "is_sparse": Bit = false,
            "is_column_set": Bit = false,
            "generated_always_type": TinyInt = 0,
            "generated_always_type_desc": Text60 = "NOT_APPLICABLE",
            "encryption_type": Int = None::<i32>,
            "encryption_type_desc": Text60 = None::<&str>,
            "encryption_algorithm_name": Name = None::<&str>,
            "column_encryption_key_id": Int = None::<i32>,
            "column_encryption_key_database_name": Name = None::<&str>,
            "is_hidden": Bit = false,
            "is_masked": Bit = false,
            "graph_type": Int = None::<i32>,
            "graph_type_desc": Text60 = None::<&str>,
            $($column: $kind = $value,)*
        }
    };
}

column_view! {
    /// The columns of tables.
    COLUMNS: "sys.columns";
    each (t, c, ()) in |s| columns(s).map(|(t, c)| (t, c, ()));
}

column_view! {
    /// Computed columns with their expressions.
    COMPUTED_COLUMNS: "sys.computed_columns";
    each (t, c, (persisted, definition)) in |s| columns(s).filter_map(|(t, c)| {
        let (_, text, persisted) = c.computed.as_ref()?;
        Some((t, c, (*persisted, reads(s, t.id).then_some(text))))
    });
    "definition": Max = definition,
    "is_persisted": Bit = persisted,
}

column_view! {
    /// Identity columns with the value handed out last. SQL Server's values are of type sql_variant.
    IDENTITY_COLUMNS: "sys.identity_columns";
    each (t, c, ((seed, increment), last)) in |s| columns(s).filter_map(|(t, c)| {
        let last = s.store().identity(t.id).and_then(|i| i.last());
        Some((t, c, (c.identity?, last)))
    });
    "seed_value": BigInt = seed,
    "increment_value": BigInt = increment,
    "last_value": BigInt = last,
    "is_not_for_replication": Bit = false,
}
