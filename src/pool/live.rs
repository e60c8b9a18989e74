//! A connection from its opening to its end, and how many there are.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::Instant;

use super::visible::Visible;
use crate::dial::Connection;
use crate::observe::events::{self, Closed};
use crate::observe::metrics::PoolGauges;
use crate::options::Options;

/// How many connections a provider has, and who waits for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStatus {
    /// Connections that may be open at the same time.
    pub max: u32,
    /// Connections that are open, in use or not. The one that waits in the database for the work of
    /// others is not among them.
    pub open: u32,
    /// Open connections that nobody uses now.
    pub idle: u32,
    /// Callers that wait for a connection.
    pub waiting: u32,
}

/// Counts the connections and the callers of one pool.
pub(super) struct Counts {
    schema: String,
    max: u32,
    /// Connections that are open or being opened.
    seats: AtomicU32,
    open: AtomicU32,
    waiting: AtomicU32,
    pub(super) gauges: PoolGauges,
}

impl Counts {
    pub(super) fn new(options: &Options) -> Arc<Self> {
        let database = options.database.as_deref().unwrap_or_default();
        let gauges = PoolGauges::new(&options.server(), database, options.schema.as_str());
        gauges.max(options.pool_max);
        Arc::new(Self {
            schema: options.schema.as_str().to_owned(),
            max: options.pool_max,
            seats: AtomicU32::new(0),
            open: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            gauges,
        })
    }

    /// For the connection of a caller that has a place and found none idle: whatever is open is in use then, so that
    /// there are no more of them than places.
    pub(super) fn seat(self: &Arc<Self>) -> Seat {
        self.seats.fetch_add(1, Ordering::Relaxed);
        Seat(self.clone())
    }

    /// For a connection that nobody asked for: only as long as the pool may have one more.
    pub(super) fn spare_seat(self: &Arc<Self>) -> Option<Seat> {
        let one_more = |seats| (seats < self.max).then_some(seats + 1);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let is_free = self.seats.fetch_update(set, fetch, one_more).is_ok();
        is_free.then(|| Seat(self.clone()))
    }

    pub(super) fn open(&self) -> u32 {
        self.open.load(Ordering::Relaxed)
    }

    pub(super) fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// One more caller waits, until what is returned is dropped.
    pub(super) fn wait(self: &Arc<Self>) -> Waiting {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        self.gauges.waiting(waiting);
        Waiting(self.clone())
    }
}

/// One of the connections that a pool may have, from the first byte of its dialling to its end.
pub(super) struct Seat(Arc<Counts>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.seats.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A caller that waits for a connection.
pub(super) struct Waiting(Arc<Counts>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let before = self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.gauges.waiting(before.saturating_sub(1));
    }
}

/// A connection that is counted while it is open, and whose end is told with its reason.
pub(crate) struct Live {
    connection: Connection,
    opened_at: Instant,
    /// Why it will be closed, as far as is known.
    reason: Closed,
    /// None if it is not one of the pool's, but of somebody who keeps it.
    seat: Option<Seat>,
    counts: Arc<Counts>,
}

impl Live {
    /// One of the pool's connections.
    pub(super) fn pooled(connection: Connection, seat: Seat) -> Self {
        let counts = seat.0.clone();
        let open = counts.open.fetch_add(1, Ordering::Relaxed) + 1;
        counts.gauges.open(open);
        Self::new(connection, &counts, Some(seat))
    }

    /// A connection beside the pool.
    pub(super) fn own(connection: Connection, counts: &Arc<Counts>) -> Self {
        Self::new(connection, counts, None)
    }

    fn new(connection: Connection, counts: &Arc<Counts>, seat: Option<Seat>) -> Self {
        Self {
            connection,
            opened_at: Instant::now(),
            reason: Closed::Released,
            seat,
            counts: counts.clone(),
        }
    }
}

impl Visible for Live {
    fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    fn condemn(&mut self, reason: Closed) {
        self.reason = reason;
    }
}

impl Deref for Live {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Live {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let Counts {
            schema,
            open,
            gauges,
            ..
        } = &*self.counts;
        if self.seat.is_some() {
            let before = open.fetch_sub(1, Ordering::Relaxed);
            gauges.open(before.saturating_sub(1));
        }
        let age = self.opened_at.elapsed();
        events::connection_closed(self.connection.id, schema, age, self.reason);
    }
}
