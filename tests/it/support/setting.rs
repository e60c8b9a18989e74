//! On what kind of server a test of adversity runs: the one place that knows.

use std::ops::Range;

use mssql_embedded::{Controls, Server};

use super::database::{SnapshotReads, adversary};

/// How many seeds the tests of adversity run instead of the few of every day.
const SEEDS: &str = "DUROXIDE_SQL_TEST_SEEDS";

/// How many of the adversary's decisions are shown with a failure.
const DECISIONS_SHOWN: usize = 200;

/// One kind of server.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Decides what the test leaves to chance; a failure is repeated with it.
    pub seed: u64,
    pub reads: SnapshotReads,
    pub optimized_locking: bool,
    /// Whether the engine, too, decides by the seed what SQL Server leaves open.
    pub adversary: bool,
}

impl Setting {
    /// The seeds of every day, or as many as the environment asks for, with snapshot reads off and
    /// on, and optimized locking off and on, in turns; and those that once showed a fault.
    pub fn each(every_day: Range<u64>, once_failed: &[u64]) -> impl Iterator<Item = Self> {
        let seeds = some().or_else(|| wanted().map(|seeds| 0..seeds));
        let seeds = seeds.unwrap_or(every_day);
        let seeds: Vec<u64> = once_failed.iter().copied().chain(seeds).collect();
        seeds.into_iter().map(|seed| Self {
            seed,
            reads: if seed % 2 == 0 {
                SnapshotReads::Off
            } else {
                SnapshotReads::On
            },
            optimized_locking: seed / 2 % 2 == 1,
            adversary: adversary().is_some(),
        })
    }

    /// The same with an adversary, whatever the environment says.
    pub fn with_adversary(self) -> Self {
        Self {
            adversary: true,
            ..self
        }
    }

    /// A server of this kind.
    pub fn start(self) -> Server {
        let mut builder = Server::builder()
            .read_committed_snapshot(self.reads == SnapshotReads::On)
            .optimized_locking(self.optimized_locking);
        if self.adversary {
            builder = builder.adversary(self.seed);
        }
        builder.start().expect("the embedded server starts")
    }
}

/// Says, when its test fails, what the adversary decided before.
pub struct Witness(Controls);

impl Witness {
    pub fn of(server: &Server) -> Self {
        Self(server.controls())
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for deadlock in self.0.deadlocks() {
            eprintln!("deadlock: {deadlock}");
        }
        let decisions = self.0.decisions();
        let latest = decisions.len().saturating_sub(DECISIONS_SHOWN);
        eprintln!("the adversary's latest decisions:");
        for decision in &decisions[latest..] {
            eprintln!("  {decision}");
        }
    }
}

/// The number of seeds that the environment asks for.
pub fn wanted() -> Option<u64> {
    let text = std::env::var(SEEDS).ok();
    let text = text.filter(|text| !text.is_empty() && !text.contains(".."))?;
    Some(text.parse().expect("a number of seeds"))
}

/// The few seeds that the environment names as `4..8`.
fn some() -> Option<Range<u64>> {
    let text = std::env::var(SEEDS).ok()?;
    let (first, end) = text.split_once("..")?;
    let number = |text: &str| text.parse().expect("a seed");
    Some(number(first)..number(end))
}
