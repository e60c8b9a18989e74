//! Lock modes: which ones are compatible and what two of them amount to.
//!
//! A mode has two parts, as SQL Server's key-range locks do: one for the resource itself and one for
//! the gap before a key. The documented matrices follow from checking both parts separately, and
//! combinations such as RangeS-S with X need no table of their own.

use std::fmt;

/// The part of a mode that concerns the resource itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(
    clippy::upper_case_acronyms,
    reason = "the modes' names in SQL Server's documentation"
)]
pub enum Strength {
    /// Nothing: a pure range test.
    Null,
    /// Schema stability.
    SchS,
    /// Schema modification.
    SchM,
    /// Intent shared.
    IS,
    /// Intent exclusive.
    IX,
    /// Shared.
    S,
    /// Update.
    U,
    /// Exclusive.
    X,
    /// Shared with intent exclusive.
    SIX,
    /// Update with intent exclusive.
    UIX,
}

/// The part of a mode that concerns the gap between the key and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Gap {
    /// The gap is free.
    None,
    /// Nobody may insert into the gap (RangeS).
    Shared,
    /// A test before an insert (RangeI).
    Insert,
    /// Nobody else may look at the gap or insert into it (RangeX).
    Exclusive,
}

/// A strength, and for key-range locks what holds for the gap before the key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mode {
    /// What is asked of the resource.
    pub strength: Strength,
    /// What is asked of the gap before it.
    pub gap: Gap,
}

impl Mode {
    /// Schema stability: every statement has it on what it was bound against, so that no definition
    /// changes meanwhile.
    pub const SCH_S: Self = Self::plain(Strength::SchS);
    /// Schema modification: a definition has it on what it changes, and nobody else has any lock
    /// there.
    pub const SCH_M: Self = Self::plain(Strength::SchM);
    /// Intent shared: somebody reads rows of the table or page.
    pub const IS: Self = Self::plain(Strength::IS);
    /// Intent exclusive: somebody changes rows of the table or page, or searches for those to
    /// change.
    pub const IX: Self = Self::plain(Strength::IX);
    /// Shared: a read, beside others.
    pub const S: Self = Self::plain(Strength::S);
    /// Update: a read of what may be changed. Readers may have S beside it, but nobody else U.
    pub const U: Self = Self::plain(Strength::U);
    /// Exclusive: a write.
    pub const X: Self = Self::plain(Strength::X);
    /// Shared with intent exclusive: somebody has read the whole table and changes some of its
    /// rows.
    pub const SIX: Self = Self::plain(Strength::SIX);
    /// Shared key, shared gap: a serializable read.
    pub const RANGE_S_S: Self = Self::range(Gap::Shared, Strength::S);
    /// Update key, shared gap: a serializable search for rows to change.
    pub const RANGE_S_U: Self = Self::range(Gap::Shared, Strength::U);
    /// The test before an insert: waits until nobody protects the gap, and is not kept.
    pub const RANGE_I_N: Self = Self::range(Gap::Insert, Strength::Null);
    /// Exclusive key and gap: a serializable write.
    pub const RANGE_X_X: Self = Self::range(Gap::Exclusive, Strength::X);

    /// A mode without a gap.
    pub const fn plain(strength: Strength) -> Self {
        Self {
            strength,
            gap: Gap::None,
        }
    }

    /// A key-range mode.
    pub const fn range(gap: Gap, strength: Strength) -> Self {
        Self { strength, gap }
    }

    /// Whether two sessions can hold these modes on one resource at the same time.
    pub fn compatible(self, other: Self) -> bool {
        CONFLICTS[self.strength as usize] & (1 << other.strength as u16) == 0
            && gaps_compatible(self.gap, other.gap)
    }

    /// The weakest mode that grants what both grant: what a conversion asks for.
    #[must_use]
    pub fn combine(self, other: Self) -> Self {
        Self {
            strength: combine_strength(self.strength, other.strength),
            gap: self.gap.max(other.gap),
        }
    }

    /// Whether holding this mode makes asking for `other` unnecessary.
    pub fn covers(self, other: Self) -> bool {
        self.combine(other) == self
    }

    /// Whether a lock of this mode on a table makes a lock of mode `row` on one of its rows unnecessary.
    pub fn table_covers_row(self, row: Self) -> bool {
        match self.strength {
            Strength::X | Strength::SchM => true,
            Strength::U | Strength::UIX => row.strength <= Strength::U && row.gap <= Gap::Shared,
            Strength::S | Strength::SIX => row.strength <= Strength::S && row.gap <= Gap::Shared,
            Strength::Null | Strength::SchS | Strength::IS | Strength::IX => false,
        }
    }

    /// Whether the gap before the key is protected.
    pub fn is_range(self) -> bool {
        self.gap != Gap::None
    }
}

impl fmt::Display for Mode {
    /// The name that sys.dm_tran_locks shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strength = match self.strength {
            Strength::Null => "N",
            Strength::SchS => "Sch-S",
            Strength::SchM => "Sch-M",
            Strength::IS => "IS",
            Strength::IX => "IX",
            Strength::S => "S",
            Strength::U => "U",
            Strength::X => "X",
            Strength::SIX => "SIX",
            Strength::UIX => "UIX",
        };
        match self.gap {
            Gap::None => f.write_str(strength),
            // A shared gap under an exclusive key excludes the same requests as RangeX-X.
            Gap::Shared if self.strength == Strength::X => f.write_str("RangeX-X"),
            Gap::Shared => write!(f, "RangeS-{strength}"),
            Gap::Insert => write!(f, "RangeI-{strength}"),
            Gap::Exclusive => write!(f, "RangeX-{strength}"),
        }
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const fn bits(list: &[Strength]) -> u16 {
    let mut mask = 0;
    let mut i = 0;
    while i < list.len() {
        mask |= 1 << list[i] as u16;
        i += 1;
    }
    mask
}

/// For each strength, the strengths another session may not hold at the same time.
const CONFLICTS: [u16; 10] = {
    use Strength::{IS, IX, S, SIX, SchM, SchS, U, UIX, X};
    [
        0,
        bits(&[SchM]),
        bits(&[SchS, SchM, IS, IX, S, U, X, SIX, UIX]),
        bits(&[SchM, X]),
        bits(&[SchM, S, U, X, SIX, UIX]),
        bits(&[SchM, IX, X, SIX, UIX]),
        bits(&[SchM, IX, U, X, SIX, UIX]),
        bits(&[SchM, IS, IX, S, U, X, SIX, UIX]),
        bits(&[SchM, IX, S, U, X, SIX, UIX]),
        bits(&[SchM, IX, S, U, X, SIX, UIX]),
    ]
};

fn gaps_compatible(a: Gap, b: Gap) -> bool {
    match (a, b) {
        (Gap::None, _) | (_, Gap::None) => true,
        (Gap::Exclusive, _) | (_, Gap::Exclusive) => false,
        (Gap::Shared | Gap::Insert, _) => a == b,
    }
}

fn combine_strength(a: Strength, b: Strength) -> Strength {
    use Strength::{IS, IX, Null, S, SIX, SchM, SchS, U, UIX, X};
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    match (low, high) {
        (Null | SchS, other) => other,
        (SchM, _) => SchM,
        (X, _) | (_, X) => X,
        (IS, other) => other,
        (IX, S) => SIX,
        (IX, U) => UIX,
        (U, SIX) => UIX,
        (IX | S | U | SIX | UIX, other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_matrix(modes: &[Mode], rows: &[&str]) {
        for (requested, row) in modes.iter().zip(rows) {
            for (existing, mark) in modes.iter().zip(row.chars()) {
                assert_eq!(
                    requested.compatible(*existing),
                    mark == 'y',
                    "{requested} against {existing}"
                );
            }
        }
    }

    /// The matrix of the locking guide for IS, S, U, IX, SIX, X.
    #[test]
    fn table_modes_follow_the_documented_matrix() {
        check_matrix(
            &[Mode::IS, Mode::S, Mode::U, Mode::IX, Mode::SIX, Mode::X],
            &["yyyyyn", "yyynnn", "yynnnn", "ynnynn", "ynnnnn", "nnnnnn"],
        );
    }

    /// The matrix of the locking guide for S, U, X and the four key-range modes.
    #[test]
    fn key_range_modes_follow_the_documented_matrix() {
        check_matrix(
            &[
                Mode::S,
                Mode::U,
                Mode::X,
                Mode::RANGE_S_S,
                Mode::RANGE_S_U,
                Mode::RANGE_I_N,
                Mode::RANGE_X_X,
            ],
            &[
                "yynyyyn", "ynnynyn", "nnnnnyn", "yynyynn", "ynnynnn", "yyynnyn", "nnnnnnn",
            ],
        );
    }

    #[test]
    fn schema_modes_exclude_only_what_they_must() {
        for mode in [Mode::IS, Mode::IX, Mode::S, Mode::U, Mode::X, Mode::SIX] {
            assert!(Mode::SCH_S.compatible(mode));
            assert!(!Mode::SCH_M.compatible(mode));
        }
        assert!(!Mode::SCH_M.compatible(Mode::SCH_S));
    }

    #[test]
    fn combining_is_symmetric_and_never_weaker() {
        let all = [
            Mode::SCH_S,
            Mode::SCH_M,
            Mode::IS,
            Mode::IX,
            Mode::S,
            Mode::U,
            Mode::X,
            Mode::SIX,
            Mode::RANGE_S_S,
            Mode::RANGE_S_U,
            Mode::RANGE_X_X,
        ];
        for a in all {
            for b in all {
                let both = a.combine(b);
                assert_eq!(both, b.combine(a));
                assert!(both.covers(a) && both.covers(b), "{a} {b} {both}");
                for other in all {
                    assert!(
                        !both.compatible(other) || a.compatible(other),
                        "{a} {b} {other}"
                    );
                }
            }
        }
        assert_eq!(Mode::IX.combine(Mode::S), Mode::SIX);
        assert_eq!(Mode::RANGE_S_U.combine(Mode::X).to_string(), "RangeX-X");
    }
}
