//! Statements: control flow, transactions, settings, EXEC.

use super::{
    BinaryOp, ColumnDef, Condition, Ddl, DeleteStmt, Expr, Ident, InsertStmt, ObjectName, Pos,
    SelectStmt, TableConstraint, TypeName, UpdateStmt,
};

/// The text between two GO lines, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub statements: Vec<Stmt>,
}

/// A statement with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Where it starts.
    pub pos: Pos,
    /// Byte offset just past its end, so that its text can be shown.
    pub end: u32,
    /// What it is.
    pub kind: StmtKind,
}

/// The kinds of statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
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
    /// `BREAK`.
    Break,
    /// `CONTINUE`.
    Continue,
    /// `RETURN [n]`.
    Return(Option<Expr>),
    /// `GOTO label`.
    Goto(Ident),
    /// `label:`.
    Label(Ident),
    /// `BEGIN TRY … END TRY BEGIN CATCH … END CATCH`.
    TryCatch { body: Vec<Stmt>, handler: Vec<Stmt> },
    /// `THROW` alone, or with number, message and state (literals or variables).
    Throw(Option<Box<(Expr, Expr, Expr)>>),
    /// `RAISERROR(message, severity, state, args…) WITH …`.
    RaisError {
        message: Expr,
        severity: Expr,
        state: Expr,
        args: Vec<Expr>,
        nowait: bool,
        log: bool,
        seterror: bool,
    },
    /// `PRINT`.
    Print(Expr),
    /// `WAITFOR DELAY x` (true) or `WAITFOR TIME x`.
    WaitFor { delay: bool, time: Expr },
    /// `DECLARE @a INT = 1, @t TABLE (…)`.
    Declare(Vec<Declaration>),
    /// `SET @a = x`, `SET @a += x`.
    SetVariable {
        name: String,
        op: Option<BinaryOp>,
        value: Expr,
    },
    /// `SET NOCOUNT ON` and the like.
    SetOption(SetOption),
    /// `EXEC …`.
    Exec(ExecStmt),
    /// `BEGIN TRAN [name]`.
    BeginTran(Option<TranName>),
    /// `COMMIT [TRAN [name]] [WITH (DELAYED_DURABILITY = ON|OFF)]`, `COMMIT WORK`.
    Commit {
        name: Option<TranName>,
        delayed: bool,
    },
    /// `ROLLBACK [TRAN [name]]`, `ROLLBACK WORK`.
    Rollback(Option<TranName>),
    /// `SAVE TRAN name`.
    SaveTran(TranName),
    /// `USE database`.
    Use(Ident),
    /// A query.
    Select(SelectStmt),
    /// `INSERT`.
    Insert(InsertStmt),
    /// `UPDATE`.
    Update(UpdateStmt),
    /// `DELETE`.
    Delete(DeleteStmt),
    /// Definitions and permissions.
    Ddl(Ddl),
    /// `EXECUTE AS USER = 'x'` and, with `login`, `EXECUTE AS LOGIN = 'x'`.
    ExecuteAs { login: bool, name: Expr },
    /// `REVERT`.
    Revert,
    /// `KILL n`.
    Kill(i64),
    /// `CHECKPOINT`, which has nothing to do here.
    Checkpoint,
}

/// A transaction or savepoint name.
#[derive(Clone, Debug, PartialEq)]
pub enum TranName {
    /// A name as written.
    Name(Ident),
    /// A variable that holds it.
    Variable(String),
}

/// One declaration of DECLARE.
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
    /// `SET a, b ON|OFF` for the on/off options, upper case: NOCOUNT, XACT_ABORT, ANSI_NULLS,
    /// QUOTED_IDENTIFIER, ARITHABORT, ANSI_WARNINGS, ANSI_PADDING, CONCAT_NULL_YIELDS_NULL,
    /// NUMERIC_ROUNDABORT, ANSI_NULL_DFLT_ON, IMPLICIT_TRANSACTIONS, CURSOR_CLOSE_ON_COMMIT, NOEXEC,
    /// PARSEONLY, FMTONLY, ANSI_DEFAULTS. The interpreter refuses those it can't honour.
    Switch(Vec<String>, bool),
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
    /// `SET DATEFORMAT x`.
    DateFormat(Ident),
    /// `SET LANGUAGE x`.
    Language(String),
    /// `SET CONTEXT_INFO x`.
    ContextInfo(Expr),
    /// `SET STATISTICS IO|TIME OFF`: they are never on.
    Statistics,
}

/// Deadlock priorities.
#[derive(Clone, Debug, PartialEq)]
pub enum DeadlockPriority {
    /// A level from -10 to 10; LOW is -5, NORMAL 0, HIGH 5.
    Level(i32),
    Variable(String),
}

/// Transaction isolation levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    /// `READ UNCOMMITTED`.
    ReadUncommitted,
    /// `READ COMMITTED`.
    ReadCommitted,
    /// `REPEATABLE READ`.
    RepeatableRead,
    /// `SERIALIZABLE`.
    Serializable,
    /// `SNAPSHOT`.
    Snapshot,
}

/// `EXEC`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecStmt {
    /// `@r = `.
    pub return_into: Option<String>,
    /// What is executed.
    pub target: ExecTarget,
    /// Arguments of a procedure.
    pub args: Vec<ExecArg>,
}

/// What EXEC runs.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecTarget {
    /// A procedure by name.
    Procedure(ObjectName),
    /// A procedure whose name is in a variable.
    Variable(String),
    /// `EXEC ('…' + @x)`: the pieces to concatenate.
    Text(Vec<Expr>),
}

/// An argument of EXEC.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecArg {
    /// `@name =`.
    pub name: Option<String>,
    /// The value; `None` is DEFAULT. Only literals, variables and bare words are legal; a bare word
    /// is a string to T-SQL and arrives as [`Literal::NString`](super::Literal::NString).
    pub value: Option<Expr>,
    /// `OUTPUT`.
    pub output: bool,
}
