//! What the adversary decides.

/// What can be asked. Each kind rests on a document, named in `tests/it/adversary/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// Whether a plan that is at hand is made anew.
    Recompile,
    /// Which index reaches a table, and by seek or scan.
    AccessPath,
    /// Which member of a join comes next.
    JoinOrder,
    /// Whether a join reads the other side anew for each row, or once.
    JoinStrategy,
    /// In which order rows come that nobody ordered.
    RowOrder,
    /// Whether a write reads everything first or goes row by row.
    WriteOrder,
    /// Rows, pages or the table.
    LockGrain,
    /// After how many locks a statement exchanges them for a table lock.
    Escalation,
    /// Whether predicates are evaluated before a row is locked.
    LockAfterQualification,
    /// Whether ghosts are cleaned up now.
    GhostCleanup,
    /// Whether another session goes first at a lock.
    Schedule,
    /// Whether, and for how long, other sessions go first at a statement.
    Turn,
    /// Whether a condition is tested before a row is looked up, or only when nothing can be given back.
    Filter,
    /// Whether the rows of a part of the plan are kept and used again, and whether all of them are read first.
    Spool,
    /// Who gives up among sessions of the same deadlock priority.
    Victim,
}
