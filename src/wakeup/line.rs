//! One line of waiting fetches: who waits for what, and who is woken by which piece of work.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::retry::jittered;

/// What a waiting fetch can take.
pub(crate) trait Interest: Clone + PartialEq + Send {
    /// A piece of work as far as it decides who can take it.
    type Work: Clone + Send;

    /// Whether this fetch could take that work.
    fn fits(&self, work: &Self::Work) -> bool;
}

/// How often a waiting fetch asks the database without having been signalled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repoll {
    pub(crate) min: Duration,
    pub(crate) max: Duration,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Ask the database again.
    PollAgain,
    /// The caller's time is over.
    TimedOut,
}

struct Waiter<I: Interest> {
    id: u64,
    interest: I,
    notify: Arc<Notify>,
    signal: Option<I::Work>,
    is_waiting: bool,
}

/// When fetches of one interest ask the database next. They share this, so that ten waiting
/// dispatchers cost no more queries than one.
struct Schedule<I> {
    interest: I,
    interval: Duration,
    next_at: Instant,
}

struct State<I: Interest> {
    next_id: u64,
    waiters: Vec<Waiter<I>>,
    schedules: Vec<Schedule<I>>,
    /// Work that becomes visible later, by the local clock.
    due: Vec<(Instant, I::Work)>,
}

/// The waiting fetches of one queue.
pub(crate) struct Line<I: Interest> {
    state: Mutex<State<I>>,
}

impl<I: Interest> Line<I> {
    pub(crate) fn new() -> Self {
        let state = State {
            next_id: 0,
            waiters: Vec::new(),
            schedules: Vec::new(),
            due: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the line. Must happen before the fetch first asks the database: work that is
    /// committed after that moment signals, work committed before it is found.
    pub(crate) fn join(&self, interest: I, repoll: Repoll) -> Place<'_, I> {
        let notify = Arc::new(Notify::new());
        let mut state = self.lock();
        state.next_id += 1;
        let id = state.next_id;
        state.waiters.push(Waiter {
            id,
            interest: interest.clone(),
            notify: notify.clone(),
            signal: None,
            is_waiting: false,
        });
        drop(state);
        Place {
            line: self,
            id,
            interest,
            repoll,
            notify,
            in_hand: None,
        }
    }

    /// Wakes one fetch that can take this work, preferring one that is idle. When all of them
    /// are already about to ask the database, that is enough.
    pub(crate) fn signal(&self, work: I::Work) {
        let mut state = self.lock();
        let fits = |w: &Waiter<I>| w.signal.is_none() && w.interest.fits(&work);
        let chosen = state.waiters.iter().position(|w| w.is_waiting && fits(w));
        let chosen = chosen.or_else(|| state.waiters.iter().position(fits));
        if let Some(waiter) = chosen.and_then(|at| state.waiters.get_mut(at)) {
            waiter.signal = Some(work);
            waiter.notify.notify_one();
        }
    }

    /// Wakes every fetch that can take this work.
    pub(crate) fn signal_all(&self, work: &I::Work) {
        let mut state = self.lock();
        for waiter in state.waiters.iter_mut().filter(|w| w.interest.fits(work)) {
            waiter.signal = Some(work.clone());
            waiter.notify.notify_one();
        }
    }

    /// Like [`Line::signal`], later.
    pub(crate) fn signal_at(&self, at: Instant, work: I::Work) {
        let mut state = self.lock();
        let is_first = state.due.iter().all(|(due, _)| at < *due);
        state.due.push((at, work));
        if is_first {
            // Everybody's alarm is set to something later; they wake only to set it anew.
            state.waiters.iter().for_each(|w| w.notify.notify_one());
        }
    }
}

/// What a fetch has to do now.
enum Next {
    Poll,
    SleepUntil(Instant),
}

impl<I: Interest> State<I> {
    fn schedule(&mut self, interest: &I, repoll: Repoll, now: Instant) -> &mut Schedule<I> {
        let at = match self.schedules.iter().position(|s| s.interest == *interest) {
            Some(at) => at,
            None => {
                self.schedules.push(Schedule {
                    interest: interest.clone(),
                    interval: repoll.min,
                    next_at: now + jittered(repoll.min),
                });
                self.schedules.len() - 1
            }
        };
        &mut self.schedules[at]
    }

    fn next(&mut self, place: &mut Place<'_, I>, now: Instant) -> Next {
        if let Some(waiter) = self.waiters.iter_mut().find(|w| w.id == place.id) {
            waiter.is_waiting = true;
            if let Some(work) = waiter.signal.take() {
                waiter.is_waiting = false;
                place.in_hand = Some(work);
                return Next::Poll;
            }
        }
        let mut wake_at: Option<Instant> = None;
        for (at, (due, work)) in self.due.iter().enumerate() {
            if !place.interest.fits(work) {
                continue;
            }
            if *due <= now {
                let (_, work) = self.due.swap_remove(at);
                self.stop_waiting(place.id);
                place.in_hand = Some(work);
                return Next::Poll;
            }
            wake_at = Some(wake_at.map_or(*due, |earliest| earliest.min(*due)));
        }
        let schedule = self.schedule(&place.interest.clone(), place.repoll, now);
        if schedule.next_at <= now {
            schedule.interval = (schedule.interval * 2).min(place.repoll.max);
            schedule.next_at = now + jittered(schedule.interval);
            self.stop_waiting(place.id);
            return Next::Poll;
        }
        let repoll_at = schedule.next_at;
        Next::SleepUntil(wake_at.map_or(repoll_at, |due| due.min(repoll_at)))
    }

    fn stop_waiting(&mut self, id: u64) {
        if let Some(waiter) = self.waiters.iter_mut().find(|w| w.id == id) {
            waiter.is_waiting = false;
        }
    }
}

/// A fetch's place in the line. Leaving it hands an unused signal to somebody else.
pub(crate) struct Place<'a, I: Interest> {
    line: &'a Line<I>,
    id: u64,
    interest: I,
    repoll: Repoll,
    notify: Arc<Notify>,
    /// The signal that led to the query now under way. Lost only if that query finds work.
    in_hand: Option<I::Work>,
}

impl<I: Interest> Place<'_, I> {
    /// Waits for a reason to ask the database again, or for `deadline`. Called when the last
    /// query found nothing; `next_ready` is what the database said about the time when asking
    /// again may help.
    pub(crate) async fn wait(&mut self, deadline: Instant, next_ready: Option<Instant>) -> Woken {
        self.in_hand = None;
        if let Some(next_ready) = next_ready {
            let mut state = self.line.lock();
            let schedule = state.schedule(&self.interest, self.repoll, Instant::now());
            schedule.next_at = schedule.next_at.min(next_ready);
        }
        let notify = self.notify.clone();
        loop {
            let now = Instant::now();
            let line = self.line;
            let wake_at = match line.lock().next(self, now) {
                Next::Poll if now < deadline => return Woken::PollAgain,
                Next::Poll => return Woken::TimedOut,
                Next::SleepUntil(_) if deadline <= now => return Woken::TimedOut,
                Next::SleepUntil(at) => at.min(deadline),
            };
            // An elapsed sleep and a notification both mean: look again.
            let _ = tokio::time::timeout_at(wake_at, notify.notified()).await;
        }
    }

    /// The last query found work: the signal is used up, and more work is likely soon.
    pub(crate) fn found(mut self) {
        self.in_hand = None;
        let (repoll, now) = (self.repoll, Instant::now());
        let mut state = self.line.lock();
        let schedule = state.schedule(&self.interest, repoll, now);
        schedule.interval = repoll.min;
        schedule.next_at = now + jittered(repoll.min);
    }
}

impl<I: Interest> Drop for Place<'_, I> {
    fn drop(&mut self) {
        let mut state = self.line.lock();
        let signal = match state.waiters.iter().position(|w| w.id == self.id) {
            Some(at) => state.waiters.remove(at).signal,
            None => None,
        };
        if !state.waiters.iter().any(|w| w.interest == self.interest) {
            let interest = self.interest.clone();
            // Nobody is left to be late for; a stale interval would only grow the list.
            state
                .schedules
                .retain(|s| s.interest != interest || s.interval > self.repoll.min);
        }
        drop(state);
        for work in [signal, self.in_hand.take()].into_iter().flatten() {
            self.line.signal(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes work of its own number only.
    #[derive(Clone, PartialEq)]
    struct Number(u8);
    impl Interest for Number {
        type Work = u8;
        fn fits(&self, work: &u8) -> bool {
            self.0 == *work
        }
    }

    const SLOW: Repoll = Repoll {
        min: Duration::from_secs(100),
        max: Duration::from_secs(100),
    };

    fn soon(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn signal_wakes_one_fetch_that_fits_and_leaves_the_others() {
        let line = Line::new();
        let (mut a, mut b, mut other) = (
            line.join(Number(1), SLOW),
            line.join(Number(1), SLOW),
            line.join(Number(2), SLOW),
        );
        line.signal(1);
        let woken = tokio::join!(
            a.wait(soon(1), None),
            b.wait(soon(1), None),
            other.wait(soon(1), None)
        );
        assert_eq!(woken, (Woken::PollAgain, Woken::TimedOut, Woken::TimedOut));
    }

    #[tokio::test(start_paused = true)]
    async fn signal_between_query_and_wait_is_not_lost() {
        let line = Line::new();
        let mut place = line.join(Number(1), SLOW);
        line.signal(1);
        assert_eq!(place.wait(soon(1), None).await, Woken::PollAgain);
        assert_eq!(place.wait(soon(1), None).await, Woken::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn fetch_that_goes_away_hands_its_signal_on() {
        let line = Line::new();
        let first = line.join(Number(1), SLOW);
        let mut second = line.join(Number(1), SLOW);
        line.signal(1);
        drop(first);
        assert_eq!(second.wait(soon(1), None).await, Woken::PollAgain);
    }

    #[tokio::test(start_paused = true)]
    async fn fetch_dropped_during_its_query_hands_its_signal_on() {
        let line = Line::new();
        let mut first = line.join(Number(1), SLOW);
        line.signal(1);
        assert_eq!(first.wait(soon(1), None).await, Woken::PollAgain);
        let mut second = line.join(Number(1), SLOW);
        drop(first);
        assert_eq!(second.wait(soon(1), None).await, Woken::PollAgain);
    }

    #[tokio::test(start_paused = true)]
    async fn fetch_that_found_work_uses_its_signal_up() {
        let line = Line::new();
        let mut first = line.join(Number(1), SLOW);
        line.signal(1);
        assert_eq!(first.wait(soon(1), None).await, Woken::PollAgain);
        let mut second = line.join(Number(1), SLOW);
        first.found();
        assert_eq!(second.wait(soon(1), None).await, Woken::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn later_work_wakes_one_fetch_when_it_is_due() {
        let line = Line::new();
        let (mut a, mut b) = (line.join(Number(1), SLOW), line.join(Number(1), SLOW));
        let start = Instant::now();
        line.signal_at(soon(5), 1);
        line.signal_at(soon(3), 1);
        let (woken_a, woken_b) = tokio::join!(
            async { (a.wait(soon(9), None).await, start.elapsed()) },
            async { (b.wait(soon(9), None).await, start.elapsed()) }
        );
        assert_eq!((woken_a.0, woken_b.0), (Woken::PollAgain, Woken::PollAgain));
        let mut times = [woken_a.1.as_secs(), woken_b.1.as_secs()];
        times.sort_unstable();
        assert_eq!(times, [3, 5]);
    }

    #[tokio::test(start_paused = true)]
    async fn hint_of_the_database_brings_the_next_query_forward() {
        let line = Line::new();
        let mut place = line.join(Number(1), SLOW);
        let start = Instant::now();
        assert_eq!(place.wait(soon(9), Some(soon(2))).await, Woken::PollAgain);
        assert_eq!(start.elapsed().as_secs(), 2);
    }

    async fn polls_until(mut place: Place<'_, Number>, deadline: Instant) -> u32 {
        let mut count = 0;
        while place.wait(deadline, None).await == Woken::PollAgain {
            count += 1;
        }
        count
    }

    #[tokio::test(start_paused = true)]
    async fn idle_fetches_share_queries_that_become_rarer() {
        let line = Line::new();
        let repoll = Repoll {
            min: Duration::from_millis(100),
            max: Duration::from_secs(1),
        };
        let deadline = soon(60);
        let (a, b) = tokio::join!(
            polls_until(line.join(Number(1), repoll), deadline),
            polls_until(line.join(Number(1), repoll), deadline)
        );
        assert!(
            (40..=130).contains(&(a + b)),
            "{a} + {b} queries in a minute"
        );
    }
}
