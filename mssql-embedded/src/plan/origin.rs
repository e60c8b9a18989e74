//! What a module was made from.

use std::sync::Arc;

use crate::catalog::ObjectId;

/// What a module was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// A batch or a dynamic text.
    #[default]
    Text,
    Procedure(Arc<ProcedureOrigin>),
}

/// The procedure that a module was made from.
#[derive(Debug, PartialEq, Eq)]
pub struct ProcedureOrigin {
    /// Its id; none while it is being created, which is a check and no run.
    pub id: Option<ObjectId>,
    /// Its schema, where names without a schema are looked up first.
    pub schema: String,
    pub name: String,
    /// `schema.name`.
    pub qualified: String,
}

impl Origin {
    /// The origin of a procedure's module.
    pub fn procedure(id: Option<ObjectId>, schema: &str, name: &str) -> Self {
        Self::Procedure(Arc::new(ProcedureOrigin {
            id,
            schema: schema.to_owned(),
            name: name.to_owned(),
            qualified: format!("{schema}.{name}"),
        }))
    }

    pub fn of_procedure(&self) -> Option<&ProcedureOrigin> {
        match self {
            Self::Text => None,
            Self::Procedure(procedure) => Some(procedure),
        }
    }

    /// `schema.name` as messages carry it. The wire has an empty name for what is no procedure.
    pub fn qualified(&self) -> &str {
        self.of_procedure().map_or("", |p| &p.qualified)
    }

    /// The name alone, as some messages have it; likewise empty.
    pub fn name(&self) -> &str {
        self.of_procedure().map_or("", |p| &p.name)
    }
}
