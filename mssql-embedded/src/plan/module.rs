//! Compiled units: a batch or a procedure, with the bound form of its statements kept for reuse.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::ast::{Stmt, StmtKind};
use crate::catalog::{Catalog, Object, Param, TemporaryTables};
use crate::fast_map::FastMap;

use super::{Bound, VariableMap};

/// A batch, a dynamic text, or a procedure, ready to run.
#[derive(Debug)]
pub struct Module {
    /// Parameters.
    pub params: Vec<Param>,
    /// The statements.
    pub body: Arc<Vec<Stmt>>,
    /// Its variables, parameters first.
    pub variables: Arc<VariableMap>,
    /// The object id of a procedure, 0 for a batch.
    pub procedure: i32,
    /// The name of a procedure, empty for a batch.
    pub name: String,
    /// `schema.name` of a procedure, empty for a batch.
    pub qualified: String,
    /// The schema of a procedure, where names without a schema are looked up first.
    pub schema: Option<Arc<str>>,
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
        procedure: i32,
        name: String,
        quoted_identifier: bool,
    ) -> Self {
        Self {
            params,
            body,
            variables,
            procedure,
            name,
            qualified: String::new(),
            schema: None,
            text: Arc::default(),
            quoted_identifier,
            bound: Mutex::default(),
        }
    }

    /// The same unit with the text it was made from and, for a procedure, `schema.name`.
    #[must_use]
    pub fn with_source(self, text: &str, qualified: String) -> Self {
        Self {
            text: text.into(),
            qualified,
            ..self
        }
    }

    /// The same unit as a procedure of a schema.
    #[must_use]
    pub fn in_schema(self, schema: &str) -> Self {
        Self {
            schema: Some(schema.into()),
            ..self
        }
    }

    /// The text of a statement; of an IF or WHILE, the part up to its body.
    pub fn text_of(&self, stmt: &Stmt) -> &str {
        let end = match &stmt.kind {
            StmtKind::If { then: body, .. } | StmtKind::While { body, .. } => body.pos.offset,
            StmtKind::Block(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Goto(_)
            | StmtKind::Label(_)
            | StmtKind::TryCatch { .. }
            | StmtKind::Throw(_)
            | StmtKind::RaisError { .. }
            | StmtKind::Print(_)
            | StmtKind::WaitFor { .. }
            | StmtKind::Declare(_)
            | StmtKind::SetVariable { .. }
            | StmtKind::SetOption(_)
            | StmtKind::Exec(_)
            | StmtKind::BeginTran(_)
            | StmtKind::Commit { .. }
            | StmtKind::Rollback(_)
            | StmtKind::SaveTran(_)
            | StmtKind::Use(_)
            | StmtKind::Select(_)
            | StmtKind::Insert(_)
            | StmtKind::Update(_)
            | StmtKind::Delete(_)
            | StmtKind::Ddl(_)
            | StmtKind::ExecuteAs { .. }
            | StmtKind::Revert
            | StmtKind::Kill(_)
            | StmtKind::Checkpoint => stmt.end,
        };
        let range = stmt.pos.offset as usize..end as usize;
        self.text.get(range).unwrap_or_default().trim_end()
    }

    /// A unit without statements.
    pub fn empty() -> Self {
        Self::new(
            Vec::new(),
            Arc::default(),
            Arc::default(),
            0,
            String::new(),
            true,
        )
    }

    /// The bound form of the statement at `offset`; what it was bound against may have changed since.
    pub fn kept(&self, offset: u32) -> Option<Arc<Bound>> {
        self.bound.lock().get(&offset).map(Arc::clone)
    }

    /// Keeps a bound statement.
    pub fn keep(&self, offset: u32, bound: Arc<Bound>) {
        self.bound.lock().insert(offset, bound);
    }
}

/// What the names of a statement mean at present.
#[derive(Clone, Copy, Debug)]
pub struct Against<'c> {
    /// All definitions.
    pub catalog: &'c Catalog,
    /// The current database, folded.
    pub database: &'c str,
    /// The temporary tables of the session.
    pub temporaries: &'c TemporaryTables,
}

impl Against<'_> {
    /// Whether what a statement was bound against is unchanged. Its temporary tables must be those
    /// that the names mean to this session, for sessions share the bound statements of a procedure.
    pub fn is_current(&self, bound: &Bound) -> bool {
        let is_version = |id, version| {
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
        };
        bound.depends.iter().all(|(id, v)| is_version(*id, *v))
    }
}
