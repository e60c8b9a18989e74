//! The connections: opened when needed, checked without a round trip, and thrown away when they
//! can no longer be trusted.

mod idle;
mod lanes;
mod live;
mod opener;
mod opening;
mod visible;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::poll_immediate;
use tokio::time::{Instant, timeout_at};

use crate::connect_error::DialError;
use crate::dial::Connection;
use crate::error::CallError;
use crate::observe::events::{self, Closed};
use crate::observe::{metrics, notice_after, quiet};
use crate::options::Options;
use crate::time::later;
use idle::{Idle, Pooled};
use lanes::{Freed, Lanes};
pub(crate) use lanes::{Lane, Place};
use live::Counts;
pub(crate) use live::Live;
pub use live::PoolStatus;
pub(crate) use opener::Opener;
use opening::Expecting;
use visible::Visible as _;

/// How often idle connections are looked through.
const HOUSEKEEPING: Duration = Duration::from_secs(30);
/// A connection that the server answered on so recently is alive, as far as anybody knows. Firewalls
/// forget connections that have been quiet for minutes.
const ALIVE_FOR: Duration = Duration::from_secs(5);
/// How long a connection has to answer a question that costs nothing.
const PROBE: Duration = Duration::from_secs(3);
/// How many connections are asked before the caller hears of it.
const PROBES_MAX: u32 = 4;

/// All connections of a provider.
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    options: Arc<Options>,
    opener: Opener,
    counts: Arc<Counts>,
    lanes: Lanes,
    /// The places of connections that are being opened although whoever wanted them has gone. As many as the others, and as reserved:
    /// what a renewal began to open is not given up because of callers whose logins are stuck.
    orphans: Lanes,
    expecting: Expecting,
    idle: Mutex<Idle>,
    /// A connection came back; whoever waits for one to be opened may take it instead.
    freed: Freed,
}

/// How long a caller waits for a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// From the beginning.
    pub(crate) all: Duration,
    /// From the caller's turn, when it may have a connection that is idle or has to be opened.
    pub(crate) connection: Duration,
}

impl Wait {
    /// As long as this, whatever takes the time.
    pub(crate) const fn up_to(limit: Duration) -> Self {
        Self {
            all: limit,
            connection: limit,
        }
    }
}

impl Pool {
    /// Takes over the first connection. More are opened beside the work, so that one which takes
    /// long holds nobody up.
    pub(crate) fn new(options: Arc<Options>, opener: Opener, first: Connection) -> Self {
        let shared = Arc::new(Shared {
            opener,
            counts: Counts::new(&options),
            lanes: Lanes::new(options.pool_max),
            orphans: Lanes::new(options.pool_max),
            expecting: Expecting::default(),
            idle: Mutex::new(Idle::new(options.max_lifetime)),
            freed: Freed::default(),
            options,
        });
        let seat = shared.counts.seat();
        shared.put(Pooled::new(Live::pooled(first, seat)));
        shared.refill();
        tokio::spawn(keep_house(Arc::downgrade(&shared)));
        Self { shared }
    }

    /// Borrows a connection within these limits, and within the one that is set for all callers.
    pub(crate) async fn get(&self, lane: Lane, wait: Wait) -> Result<Borrowed, CallError> {
        let shared = &self.shared;
        let begun = Instant::now();
        let mut got = std::pin::pin!(shared.get(lane, begun, wait));
        let result = match poll_immediate(got.as_mut()).await {
            Some(result) => result,
            None => {
                let _waiting = shared.counts.wait();
                let patience = shared.options.pool_wait_limit;
                notice_after(patience, got, || shared.note_wait(lane, patience)).await
            }
        };
        metrics::pool_wait(lane.as_str(), begun.elapsed());
        result
    }

    /// How many connections there are, and who waits for one.
    pub(crate) fn status(&self) -> PoolStatus {
        let Shared {
            options, counts, ..
        } = &*self.shared;
        PoolStatus {
            max: options.pool_max,
            open: counts.open(),
            idle: self.shared.idle().len() as u32,
            waiting: counts.waiting(),
        }
    }

    /// As [`Pool::get`], for a request that must not be given up early: one that may not be repeated, or
    /// that has met with silence once. The connection is alive: it was just opened, or heard lately, or
    /// it has answered a question that costs nothing. After a silence only the first and the last
    /// count, because all may have fallen silent together since they were heard.
    pub(crate) async fn get_alive(
        &self,
        lane: Lane,
        limit: Duration,
        after_silence: bool,
    ) -> Result<Borrowed, CallError> {
        for _ in 0..PROBES_MAX {
            let mut borrowed = self.get(lane, Wait::up_to(limit)).await?;
            if borrowed.is_alive(after_silence) || borrowed.answers().await {
                return Ok(borrowed);
            }
        }
        Err(CallError::Connection {
            reason: format!("timeout: {PROBES_MAX} connections in turn gave no sign of life"),
            sent: false,
        })
    }

    /// As [`Borrowed::silent`], for a request of that moment that somebody still waits for.
    pub(crate) fn distrust_silent(&self, asked_at: Instant) {
        let dropped = self.shared.idle().distrust_silent(asked_at);
        self.shared.close(dropped);
    }

    /// Whether a server said that the database has moved, and a connection of this age leads to that server.
    pub(crate) fn has_moved_since(&self, opened_at: Instant) -> bool {
        self.shared.idle().has_moved_since(opened_at)
    }

    /// Opens a connection that is the caller's own. It has no place among the others, and never
    /// comes back to them.
    pub(crate) async fn open_own(&self) -> Result<Live, CallError> {
        let connection = self.shared.dial().await?;
        Ok(Live::own(connection, &self.shared.counts))
    }
}

impl Shared {
    fn idle(&self) -> std::sync::MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn dial(&self) -> Result<Connection, CallError> {
        let opened = self.opener.open(self.options.connect_timeout).await;
        opened.map_err(DialError::while_running)
    }

    fn timed_out(&self, after: Duration) -> CallError {
        CallError::PoolTimeout {
            after,
            last_error: self.opener.last_error(),
        }
    }

    /// Tells that a caller has been waiting for long.
    fn note_wait(&self, lane: Lane, waited: Duration) {
        let Self {
            options, counts, ..
        } = self;
        let (open, waiting) = (counts.open(), counts.waiting());
        events::pool_wait(
            options.schema.as_str(),
            lane.as_str(),
            waited,
            open,
            waiting,
        );
    }

    fn take(&self) -> Option<Pooled> {
        let mut idle = self.idle();
        let (taken, dropped) = idle.take();
        self.counts.gauges.idle(idle.len() as u32);
        drop(idle);
        drop(dropped);
        taken
    }

    fn put(&self, mut pooled: Pooled) {
        pooled.connection.condemn(Closed::Released);
        let mut idle = self.idle();
        let dropped = idle.put(pooled);
        self.counts.gauges.idle(idle.len() as u32);
        drop(idle);
        drop(dropped);
    }

    /// Closes connections that were taken out of the idle ones, outside of their lock.
    fn close(&self, dropped: Vec<Pooled>) {
        drop(dropped);
        let idle = self.idle().len();
        self.counts.gauges.idle(idle as u32);
    }

    async fn get(
        self: &Arc<Self>,
        lane: Lane,
        begun: Instant,
        wait: Wait,
    ) -> Result<Borrowed, CallError> {
        let ends_at = later(begun, wait.all.min(self.options.acquire_timeout));
        let Ok(Some(place)) = timeout_at(ends_at, self.lanes.place(lane)).await else {
            return Err(self.timed_out(ends_at - begun));
        };
        let turn_at = Instant::now();
        let ends_at = ends_at.min(later(turn_at, wait.connection));
        let got = timeout_at(ends_at, self.connection_for(lane, place)).await;
        let mut borrowed = got.unwrap_or_else(|_| Err(self.timed_out(ends_at - begun)))?;
        borrowed.turn_at = turn_at;
        Ok(borrowed)
    }

    /// A connection for a caller that has a place.
    async fn connection_for(
        self: &Arc<Self>,
        lane: Lane,
        place: Place,
    ) -> Result<Borrowed, CallError> {
        if let Some(pooled) = self.take() {
            return Ok(self.lend(pooled, place));
        }
        let mut opened = self.open_in_task(lane, place);
        loop {
            tokio::select! {
                biased;
                opened = &mut opened => {
                    return opened.unwrap_or_else(|_| Err(self.timed_out(Duration::ZERO)));
                }
                () = self.freed.of(lane).notified() => {}
            }
            if let Some(borrowed) = self.second_choice(lane) {
                return Ok(borrowed);
            }
        }
    }

    /// An idle connection for a caller whose own is still being opened.
    fn second_choice(self: &Arc<Self>, lane: Lane) -> Option<Borrowed> {
        let place = self.lanes.second_place(lane)?;
        let pooled = self.take()?;
        Some(self.lend(pooled, place))
    }

    fn lend(self: &Arc<Self>, mut pooled: Pooled, place: Place) -> Borrowed {
        pooled.connection.condemn(Closed::Abandoned);
        Borrowed {
            pooled: Some(pooled),
            shared: self.clone(),
            is_new: false,
            turn_at: Instant::now(),
            place: Some(place),
        }
    }

    /// Opens what is missing of the connections that are kept ready.
    fn refill(self: &Arc<Self>) {
        let wanted = self.options.pool_min_idle.min(self.options.pool_max) as usize;
        let missing = wanted.saturating_sub(self.idle().len());
        for _ in 0..missing {
            if let Some((place, seat)) = self.lanes.common_place().zip(self.counts.spare_seat()) {
                let shared = self.clone();
                tokio::spawn(async move { drop(shared.opened(shared.dial().await, place, seat)) });
            }
        }
    }
}

async fn keep_house(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(HOUSEKEEPING).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let options = &shared.options;
        let keep = options.pool_min_idle as usize;
        let expired = shared.idle().expire(options.idle_timeout, keep);
        shared.close(expired);
        shared.refill();
    }
}

/// A connection on loan, with its place. It goes back by itself when it is dropped, unless a
/// request on it is unfinished.
pub(crate) struct Borrowed {
    /// Empty only while it is dropped.
    pooled: Option<Pooled>,
    shared: Arc<Shared>,
    /// It was opened for this caller.
    is_new: bool,
    /// When the caller had its turn: nobody before it waited for a place any more.
    pub(crate) turn_at: Instant,
    /// Empty only while it is dropped.
    place: Option<Place>,
}

impl Borrowed {
    /// The connection itself.
    pub(crate) fn connection(&mut self) -> Result<&mut Live, CallError> {
        match &mut self.pooled {
            Some(pooled) => Ok(&mut pooled.connection),
            None => Err(self.shared.timed_out(Duration::ZERO)),
        }
    }

    fn is_alive(&self, after_silence: bool) -> bool {
        let heard = self.pooled.as_ref().map(|pooled| pooled.heard_at);
        let is_fresh = heard.is_some_and(|heard_at| heard_at.elapsed() < ALIVE_FOR);
        self.is_new || is_fresh && !after_silence
    }

    /// Asks the server for a sign of life. A connection that gives none is not used again, nor are
    /// those that have been quiet for as long.
    async fn answers(&mut self) -> bool {
        let asked_at = Instant::now();
        let Ok(connection) = self.connection() else {
            return false;
        };
        match tokio::time::timeout(PROBE, quiet(connection.probe())).await {
            Ok(Ok(())) => {
                self.heard();
                true
            }
            Ok(Err(error)) => {
                self.condemn(Closed::Broken);
                tracing::debug!(%error, "a connection broke before it was used");
                false
            }
            Err(_) => {
                let error = self.silent(asked_at);
                tracing::debug!(%error, "a connection gave no sign of life");
                false
            }
        }
    }

    /// The server has answered on this connection.
    pub(crate) fn heard(&mut self) {
        if let Some(pooled) = &mut self.pooled {
            pooled.heard_at = Instant::now();
        }
    }

    /// A request of that moment was not answered in time. What has been as quiet since then may be
    /// as dead, so it is not used again; a connection that answered meanwhile is.
    pub(crate) fn silent(&mut self, asked_at: Instant) -> CallError {
        self.condemn(Closed::Silent);
        let dropped = self.shared.idle().distrust_silent(asked_at);
        self.shared.close(dropped);
        CallError::Timeout {
            after: asked_at.elapsed(),
        }
    }

    /// The server said, to a request of that moment, that the database has moved: whatever was
    /// opened before leads to the same place, and what is opened from now on looks for another.
    pub(crate) fn moved(&mut self, asked_at: Instant) {
        self.condemn(Closed::Moved);
        if let Some(pooled) = &self.pooled {
            self.shared.opener.distrust(&pooled.connection);
        }
        let dropped = self.shared.idle().distrust_opened_before(asked_at);
        self.shared.close(dropped);
    }

    /// Says why the connection will be closed, if it is.
    pub(crate) fn condemn(&mut self, reason: Closed) {
        if let Some(pooled) = &mut self.pooled {
            pooled.connection.condemn(reason);
        }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let Some(pooled) = self.pooled.take()
            && !pooled.connection.in_flight
        {
            self.shared.put(pooled);
        }
        // After the connection, because whoever gets the place next shall find it; and before anybody is
        // told, who would find no place and sleep on.
        drop(self.place.take());
        self.shared.freed.tell();
    }
}
