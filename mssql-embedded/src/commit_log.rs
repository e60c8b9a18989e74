//! The log as far as commits wait for it: how long a flush takes, and how many there were.
//!
//! There is no log. A commit that SQL Server would harden waits here as long as a flush takes, holding
//! its locks and not the latch. Commits that come while a flush is under way share the next one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// The flushes of one engine.
#[derive(Debug, Default)]
pub struct CommitLog {
    latency_nanos: AtomicU64,
    flushes: AtomicU64,
    progress: Mutex<Progress>,
    flushed: Condvar,
}

/// Commit records by number: those written, and those on disk.
#[derive(Debug, Default)]
struct Progress {
    written: u64,
    hardened: u64,
    is_flushing: bool,
}

impl CommitLog {
    /// How long a flush takes.
    pub fn set_latency(&self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.latency_nanos.store(nanos, Ordering::Relaxed);
    }

    /// How many flushes commits have waited for.
    pub fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Relaxed)
    }

    /// Whether a commit takes any time.
    pub fn has_latency(&self) -> bool {
        self.latency_nanos.load(Ordering::Relaxed) > 0
    }

    /// Writes a commit record and waits until it is hardened.
    pub fn harden(&self) {
        let latency = Duration::from_nanos(self.latency_nanos.load(Ordering::Relaxed));
        if latency.is_zero() {
            self.flushes.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut progress = self.progress.lock();
        progress.written += 1;
        let mine = progress.written;
        while progress.hardened < mine {
            if progress.is_flushing {
                self.flushed.wait(&mut progress);
                continue;
            }
            progress.is_flushing = true;
            let upto = progress.written;
            drop(progress);
            std::thread::sleep(latency);
            self.flushes.fetch_add(1, Ordering::Relaxed);
            progress = self.progress.lock();
            progress.hardened = upto;
            progress.is_flushing = false;
            self.flushed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// While one flush is under way, all that arrive wait for the next, together.
    #[test]
    fn commits_that_come_together_share_a_flush() {
        let log = Arc::new(CommitLog::default());
        log.set_latency(Duration::from_millis(50));
        let commits: Vec<_> = (0..20)
            .map(|_| {
                let log = Arc::clone(&log);
                std::thread::spawn(move || log.harden())
            })
            .collect();
        for commit in commits {
            commit.join().expect("no panic");
        }
        assert!(log.flushes() < 20, "{} flushes", log.flushes());
        let before = log.flushes();
        log.harden();
        assert_eq!(log.flushes(), before + 1);
    }
}
