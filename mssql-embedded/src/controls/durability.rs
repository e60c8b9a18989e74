//! Commits and crashes.

use std::time::{Duration, Instant};

use super::Controls;
use crate::error::SqlResult;

/// Connections end within this time, or something holds them for ever.
const ENDING: Duration = Duration::from_secs(60);

impl Controls {
    /// How many flushes of the log durable commits have waited for. A transaction that wrote nothing, and
    /// a delayed-durable one, waits for none.
    pub fn flushes(&self) -> u64 {
        self.engine.log.flushes()
    }

    /// How long a durable commit waits for the log from now on.
    pub fn set_commit_latency(&self, latency: Duration) {
        self.engine.log.set_latency(latency);
    }

    /// Sets DELAYED_DURABILITY to ALLOWED or DISABLED.
    ///
    /// # Errors
    ///
    /// 5011 when there is no such database.
    pub fn allow_delayed_durability(&self, database: &str, on: bool) -> SqlResult<()> {
        let (name, state) = (
            super::admin::quoted(database),
            if on { "ALLOWED" } else { "DISABLED" },
        );
        self.execute(
            "master",
            &format!("ALTER DATABASE {name} SET DELAYED_DURABILITY = {state}"),
        )
    }

    /// The server loses its power and starts again: every connection is cut, what was open is rolled
    /// back, and commits that no durable commit came after are forgotten if they were delayed. False
    /// when connections did not end within a minute.
    pub fn crash(&self) -> bool {
        let deadline = Instant::now() + ENDING;
        loop {
            let live = self.sessions();
            if live.is_empty() {
                break;
            }
            for spid in live {
                self.kill(spid);
            }
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.engine.latch().store.forget_unhardened();
        true
    }
}
