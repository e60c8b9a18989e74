//! What a command found out, from which the exit status is made.

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Good,
    /// The command worked, and what it looked for is there: something is stuck, unfit, not
    /// installed.
    Found,
}
