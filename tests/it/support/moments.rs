//! Faults at chosen moments of the server's work, and which of them a run tries.

use mssql_embedded::{Controls, Pause, Rule, SqlError, Trigger};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Cut,
    /// The network swallows everything on every connection from then on.
    Silence,
    Error(i32, u8),
}

pub const FAULTS: [Fault; 7] = [
    Fault::Cut,
    Fault::Silence,
    Fault::Error(1205, 13),
    Fault::Error(3906, 16),
    Fault::Error(40613, 17),
    Fault::Error(976, 14),
    Fault::Error(8645, 17),
];

impl Fault {
    /// Waits for its moment.
    pub fn arm(self, controls: &Controls, trigger: Trigger) -> Armed {
        match self {
            Self::Cut => Armed::Rule(controls.cut(trigger)),
            Self::Silence => Armed::Pause(controls.pause(trigger)),
            Self::Error(number, severity) => {
                let error = SqlError::with(number, severity, 1, "raised by a test");
                Armed::Rule(controls.fail(trigger, error))
            }
        }
    }
}

/// A fault that waits for its moment, until it is dropped.
pub enum Armed {
    Rule(Rule),
    /// The server stands still at the moment, until the network has gone silent.
    Pause(Pause),
}

impl Armed {
    pub fn has_struck(&self) -> bool {
        match self {
            Self::Rule(rule) => rule.fired() > 0,
            Self::Pause(pause) => pause.fired() > 0,
        }
    }

    /// Waits for a moment at which the network goes silent, and lets the server go on after `silence`. Never
    /// ends for other faults, which need no help.
    pub async fn strike(&self, silence: impl FnOnce()) {
        match self {
            Self::Rule(_) => std::future::pending().await,
            Self::Pause(pause) => {
                pause.paused().await;
                silence();
                pause.release();
            }
        }
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if let Self::Rule(rule) = self {
            rule.disarm();
        }
    }
}

/// The cases that are tried: every so many, beginning with this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub first: usize,
    pub step: usize,
}

impl Share {
    /// The share that `EVERY_STATEMENT` asks for: 1 means everything, 3/20 the third of twenty shares.
    pub fn of_environment() -> Option<Self> {
        let text = std::env::var("EVERY_STATEMENT").ok()?;
        Some(Self::parse(&text).expect("EVERY_STATEMENT is 1 or, for instance, 3/20"))
    }

    fn parse(text: &str) -> Option<Self> {
        let (share, of) = text.split_once('/').unwrap_or((text, "1"));
        let (share, step): (usize, usize) = (share.parse().ok()?, of.parse().ok()?);
        let first = share.checked_sub(1)?;
        (first < step).then_some(Self { first, step })
    }
}

#[test]
fn shares_hold_every_case_once() {
    assert_eq!(Share::parse("1"), Some(Share { first: 0, step: 1 }));
    for text in ["", "0", "2", "0/5", "6/5", "x/5", "1/0"] {
        assert_eq!(Share::parse(text), None, "{text}");
    }
    let shares = (1..=20).filter_map(|share| Share::parse(&format!("{share}/20")));
    let mut cases: Vec<usize> = shares
        .flat_map(|share| (share.first..143).step_by(share.step))
        .collect();
    cases.sort_unstable();
    assert_eq!(cases, (0..143).collect::<Vec<_>>());
}
