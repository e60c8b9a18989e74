//! Sessions that define at the same time.

use std::sync::Barrier;
use std::thread;

use super::Controls;
use crate::engine::{Engine, EngineOptions};

const SESSIONS: usize = 4;
const ROUNDS: usize = 25;

/// Binding a definition gives the latch up, and a name that was free before may be taken after it.
#[test]
fn one_of_several_sessions_creates_a_table() {
    let controls = Controls::new(&Engine::new(&EngineOptions::default()));
    let barrier = Barrier::new(SESSIONS);
    for round in 0..ROUNDS {
        let create = format!(
            "CREATE TABLE t{round} (a INT NOT NULL DEFAULT 1 + 2, b AS a * 2, CHECK (a > 0))"
        );
        let session = || {
            barrier.wait();
            let outcome = controls.execute("master", &create);
            outcome.err().map(|error| error.number)
        };
        let mut outcomes: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..SESSIONS).map(|_| scope.spawn(session)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        outcomes.sort_unstable();
        assert_eq!(outcomes, [None, Some(2714), Some(2714), Some(2714)]);
    }
}
