//! The SET options that are on or off.

/// What the engine does when an option is switched one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The session remembers it and acts on it.
    Kept(Toggle),
    /// Nothing: the engine always behaves so.
    Always,
    /// It is refused, because the engine would go on behaving the other way.
    Refused,
}

/// The options that the session remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggle {
    NoCount,
    NoExec,
    XactAbort,
    QuotedIdentifier,
    ImplicitTransactions,
}

macro_rules! switches {
    ($($switch:ident, $name:literal, $on:expr, $off:expr;)+) => {
        /// An option of `SET x ON|OFF`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Switch {
            $(#[doc = $name] $switch,)+
        }

        impl Switch {
            pub const ALL: &'static [Self] = &[$(Self::$switch,)+];

            /// Its name, what ON does and what OFF does.
            const fn row(self) -> (&'static str, Effect, Effect) {
                match self {
                    $(Self::$switch => ($name, $on, $off),)+
                }
            }
        }
    };
}

use Effect::{Always, Kept, Refused};

switches! {
    NoCount, "NOCOUNT", Kept(Toggle::NoCount), Kept(Toggle::NoCount);
    NoExec, "NOEXEC", Kept(Toggle::NoExec), Kept(Toggle::NoExec);
    XactAbort, "XACT_ABORT", Kept(Toggle::XactAbort), Kept(Toggle::XactAbort);
    QuotedIdentifier, "QUOTED_IDENTIFIER", Kept(Toggle::QuotedIdentifier), Kept(Toggle::QuotedIdentifier);
    ImplicitTransactions, "IMPLICIT_TRANSACTIONS", Kept(Toggle::ImplicitTransactions), Kept(Toggle::ImplicitTransactions);
    AnsiNulls, "ANSI_NULLS", Always, Refused;
    AnsiWarnings, "ANSI_WARNINGS", Always, Refused;
    AnsiPadding, "ANSI_PADDING", Always, Refused;
    ArithAbort, "ARITHABORT", Always, Refused;
    ConcatNullYieldsNull, "CONCAT_NULL_YIELDS_NULL", Always, Refused;
    AnsiNullDfltOn, "ANSI_NULL_DFLT_ON", Always, Refused;
    AnsiNullDfltOff, "ANSI_NULL_DFLT_OFF", Refused, Always;
    NumericRoundAbort, "NUMERIC_ROUNDABORT", Refused, Always;
    ArithIgnore, "ARITHIGNORE", Refused, Always;
    CursorCloseOnCommit, "CURSOR_CLOSE_ON_COMMIT", Refused, Always;
    ParseOnly, "PARSEONLY", Refused, Always;
    FmtOnly, "FMTONLY", Refused, Always;
    AnsiDefaults, "ANSI_DEFAULTS", Refused, Refused;
}

impl Switch {
    /// The option of an upper-case name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.name() == name)
    }

    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// What it does to switch it on or off.
    pub const fn effect(self, on: bool) -> Effect {
        let (_, when_on, when_off) = self.row();
        if on { when_on } else { when_off }
    }
}
