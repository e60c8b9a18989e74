//! On what kind of server a test of adversity runs: the one place that knows.

use std::ops::Range;

use mssql_embedded::Server;

use super::database::SnapshotReads;

/// How many seeds the tests of adversity run instead of the few of every day.
const SEEDS: &str = "DUROXIDE_SQL_TEST_SEEDS";

/// One kind of server.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Decides what the test leaves to chance; a failure is repeated with it.
    pub seed: u64,
    pub reads: SnapshotReads,
    pub optimized_locking: bool,
}

impl Setting {
    /// The seeds of every day, or as many as the environment asks for, with snapshot reads off and
    /// on, and optimized locking off and on, in turns.
    pub fn each(every_day: Range<u64>) -> impl Iterator<Item = Self> {
        let seeds = match wanted() {
            Some(seeds) => 0..seeds,
            None => every_day,
        };
        seeds.map(|seed| Self {
            seed,
            reads: if seed % 2 == 0 {
                SnapshotReads::Off
            } else {
                SnapshotReads::On
            },
            optimized_locking: seed / 2 % 2 == 1,
        })
    }

    /// A server of this kind.
    pub fn start(self) -> Server {
        Server::builder()
            .read_committed_snapshot(self.reads == SnapshotReads::On)
            .adversary(self.seed)
            .optimized_locking(self.optimized_locking)
            .start()
            .expect("the embedded server starts")
    }
}

/// The number of seeds that the environment asks for.
pub fn wanted() -> Option<u64> {
    let text = std::env::var(SEEDS).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().expect("a number of seeds"))
}
