//! The connections that nobody uses now, and which of them are still to be trusted.

use std::time::Duration;

use tokio::time::Instant;

use super::live::Live;
use super::visible::Visible;
use crate::observe::events::Closed;

/// A connection and what is known of it.
pub(super) struct Pooled<C = Live> {
    pub(super) connection: C,
    /// When it was opened.
    opened_at: Instant,
    /// When the server last answered on it.
    pub(super) heard_at: Instant,
    idle_since: Instant,
}

impl<C> Pooled<C> {
    pub(super) fn new(connection: C) -> Self {
        let now = Instant::now();
        Self {
            connection,
            opened_at: now,
            heard_at: now,
            idle_since: now,
        }
    }
}

/// Idle connections, the last used at the back: it is taken first, so that the others grow old
/// and go.
///
/// None is closed in here: its end is told, and whoever is told may ask for the pool's status, while the caller has this locked.
pub(super) struct Idle<C = Live> {
    connections: Vec<Pooled<C>>,
    max_lifetime: Duration,
    /// Connections that were opened before this lead to a server that lost the database.
    moved_at: Option<Instant>,
    /// Connections that were last heard before this may be dead.
    silent_at: Option<Instant>,
}

impl<C: Visible> Idle<C> {
    pub(super) fn new(max_lifetime: Duration) -> Self {
        Self {
            connections: Vec::new(),
            max_lifetime,
            moved_at: None,
            silent_at: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Whether a connection that was opened at this moment leads to a server that lost the database.
    pub(super) fn has_moved_since(&self, opened_at: Instant) -> bool {
        self.moved_at.is_some_and(|at| opened_at <= at)
    }

    /// Why a connection is not used again; `None` when it can be trusted.
    fn doubt(&self, pooled: &Pooled<C>) -> Option<Closed> {
        if self.has_moved_since(pooled.opened_at) {
            Some(Closed::Moved)
        } else if self.silent_at.is_some_and(|at| pooled.heard_at <= at) {
            Some(Closed::Silent)
        } else if pooled.opened_at.elapsed() >= self.max_lifetime {
            Some(Closed::Aged)
        } else {
            None
        }
    }

    /// Keeps a connection for the next caller, if it can be trusted. Returns what has to be closed.
    pub(super) fn put(&mut self, mut pooled: Pooled<C>) -> Option<Pooled<C>> {
        match self.doubt(&pooled) {
            Some(reason) => {
                pooled.connection.condemn(reason);
                Some(pooled)
            }
            None => {
                pooled.idle_since = Instant::now();
                self.connections.push(pooled);
                None
            }
        }
    }

    /// The connection to use next, and what has to be closed.
    pub(super) fn take(&mut self) -> (Option<Pooled<C>>, Vec<Pooled<C>>) {
        let mut dropped = Vec::new();
        while let Some(mut pooled) = self.connections.pop() {
            let hung_up = || pooled.connection.is_closed().then_some(Closed::HungUp);
            match self.doubt(&pooled).or_else(hung_up) {
                Some(reason) => {
                    pooled.connection.condemn(reason);
                    dropped.push(pooled);
                }
                None => return (Some(pooled), dropped),
            }
        }
        (None, dropped)
    }

    /// A request that was sent at this moment was not answered. Returns what has to be closed.
    pub(super) fn distrust_silent(&mut self, asked_at: Instant) -> Vec<Pooled<C>> {
        self.silent_at = self.silent_at.max(Some(asked_at));
        self.distrusted()
    }

    /// A request that was sent at this moment was told that the database has moved. Returns what
    /// has to be closed.
    pub(super) fn distrust_opened_before(&mut self, asked_at: Instant) -> Vec<Pooled<C>> {
        self.moved_at = self.moved_at.max(Some(asked_at));
        self.distrusted()
    }

    fn distrusted(&mut self) -> Vec<Pooled<C>> {
        let mut dropped = Vec::new();
        for mut pooled in std::mem::take(&mut self.connections) {
            match self.doubt(&pooled) {
                Some(reason) => {
                    pooled.connection.condemn(reason);
                    dropped.push(pooled);
                }
                None => self.connections.push(pooled),
            }
        }
        dropped
    }

    /// Takes out what is too old, or has been idle for too long and is more than `keep`.
    pub(super) fn expire(&mut self, idle_timeout: Duration, keep: usize) -> Vec<Pooled<C>> {
        let mut expired = self.distrusted();
        // The longest idle ones are at the front.
        while self.connections.len() > keep
            && let Some(first) = self.connections.first()
            && first.idle_since.elapsed() >= idle_timeout
        {
            let mut idle = self.connections.remove(0);
            idle.connection.condemn(Closed::Idle);
            expired.push(idle);
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fake(&'static str, Option<Closed>);
    impl Visible for Fake {
        fn is_closed(&self) -> bool {
            self.0 == "closed"
        }
        fn condemn(&mut self, reason: Closed) {
            self.1 = Some(reason);
        }
    }

    fn reasons(dropped: Vec<Pooled<Fake>>) -> Vec<Closed> {
        let reasons = dropped.iter().filter_map(|pooled| pooled.connection.1);
        reasons.collect()
    }

    const HOUR: Duration = Duration::from_secs(3600);
    const MINUTE: Duration = Duration::from_secs(60);

    fn names(mut idle: Idle<Fake>) -> Vec<&'static str> {
        std::iter::from_fn(|| idle.take().0.map(|pooled| pooled.connection.0)).collect()
    }

    async fn two() -> Idle<Fake> {
        let mut idle = Idle::new(HOUR);
        idle.put(Pooled::new(Fake("old", None)));
        tokio::time::advance(MINUTE).await;
        idle.put(Pooled::new(Fake("new", None)));
        tokio::time::advance(MINUTE).await;
        idle
    }

    #[tokio::test(start_paused = true)]
    async fn last_used_connection_is_taken_first_and_closed_ones_are_left_out() {
        let mut idle = two().await;
        idle.put(Pooled::new(Fake("closed", None)));
        let (taken, dropped) = idle.take();
        assert_eq!(reasons(dropped), [Closed::HungUp]);
        idle.put(taken.unwrap());
        assert_eq!(names(idle), ["new", "old"]);
    }

    /// The connection that found out is not among them; those of its age and older are closed.
    #[tokio::test(start_paused = true)]
    async fn connections_from_before_a_move_are_closed() {
        let mut idle = two().await;
        let asked_at = Instant::now();
        tokio::time::advance(MINUTE).await;
        idle.put(Pooled::new(Fake("after", None)));
        let dropped = idle.distrust_opened_before(asked_at);
        assert_eq!(reasons(dropped), [Closed::Moved; 2]);
        assert_eq!(names(idle), ["after"]);
    }

    #[tokio::test(start_paused = true)]
    async fn connections_that_answered_after_a_silent_request_are_kept() {
        let mut idle = two().await;
        let asked_at = Instant::now();
        tokio::time::advance(MINUTE).await;
        let mut answering = idle.take().0.unwrap();
        answering.heard_at = Instant::now();
        idle.put(answering);
        assert_eq!(reasons(idle.distrust_silent(asked_at)), [Closed::Silent]);
        assert_eq!(names(idle), ["new"]);
    }

    #[tokio::test(start_paused = true)]
    async fn connection_that_comes_back_too_late_is_not_kept() {
        let mut idle = two().await;
        let borrowed = idle.take().0.unwrap();
        idle.distrust_opened_before(Instant::now());
        assert_eq!(
            reasons(idle.put(borrowed).into_iter().collect()),
            [Closed::Moved]
        );
        assert_eq!(idle.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connections_expire_down_to_the_minimum() {
        let mut idle = two().await;
        assert_eq!(reasons(idle.expire(2 * MINUTE, 1)), [Closed::Idle]);
        assert_eq!(reasons(idle.expire(2 * MINUTE, 1)), []);
        tokio::time::advance(HOUR).await;
        assert_eq!(reasons(idle.expire(Duration::MAX, 1)), [Closed::Aged]);
    }
}
