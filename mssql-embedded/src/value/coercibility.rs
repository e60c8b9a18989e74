//! How strongly a text insists on its collation.

use super::Collation;

/// The label of a text's collation: "Collation Precedence (Transact-SQL)".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coercibility {
    /// Literals, variables, parameters, and texts made of something else: they take the other side's collation.
    Default,
    /// Columns.
    Implicit,
    /// Two columns that disagree have met, and what came of it has no collation.
    Unresolved(Conflict),
    /// `COLLATE`.
    Explicit,
}

/// Which collations met without one giving way, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The collation of the later operand, which messages name first.
    pub later: Collation,
    /// The collation of the earlier operand.
    pub earlier: Collation,
    /// The operator as messages name it.
    pub operator: &'static str,
}

impl Coercibility {
    /// The conflict that is still to be settled.
    pub fn conflict(self) -> Option<Conflict> {
        match self {
            Self::Unresolved(conflict) => Some(conflict),
            Self::Default | Self::Implicit | Self::Explicit => None,
        }
    }

    /// The higher one wins over the lower one.
    pub fn rank(self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Implicit => 1,
            Self::Unresolved(_) => 2,
            Self::Explicit => 3,
        }
    }
}
