//! What a busy machine takes away from a test, measured beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

const NAP: Duration = Duration::from_millis(10);
/// An idle machine wakes a sleeper within this, the grain of the timer included.
const USUAL: Duration = Duration::from_millis(12);

/// Sleeps again and again in the test's own runtime. What the test itself waits for, such as an answer that does not come, makes no
/// nap longer; whatever keeps its threads from running does.
pub struct Canary {
    held_up_us: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Canary {
    pub fn start() -> Self {
        let held_up_us = Arc::<AtomicU64>::default();
        let sum = held_up_us.clone();
        let task = tokio::spawn(async move {
            loop {
                let begun = Instant::now();
                tokio::time::sleep(NAP).await;
                let late = begun.elapsed().saturating_sub(USUAL);
                sum.fetch_add(late.as_micros() as u64, Ordering::Relaxed);
            }
        });
        Self { held_up_us, task }
    }

    /// How much longer than usual all naps took since the last call of this function.
    pub fn take(&self) -> Duration {
        Duration::from_micros(self.held_up_us.swap(0, Ordering::Relaxed))
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.task.abort();
    }
}
