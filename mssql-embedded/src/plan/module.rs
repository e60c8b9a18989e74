//! Compiled units: a batch or a procedure, with the bound form of its statements kept for reuse.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::ast::{FlowStmt, Stmt, StmtKind};
use crate::catalog::{Catalog, Object, ObjectId, Param, TemporaryTables};
use crate::fast_map::FastMap;

use super::{Bound, Origin, VariableMap};

/// A batch, a dynamic text, or a procedure, ready to run.
#[derive(Debug)]
pub struct Module {
    pub params: Vec<Param>,
    pub body: Arc<Vec<Stmt>>,
    /// Its variables, parameters first.
    pub variables: Arc<VariableMap>,
    pub origin: Origin,
    /// The text that the statements' offsets count in.
    text: Arc<str>,
    /// QUOTED_IDENTIFIER as captured.
    pub quoted_identifier: bool,
    /// Bound statements by the offset at which they start.
    bound: Mutex<FastMap<u32, Arc<Bound>>>,
}

impl Module {
    /// A unit of which nothing is bound yet.
    pub fn new(
        params: Vec<Param>,
        body: Arc<Vec<Stmt>>,
        variables: Arc<VariableMap>,
        origin: Origin,
        quoted_identifier: bool,
    ) -> Self {
        Self {
            params,
            body,
            variables,
            origin,
            text: Arc::default(),
            quoted_identifier,
            bound: Mutex::default(),
        }
    }

    /// The same unit with the text it was made from.
    #[must_use]
    pub fn with_source(self, text: &str) -> Self {
        Self {
            text: text.into(),
            ..self
        }
    }

    /// The text of a statement; of an IF or WHILE, the part up to its body.
    pub fn text_of(&self, stmt: &Stmt) -> &str {
        let end = match &stmt.kind {
            StmtKind::Flow(FlowStmt::If { then: body, .. } | FlowStmt::While { body, .. }) => {
                body.pos.offset
            }
            StmtKind::Flow(
                FlowStmt::Block(_)
                | FlowStmt::Break
                | FlowStmt::Continue
                | FlowStmt::Goto(_)
                | FlowStmt::Label(_)
                | FlowStmt::TryCatch { .. },
            )
            | StmtKind::Table(_)
            | StmtKind::Ddl(_)
            | StmtKind::Tran(_)
            | StmtKind::Session(_)
            | StmtKind::Value(_)
            | StmtKind::Exec(_) => stmt.end,
        };
        let range = stmt.pos.offset as usize..end as usize;
        self.text.get(range).unwrap_or_default().trim_end()
    }

    pub fn empty() -> Self {
        Self::new(
            Vec::new(),
            Arc::default(),
            Arc::default(),
            Origin::Text,
            true,
        )
    }

    /// The bound form of the statement at `offset`; what it was bound against may have changed since.
    pub fn kept(&self, offset: u32) -> Option<Arc<Bound>> {
        self.bound.lock().get(&offset).map(Arc::clone)
    }

    pub fn keep(&self, offset: u32, bound: Arc<Bound>) {
        self.bound.lock().insert(offset, bound);
    }
}

/// What the names of a statement mean at present.
#[derive(Clone, Copy, Debug)]
pub struct Against<'c> {
    pub catalog: &'c Catalog,
    /// The current database, folded.
    pub database: &'c str,
    pub temporaries: &'c TemporaryTables,
}

impl Against<'_> {
    /// Whether what a statement was bound against is unchanged. Its temporary tables must be those
    /// that the names mean to this session, for sessions share the bound statements of a procedure.
    pub fn is_current(&self, bound: &Bound) -> bool {
        let mut depends = bound.depends.iter();
        depends.all(|(id, version)| self.is_version(*id, *version))
    }

    /// Whether an object is defined, and as it was when it had this version.
    pub fn is_version(&self, id: ObjectId, version: u64) -> bool {
        if let Some(table) = self.temporaries.visible(self.catalog, id) {
            return table.version == version;
        }
        let found = self.catalog.object(self.database, id).map(|f| f.object);
        match found {
            Some(Object::Table(t)) => t.version == version,
            Some(Object::View(v)) => v.version == version,
            Some(Object::Procedure(p)) => p.version == version,
            Some(Object::Constraint { .. }) | None => false,
        }
    }
}
