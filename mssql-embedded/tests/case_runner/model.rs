//! A case as read from its file.

/// One case: batches that run on one connection, in a schema of their own.
pub struct Case {
    /// The file's stem.
    pub topic: String,
    /// The name after `-- case:`.
    pub name: String,
    /// The file, for messages.
    pub file: String,
    /// The line of `-- case:`.
    pub line: usize,
    /// What the embedded engine refuses in it, by name, from `-- embedded refuses`.
    pub refused: Option<String>,
    /// What is sent, in order.
    pub batches: Vec<Batch>,
}

impl Case {
    /// `topic/name`, as MSSQL_CASES_ONLY takes it.
    pub fn title(&self) -> String {
        format!("{}/{}", self.topic, self.name)
    }
}

/// One batch and what is expected of it.
#[derive(Default)]
pub struct Batch {
    /// The statements, expectations left out.
    pub text: String,
    /// The line it starts at, for messages.
    pub line: usize,
    /// The connection it runs on, from `-- on NAME`; the case's first one when empty.
    pub connection: String,
    /// The expectations.
    pub expect: Expect,
}

/// What a batch must answer.
#[derive(Default)]
pub struct Expect {
    /// The result sets, when any are stated. `Some(vec![])` is "none at all".
    pub sets: Option<Vec<ResultSet>>,
    /// The errors in order; none stated means none allowed.
    pub errors: Vec<ExpectedError>,
    /// Texts that must be among the informational messages.
    pub infos: Vec<String>,
    /// Rows affected, statement by statement, as the wire reports them.
    pub rowcounts: Option<Vec<u64>>,
}

/// An expected result set.
#[derive(Default)]
pub struct ResultSet {
    /// Column names and types, when stated.
    pub columns: Option<Vec<(String, String)>>,
    /// The rows, each a list of values as [`super::format`] writes them; `*` matches anything.
    pub rows: Vec<Vec<String>>,
}

/// An expected error.
pub struct ExpectedError {
    /// The number.
    pub number: u32,
    /// The severity, compared for the first error of a batch unless written `*`.
    pub severity: Option<u8>,
    /// The state, likewise.
    pub state: Option<u8>,
    /// A part of the message, possibly empty.
    pub fragment: String,
}

impl ExpectedError {
    /// The same error with the schema's name filled in.
    pub fn in_schema(&self, schema: &str) -> Self {
        Self {
            fragment: self.fragment.replace("$(s)", schema),
            ..*self
        }
    }
}
