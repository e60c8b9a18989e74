//! What a statement did.

/// Counters of one statement or procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Rows and index entries looked at.
    pub rows_read: u64,
    /// Deleted index entries passed over that had not been cleaned up.
    pub ghosts_read: u64,
    /// Rows put in order, where no index had them in the order asked for.
    pub rows_sorted: u64,
    /// Rows inserted, updated and deleted.
    pub rows_written: u64,
    /// Bytes that SQL Server would write to its log, estimated from row images; also those of what is
    /// rolled back.
    pub log_bytes: u64,
    /// Lock requests that were granted, at once or after a wait.
    pub locks_taken: u64,
    /// Lock requests that had to wait.
    pub lock_waits: u64,
    /// Row locks exchanged for a table lock.
    pub escalations: u64,
}

impl Stats {
    pub fn add(&mut self, other: &Self) {
        self.rows_read += other.rows_read;
        self.ghosts_read += other.ghosts_read;
        self.rows_sorted += other.rows_sorted;
        self.rows_written += other.rows_written;
        self.log_bytes += other.log_bytes;
        self.locks_taken += other.locks_taken;
        self.lock_waits += other.lock_waits;
        self.escalations += other.escalations;
    }

    /// What was counted after `earlier`, an earlier state of the same count.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            rows_read: self.rows_read - earlier.rows_read,
            ghosts_read: self.ghosts_read - earlier.ghosts_read,
            rows_sorted: self.rows_sorted - earlier.rows_sorted,
            rows_written: self.rows_written - earlier.rows_written,
            log_bytes: self.log_bytes - earlier.log_bytes,
            locks_taken: self.locks_taken - earlier.locks_taken,
            lock_waits: self.lock_waits - earlier.lock_waits,
            escalations: self.escalations - earlier.escalations,
        }
    }
}
