//! A case as read from its file.

/// One case: batches that run on connections and in a schema of their own.
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
    /// The settings of READ_COMMITTED_SNAPSHOT it runs under; the database's own when empty.
    pub snapshot: Vec<bool>,
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
#[derive(Clone, Default)]
pub struct Batch {
    /// The statements, expectations left out. Empty for a login that is only tried.
    pub text: String,
    /// The line it starts at, for messages.
    pub line: usize,
    /// The connection it runs on, from `-- on NAME`; the case's first one when empty.
    pub connection: String,
    /// User and password of the connection, from `-- login`, which opens it anew.
    pub login: Option<(String, String)>,
    /// From `-- blocks`: it waits for a lock, and its answer comes after a later batch.
    pub blocks: bool,
    /// The expectations.
    pub expect: Expect,
}

/// What a batch must answer.
#[derive(Clone, Default)]
pub struct Expect {
    /// The result sets, when any are stated. `Some(vec![])` is "none at all".
    pub sets: Option<Vec<ResultSet>>,
    /// The errors in order; none stated means none allowed.
    pub errors: Vec<ExpectedError>,
    /// The line and the procedure that the first error names.
    pub place: Option<(u32, String)>,
    /// Texts that must be among the informational messages.
    pub infos: Vec<String>,
    /// Rows affected, statement by statement, as the wire reports them.
    pub rowcounts: Option<Vec<u64>>,
    /// The return status; the batch is then a remote procedure call.
    pub status: Option<i32>,
    /// Output parameters and their values, likewise.
    pub outputs: Vec<(String, String)>,
}

impl Expect {
    /// Whether the batch must travel as a remote procedure call.
    pub fn needs_call(&self) -> bool {
        self.status.is_some() || !self.outputs.is_empty()
    }
}

/// An expected result set.
#[derive(Clone, Default)]
pub struct ResultSet {
    /// Column names and types, when stated.
    pub columns: Option<Vec<(String, String)>>,
    /// The rows, each a list of values as [`super::format`] writes them; `*` matches anything.
    pub rows: Vec<Vec<String>>,
}

impl ResultSet {
    /// The same result set with the schema's name filled in.
    pub fn in_schema(&self, schema: &str) -> Self {
        let fill = |value: &String| value.replace("$(s)", schema);
        let rows = self.rows.iter();
        Self {
            columns: self.columns.clone(),
            rows: rows.map(|row| row.iter().map(fill).collect()).collect(),
        }
    }
}

/// An expected error.
#[derive(Clone)]
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
