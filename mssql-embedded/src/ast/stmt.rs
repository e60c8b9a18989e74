//! Statements: control flow, transactions, settings, EXEC.

use super::{
    BinaryOp, ColumnDef, Condition, Ddl, DeleteStmt, Expr, Ident, InsertStmt, ObjectName, Pos,
    SelectStmt, TableConstraint, Toggle, TypeName, UpdateStmt,
};

/// The text between two GO lines, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub statements: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Where it starts.
    pub pos: Pos,
    /// Byte offset just past its end, so that its text can be shown.
    pub end: u32,
    pub kind: StmtKind,
}

/// The kinds of statement. Each group is decided on as a whole where its members do not differ, and a function
/// that is only for one group takes that group: what cannot arrive need not be answered.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "most statements are of the large kinds"
)]
pub enum StmtKind {
    /// Which statement is next.
    Flow(FlowStmt),
    /// Reads or writes rows.
    Table(TableStmt),
    /// Definitions and permissions.
    Ddl(Ddl),
    /// Begins or ends a transaction.
    Tran(TranStmt),
    /// Changes the session, or acts on others.
    Session(SessionStmt),
    /// Does something with values, which may come from subqueries.
    Value(ValueStmt),
    Exec(ExecStmt),
}

#[derive(Clone, Debug, PartialEq)]
pub enum FlowStmt {
    /// `BEGIN … END`.
    Block(Vec<Stmt>),
    /// `IF condition a ELSE b`.
    If {
        condition: Condition,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    /// `WHILE condition body`.
    While {
        condition: Condition,
        body: Box<Stmt>,
    },
    Break,
    Continue,
    /// `GOTO label`.
    Goto(Ident),
    Label(Ident),
    /// `BEGIN TRY … END TRY BEGIN CATCH … END CATCH`.
    TryCatch {
        body: Vec<Stmt>,
        handler: Vec<Stmt>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum TableStmt {
    Select(SelectStmt),
    Insert(InsertStmt),
    Update(UpdateStmt),
    Delete(DeleteStmt),
}

#[derive(Clone, Debug, PartialEq)]
pub enum TranStmt {
    Begin(Option<TranName>),
    /// `COMMIT [TRAN [name]] [WITH (DELAYED_DURABILITY = ON|OFF)]`, `COMMIT WORK`.
    Commit {
        name: Option<TranName>,
        delayed: bool,
    },
    /// `ROLLBACK [TRAN [name]]`, `ROLLBACK WORK`.
    Rollback(Option<TranName>),
    Save(TranName),
}

#[derive(Clone, Debug, PartialEq)]
pub enum SessionStmt {
    /// `SET NOCOUNT ON` and the like.
    Set(SetOption),
    /// `USE database`.
    Use(Ident),
    /// `EXECUTE AS USER = 'x'`.
    ExecuteAs(UserName),
    Revert,
    /// `KILL n`.
    Kill(i64),
    /// `CHECKPOINT`, which has nothing to do here.
    Checkpoint,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ValueStmt {
    /// `RETURN [n]`.
    Return(Option<Expr>),
    /// `THROW` alone, or with number, message and state (literals or variables).
    Throw(Option<Box<(Expr, Expr, Expr)>>),
    /// `RAISERROR(message, severity, state, args…) WITH …`.
    RaisError(Box<RaisErrorStmt>),
    Print(Expr),
    /// `WAITFOR DELAY x`.
    WaitFor {
        time: Expr,
    },
    /// `DECLARE @a INT = 1, @b INT` or `DECLARE @t TABLE (…)`.
    Declare(Vec<Declaration>),
    /// `SET @a = x`, `SET @a += x`.
    SetVariable {
        name: String,
        op: Option<BinaryOp>,
        value: Expr,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct RaisErrorStmt {
    pub message: Expr,
    pub severity: Expr,
    pub state: Expr,
    pub args: Vec<Expr>,
    pub nowait: bool,
    pub log: bool,
    pub seterror: bool,
}

impl FlowStmt {
    /// The condition that decides where it goes on.
    pub fn condition(&self) -> Option<&Condition> {
        match self {
            Self::If { condition, .. } | Self::While { condition, .. } => Some(condition),
            Self::Block(_)
            | Self::Break
            | Self::Continue
            | Self::Goto(_)
            | Self::Label(_)
            | Self::TryCatch { .. } => None,
        }
    }
}

impl From<FlowStmt> for StmtKind {
    fn from(stmt: FlowStmt) -> Self {
        Self::Flow(stmt)
    }
}

impl From<TableStmt> for StmtKind {
    fn from(stmt: TableStmt) -> Self {
        Self::Table(stmt)
    }
}

impl From<TranStmt> for StmtKind {
    fn from(stmt: TranStmt) -> Self {
        Self::Tran(stmt)
    }
}

impl From<SessionStmt> for StmtKind {
    fn from(stmt: SessionStmt) -> Self {
        Self::Session(stmt)
    }
}

impl From<ValueStmt> for StmtKind {
    fn from(stmt: ValueStmt) -> Self {
        Self::Value(stmt)
    }
}

/// A transaction or savepoint name.
#[derive(Clone, Debug, PartialEq)]
pub enum TranName {
    Name(Ident),
    /// A variable that holds it.
    Variable(String),
}

/// Whom EXECUTE AS names.
#[derive(Clone, Debug, PartialEq)]
pub enum UserName {
    Text(String),
    /// A variable that holds it.
    Variable(String),
}

#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "few of them, each read once")]
pub enum Declaration {
    /// `@a type = value`.
    Scalar {
        name: String,
        ty: TypeName,
        collate: Option<Ident>,
        value: Option<Expr>,
        pos: Pos,
    },
    /// `@t TABLE (…)`.
    Table {
        name: String,
        columns: Vec<ColumnDef>,
        constraints: Vec<TableConstraint>,
        pos: Pos,
    },
}

/// `SET` statements that change the session.
#[derive(Clone, Debug, PartialEq)]
pub enum SetOption {
    /// `SET a, b ON|OFF`: those that the session remembers, see [`super::Switch`] for the others.
    Switch(Vec<Toggle>, bool),
    /// `SET IDENTITY_INSERT t ON|OFF`.
    IdentityInsert(ObjectName, bool),
    /// `SET LOCK_TIMEOUT n`.
    LockTimeout(Expr),
    /// `SET DEADLOCK_PRIORITY LOW|NORMAL|HIGH|n|@v`.
    DeadlockPriority(DeadlockPriority),
    /// `SET TRANSACTION ISOLATION LEVEL …`.
    IsolationLevel(IsolationLevel),
    /// `SET ROWCOUNT n`.
    RowCount(Expr),
    /// `SET TEXTSIZE n`.
    TextSize(Expr),
    /// `SET DATEFIRST n`.
    DateFirst(Expr),
    /// `SET DATEFORMAT mdy`: the only one.
    DateFormat,
    /// `SET LANGUAGE us_english`: the only one.
    Language,
    /// `SET CONTEXT_INFO x`.
    ContextInfo(Expr),
    /// `SET STATISTICS IO|TIME OFF`: they are never on.
    Statistics,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DeadlockPriority {
    /// A level from -10 to 10; LOW is -5, NORMAL 0, HIGH 5.
    Level(i32),
    Variable(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
    Snapshot,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExecStmt {
    /// `@r = `.
    pub return_into: Option<String>,
    pub target: ExecTarget,
    /// Arguments of a procedure.
    pub args: Vec<ExecArg>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExecTarget {
    Procedure(ObjectName),
    /// A procedure whose name is in a variable.
    Variable(String),
    /// `EXEC ('…' + @x)`: the pieces to concatenate.
    Text(Vec<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExecArg {
    /// `@name =`.
    pub name: Option<String>,
    /// The value; `None` is DEFAULT. Only literals, variables and bare words are legal; a bare word
    /// is a string to T-SQL and arrives as [`Literal::NString`](super::Literal::NString).
    pub value: Option<Expr>,
    pub output: bool,
}
