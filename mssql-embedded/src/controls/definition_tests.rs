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

/// Each finds the table as it is once it has its lock, and binding what it adds gives the latch up.
#[test]
fn sessions_that_add_to_one_table_lose_nothing() {
    let controls = Controls::new(&Engine::new(&EngineOptions::default()));
    controls
        .execute(
            "master",
            "CREATE TABLE t (id INT NOT NULL); INSERT t VALUES (1), (2)",
        )
        .unwrap();
    let barrier = Barrier::new(SESSIONS);
    for round in 0..ROUNDS {
        let session = |n: usize| {
            barrier.wait();
            let own = format!(
                "ALTER TABLE t ADD c{round}_{n} INT NOT NULL DEFAULT 1 + 2 CHECK (c{round}_{n} > 0)"
            );
            controls.execute("master", &own).unwrap();
            let shared = format!("ALTER TABLE t ADD d{round} INT NULL CHECK (d{round} > 0)");
            let outcome = controls.execute("master", &shared);
            outcome.err().map(|error| error.number)
        };
        let session = &session;
        let mut outcomes: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..SESSIONS)
                .map(|n| scope.spawn(move || session(n)))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        outcomes.sort_unstable();
        assert_eq!(outcomes, [None, Some(2705), Some(2705), Some(2705)]);
    }
    let columns = 1 + (SESSIONS + 1) * ROUNDS;
    let check = format!(
        "IF (SELECT COUNT(*) FROM sys.columns WHERE object_id = OBJECT_ID(N't')) <> {columns} \
             THROW 50000, N'columns are missing', 1; \
         DECLARE @n INT = (SELECT COUNT(*) FROM t WHERE c0_0 = 3 AND c{last}_1 = 3); \
         IF @n <> 2 THROW 50000, N'rows are missing', 1",
        last = ROUNDS - 1
    );
    controls.execute("master", &check).unwrap();
}
