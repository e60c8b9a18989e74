//! What requests and statements cost, by procedure.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::trigger::same_procedure;
use super::{Request, Stats};

/// How many different statements are counted one by one; more are counted together under an empty
/// text, so that generated texts do not fill the memory.
const STATEMENTS_KEPT: usize = 10_000;

/// The same for the procedures that requests name, which need not exist.
const PROCEDURES_KEPT: usize = 10_000;

/// Names and texts are counted one by one until they take so many bytes together.
const BYTES_KEPT: usize = 64 << 20;

/// Bytes of one request and its answer, without packet headers and encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From the client.
    pub received: u64,
    /// To the client.
    pub sent: u64,
}

/// What the calls of one procedure cost, or all requests together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests: round trips.
    pub calls: u64,
    /// What their statements did.
    pub stats: Stats,
    /// Bytes over the wire.
    pub traffic: Traffic,
    /// How long the server worked on them, waiting for locks included.
    pub server_time: Duration,
}

impl Counters {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.stats.add(&other.stats);
        self.traffic.received += other.traffic.received;
        self.traffic.sent += other.traffic.sent;
        self.server_time += other.server_time;
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            calls: self.calls - earlier.calls,
            stats: self.stats.since(&earlier.stats),
            traffic: Traffic {
                received: self.traffic.received - earlier.traffic.received,
                sent: self.traffic.sent - earlier.traffic.sent,
            },
            server_time: self.server_time.saturating_sub(earlier.server_time),
        }
    }
}

/// What the executions of one statement cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementCounters {
    /// How often it ran, failures included.
    pub executions: u64,
    /// What it did; an EXEC includes what it called.
    pub stats: Stats,
}

/// The counters at one moment.
///
/// A procedure call is counted under `schema.name` as the client spelled it; a text that consists of
/// one EXEC counts as a call of that procedure. Other texts count as `batch` or `sp_executesql`,
/// BEGIN, COMMIT and ROLLBACK requests of the driver as `transaction`. After ten thousand different names, or 64 MiB
/// of names and texts, the rest is counted together under an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// By `schema.name` of the procedure, or by the label that stands for other requests.
    pub procedures: BTreeMap<String, Counters>,
    /// By procedure (empty for batches) and text, if statements are watched.
    pub statements: BTreeMap<(String, String), StatementCounters>,
}

impl Snapshot {
    /// The counters of a procedure. A name without a schema adds up all schemas.
    pub fn of(&self, procedure: &str) -> Counters {
        let mut sum = Counters::default();
        for (name, counters) in &self.procedures {
            if same_procedure(procedure, name) {
                sum.add(counters);
            }
        }
        sum
    }

    /// The counters of all statements whose text contains `fragment`.
    pub fn statement(&self, fragment: &str) -> StatementCounters {
        let mut sum = StatementCounters::default();
        for ((_, text), counters) in &self.statements {
            if text.contains(fragment) {
                sum.executions += counters.executions;
                sum.stats.add(&counters.stats);
            }
        }
        sum
    }

    /// All requests added up, under whatever name they are counted.
    pub fn total(&self) -> Counters {
        let mut sum = Counters::default();
        for counters in self.procedures.values() {
            sum.add(counters);
        }
        sum
    }

    /// What was counted after `earlier`, a snapshot of the same engine with no reset in between.
    /// What did not happen is left out.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut new = Self::default();
        for (name, counters) in &self.procedures {
            let before = earlier.procedures.get(name).copied().unwrap_or_default();
            if counters.calls != before.calls {
                new.procedures.insert(name.clone(), counters.since(&before));
            }
        }
        for (key, counters) in &self.statements {
            let before = earlier.statements.get(key).copied().unwrap_or_default();
            if counters.executions != before.executions {
                let spent = StatementCounters {
                    executions: counters.executions - before.executions,
                    stats: counters.stats.since(&before.stats),
                };
                new.statements.insert(key.clone(), spent);
            }
        }
        new
    }
}

impl fmt::Display for Snapshot {
    /// A table for people: a line for each procedure.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.procedures.keys().map(|name| name.len()).max();
        let width = width.unwrap_or(0).max("procedure".len());
        writeln!(
            f,
            "{:width$} {:>9} {:>11} {:>9} {:>11} {:>11} {:>11} {:>9} {:>11} {:>12} {:>12} {:>11}",
            "procedure",
            "calls",
            "rows read",
            "ghosts",
            "written",
            "log bytes",
            "locks",
            "waits",
            "escalations",
            "bytes in",
            "bytes out",
            "ms"
        )?;
        for (name, c) in &self.procedures {
            writeln!(
                f,
                "{name:width$} {:>9} {:>11} {:>9} {:>11} {:>11} {:>11} {:>9} {:>11} {:>12} {:>12} {:>11.1}",
                c.calls,
                c.stats.rows_read,
                c.stats.ghosts_read,
                c.stats.rows_written,
                c.stats.log_bytes,
                c.stats.locks_taken,
                c.stats.lock_waits,
                c.stats.escalations,
                c.traffic.received,
                c.traffic.sent,
                c.server_time.as_secs_f64() * 1e3
            )?;
        }
        Ok(())
    }
}

/// The counters as they are kept.
#[derive(Debug, Default)]
pub(super) struct Book {
    kept: Snapshot,
    /// What the names and texts in it take.
    bytes: usize,
}

impl Book {
    pub(super) fn request(&mut self, request: &Request<'_>) {
        let spent = Counters {
            calls: 1,
            stats: request.stats,
            traffic: request.traffic,
            server_time: request.time,
        };
        let kept = &mut self.kept.procedures;
        let bytes = self.bytes + request.label.len();
        let full = kept.len() >= PROCEDURES_KEPT || bytes > BYTES_KEPT;
        match kept.get_mut(request.label) {
            Some(counters) => counters.add(&spent),
            None if full => kept.entry(String::new()).or_default().add(&spent),
            None => {
                self.bytes = bytes;
                kept.insert(request.label.to_owned(), spent);
            }
        }
    }

    pub(super) fn statement(&mut self, procedure: &str, text: &str, stats: &Stats) {
        let mut key = (procedure.to_owned(), text.to_owned());
        if !self.kept.statements.contains_key(&key) {
            let bytes = self.bytes + procedure.len() + text.len();
            if self.kept.statements.len() >= STATEMENTS_KEPT || bytes > BYTES_KEPT {
                key = (String::new(), String::new());
            } else {
                self.bytes = bytes;
            }
        }
        let counters = self.kept.statements.entry(key).or_default();
        counters.executions += 1;
        counters.stats.add(stats);
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.kept.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(book: &mut Book, label: &str, rows_read: u64) {
        book.request(&Request {
            label,
            stats: Stats {
                rows_read,
                ..Stats::default()
            },
            time: Duration::from_millis(1),
            traffic: Traffic {
                received: 10,
                sent: 20,
            },
        });
    }

    #[test]
    fn since_keeps_only_what_happened_in_between() {
        let mut book = Book::default();
        call(&mut book, "a.fetch", 3);
        call(&mut book, "a.idle", 1);
        let earlier = book.snapshot();
        call(&mut book, "a.fetch", 4);
        call(&mut book, "b.fetch", 5);
        let new = book.snapshot().since(&earlier);
        assert_eq!(new.procedures.len(), 2);
        assert_eq!(new.of("a.fetch").stats.rows_read, 4);
        assert_eq!(new.of("fetch").calls, 2);
        assert_eq!(new.total().traffic.sent, 40);
        assert_eq!(new.of("idle"), Counters::default());
    }

    /// Generated texts cannot fill the memory, and none is lost from the sum.
    #[test]
    fn statements_beyond_the_limit_are_counted_together() {
        let mut book = Book::default();
        for n in 0..STATEMENTS_KEPT + 5 {
            book.statement("", &format!("SELECT {n}"), &Stats::default());
        }
        let snapshot = book.snapshot();
        assert_eq!(snapshot.statements.len(), STATEMENTS_KEPT + 1);
        let rest = snapshot.statements[&(String::new(), String::new())];
        assert_eq!(rest.executions, 5);
    }

    /// Nor can few that are long.
    #[test]
    fn long_texts_and_names_are_counted_together() {
        let mut book = Book::default();
        let long = "x".repeat(BYTES_KEPT / 4);
        for n in 0..8 {
            book.statement("", &format!("{n}{long}"), &Stats::default());
        }
        for n in 0..8 {
            call(&mut book, &format!("{n}{long}"), 1);
        }
        let snapshot = book.snapshot();
        assert_eq!(snapshot.statements.len(), 3 + 1);
        assert_eq!(
            snapshot.statements[&(String::new(), String::new())].executions,
            5
        );
        assert_eq!(snapshot.procedures[""].calls, 8);
    }

    /// Nor can names of procedures that a client makes up.
    #[test]
    fn procedures_beyond_the_limit_are_counted_together() {
        let mut book = Book::default();
        for n in 0..PROCEDURES_KEPT + 5 {
            call(&mut book, &format!("p{n}"), 1);
        }
        call(&mut book, "p0", 1);
        let snapshot = book.snapshot();
        assert_eq!(snapshot.procedures.len(), PROCEDURES_KEPT + 1);
        assert_eq!(snapshot.procedures[""].calls, 5);
        assert_eq!(snapshot.of("p0").calls, 2);
        assert_eq!(snapshot.total().calls, PROCEDURES_KEPT as u64 + 6);
    }
}
