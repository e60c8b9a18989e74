//! A call that is interrupted at any of its statements, or right before or after a commit, is undone, or it
//! was done already; it leaves no lock behind, and no open transaction.
//!
//! Every call of the adversity's tests is made in a session; and where the provider has a method for it,
//! through the provider, which must report none of these faults as permanent. The statements are counted in
//! an undisturbed call. Every day a sample is tried, the same each time, in which every procedure occurs;
//! `EVERY_STATEMENT` is read as in the tests of whole workflows.

mod calls;
mod method;
mod methods;

use std::collections::BTreeMap;

use mssql_embedded::{Controls, Trigger};

use super::bench::Bench;
use crate::support::database::SnapshotReads;
use crate::support::moments::{FAULTS, Fault, Share};
use crate::support::setting::Setting;

/// Where a call is interrupted; the number is how many of the kind it has behind it.
#[derive(Debug, Clone, Copy)]
enum Moment {
    Statement(u64),
    Commit(u64),
    Committed(u64),
}

impl Moment {
    fn trigger(self, procedure: &str) -> Trigger {
        let (trigger, passed) = match self {
            Self::Statement(n) => (Trigger::statement(), n),
            Self::Commit(n) => (Trigger::commit(), n),
            Self::Committed(n) => (Trigger::committed(), n),
        };
        trigger.of(procedure).after(passed)
    }
}

/// What an undisturbed call does.
struct Seen {
    statements: u64,
    commits: u64,
    /// Procedure, text and number of times.
    texts: BTreeMap<(String, String), u64>,
}

impl Seen {
    fn begin(controls: &Controls) {
        controls.reset_counters();
        controls.watch_statements(true);
    }

    /// What has run in procedures since it began.
    fn end(controls: &Controls) -> Self {
        controls.watch_statements(false);
        let mut seen = Self {
            statements: 0,
            commits: 0,
            texts: BTreeMap::new(),
        };
        for ((procedure, text), counters) in controls.counters().statements {
            let Some((_, name)) = procedure.split_once('.') else {
                continue;
            };
            seen.statements += counters.executions;
            if text.starts_with("COMMIT") {
                seen.commits += counters.executions;
            }
            let key = (name.to_owned(), text);
            seen.texts.insert(key, counters.executions);
        }
        seen
    }

    fn moments(&self) -> Vec<Moment> {
        let commits = (0..self.commits).flat_map(|n| [Moment::Commit(n), Moment::Committed(n)]);
        let statements = (0..self.statements).map(Moment::Statement);
        statements.chain(commits).collect()
    }
}

/// Chooses what is tried.
struct Choice {
    /// What the environment asks for.
    share: Option<Share>,
    /// Of how many cases of a call one is tried every day.
    every_day: usize,
    snapshot_reads: bool,
    calls: usize,
    cases: usize,
}

impl Choice {
    fn new(reads: SnapshotReads, every_day: usize) -> Self {
        Self {
            share: Share::of_environment(),
            every_day,
            snapshot_reads: reads == SnapshotReads::On,
            calls: 0,
            cases: 0,
        }
    }

    /// What is tried of the next call: at least one case of it every day, others for each setting.
    fn of(&mut self, seen: &Seen) -> Vec<(Moment, Fault)> {
        let moments = seen.moments();
        let all = moments
            .into_iter()
            .flat_map(|moment| FAULTS.map(|fault| (moment, fault)));
        let all: Vec<_> = all.collect();
        // Numbers that have no common divisor with that of the faults, so that each of these has its turn.
        let begun = 10 * self.calls + 5 * usize::from(self.snapshot_reads);
        let step = self.every_day.min(all.len());
        let (before, share) = match self.share {
            Some(share) => (self.cases, share),
            None => {
                let first = begun % step;
                (0, Share { first, step })
            }
        };
        self.calls += 1;
        self.cases += all.len();
        let chosen = all.into_iter().zip(before..);
        let chosen = chosen.filter(|(_, n)| n % share.step == share.first);
        chosen.map(|(case, _)| case).collect()
    }
}

fn setting(reads: SnapshotReads) -> Setting {
    let setting = Setting::each(0..1, &[]).next().expect("a setting");
    Setting { reads, ..setting }
}

/// The tables, in which a token is held or not, because some are new each time. The time of what is being
/// deleted says nothing.
async fn tables(bench: &mut Bench) -> Vec<String> {
    let lines = bench.tables().await;
    let anonymous = |line: String| {
        let has_token = ["lock ", "message ", "work "];
        if !has_token.iter().any(|kind| line.starts_with(kind)) {
            return line;
        }
        let mut words: Vec<&str> = line.split(' ').collect();
        let token = words.len() - 2;
        if words[token] != "free" {
            words[token] = "held";
        }
        if line.contains(" lane -3 ") {
            words.pop();
        }
        words.join(" ")
    };
    lines.into_iter().map(anonymous).collect()
}
