//! One line of waiting fetches: who waits for what, and who is woken by which piece of work.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::time::jittered;

/// A hint of the database is never taken as a reason to ask again at once.
const HINT_MIN: Duration = Duration::from_millis(2);

/// How long "nothing there" holds for a fetch that comes later, see [`Place::is_answered`].
const ANSWER_HOLDS: Duration = Duration::from_millis(10);

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

/// Why a fetch should ask the database.
enum Signal<W> {
    /// This work was committed.
    Work(W),
    /// Another fetch found more than it expected, so there may be more.
    Look,
}

struct Waiter<I: Interest> {
    id: u64,
    interest: I,
    notify: Arc<Notify>,
    signal: Option<Signal<I::Work>>,
    is_waiting: bool,
}

impl<I: Interest> Waiter<I> {
    fn wake(&mut self, signal: Signal<I::Work>) {
        self.signal = Some(signal);
        self.notify.notify_one();
    }
}

/// When fetches of one interest ask the database next. They share this, so that ten waiting
/// dispatchers cost no more queries than one.
struct Schedule<I> {
    interest: I,
    interval: Duration,
    next_at: Instant,
    /// When the latest query began that found nothing.
    empty_at: Option<Instant>,
    /// When work was last seen that no signal led a fetch to. Answers from before say nothing.
    doubted_at: Option<Instant>,
}

impl<I> Schedule<I> {
    fn doubt(&mut self) {
        self.empty_at = None;
        self.doubted_at = Some(Instant::now());
    }
}

struct State<I: Interest> {
    next_id: u64,
    waiters: Vec<Waiter<I>>,
    /// One for each interest that somebody in the line has.
    schedules: Vec<Schedule<I>>,
}

impl<I: Interest> State<I> {
    fn waiter(&mut self, id: u64) -> Option<&mut Waiter<I>> {
        self.waiters.iter_mut().find(|waiter| waiter.id == id)
    }

    fn schedule(&mut self, interest: &I) -> Option<&mut Schedule<I>> {
        self.schedules
            .iter_mut()
            .find(|schedule| schedule.interest == *interest)
    }

    /// There may be work of which no fetch in the line has been told.
    fn doubt(&mut self, work: &I::Work) {
        let fitting = |schedule: &&mut Schedule<I>| schedule.interest.fits(work);
        self.schedules
            .iter_mut()
            .filter(fitting)
            .for_each(Schedule::doubt);
    }

    /// Decides what a fetch has to do now that its last query found nothing.
    fn next(&mut self, place: &mut Place<'_, I>, now: Instant) -> Next {
        if let Some(waiter) = self.waiter(place.id) {
            if let Some(signal) = waiter.signal.take() {
                waiter.is_waiting = false;
                place.in_hand = Some(signal);
                return Next::Poll;
            }
            waiter.is_waiting = true;
        }
        let repoll_max = place.repoll.max;
        let Some(schedule) = self.schedule(&place.interest) else {
            return Next::Poll;
        };
        if schedule.next_at > now {
            return Next::SleepUntil(schedule.next_at);
        }
        schedule.interval = schedule.interval.saturating_mul(2).min(repoll_max);
        schedule.next_at = now + jittered(schedule.interval);
        place.in_hand = Some(Signal::Look);
        if let Some(waiter) = self.waiter(place.id) {
            waiter.is_waiting = false;
        }
        Next::Poll
    }
}

/// What a fetch has to do now.
enum Next {
    Poll,
    SleepUntil(Instant),
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
        if state.schedule(&interest).is_none() {
            let next_at = Instant::now() + jittered(repoll.min);
            let interest = interest.clone();
            state.schedules.push(Schedule {
                interest,
                interval: repoll.min,
                next_at,
                empty_at: None,
                doubted_at: None,
            });
        }
        drop(state);
        Place {
            line: self,
            id,
            interest,
            repoll,
            notify,
            in_hand: None,
            asked_at: Instant::now(),
        }
    }

    /// Wakes one fetch that can take this work, preferring one that is idle. When all of them
    /// are already about to ask the database, that is enough.
    pub(crate) fn signal(&self, work: I::Work) {
        let mut state = self.lock();
        let fits = |w: &Waiter<I>| w.signal.is_none() && w.interest.fits(&work);
        let chosen = state.waiters.iter().position(|w| w.is_waiting && fits(w));
        let chosen = chosen.or_else(|| state.waiters.iter().position(fits));
        match chosen.and_then(|at| state.waiters.get_mut(at)) {
            Some(waiter) => waiter.wake(Signal::Work(work)),
            None => state.doubt(&work),
        }
    }

    /// Wakes every fetch that can take this work.
    pub(crate) fn signal_all(&self, work: &I::Work) {
        let mut state = self.lock();
        for waiter in state.waiters.iter_mut().filter(|w| w.interest.fits(work)) {
            waiter.wake(Signal::Work(work.clone()));
        }
        state.doubt(work);
    }

    /// Work becomes visible at this time: whoever can take it asks the database then. A fetch
    /// that comes later learns the time from the database.
    pub(crate) fn signal_at(&self, at: Instant, work: &I::Work) {
        let mut state = self.lock();
        let mut is_earlier = false;
        for schedule in state.schedules.iter_mut().filter(|s| s.interest.fits(work)) {
            is_earlier |= at < schedule.next_at;
            schedule.next_at = schedule.next_at.min(at);
        }
        if is_earlier {
            // They wake only to set their alarms anew.
            state
                .waiters
                .iter()
                .for_each(|waiter| waiter.notify.notify_one());
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
    in_hand: Option<Signal<I::Work>>,
    /// When the query now under way began.
    asked_at: Instant,
}

impl<I: Interest> Place<'_, I> {
    /// Whether another fetch has just asked for the same and found nothing, so that this one can begin
    /// by waiting. A dispatcher asks again after each of its turns, and mostly in vain: what this process
    /// commits meanwhile is signalled to those who wait. Work of other processes is found at the next
    /// interval, as if this fetch had been waiting for these few milliseconds already.
    pub(crate) fn is_answered(&self) -> bool {
        let mut state = self.line.lock();
        let empty_at = state.schedule(&self.interest).and_then(|s| s.empty_at);
        empty_at.is_some_and(|at| at.elapsed() < ANSWER_HOLDS)
    }

    /// Waits for a reason to ask the database again, or for `deadline`. Called when the last
    /// query found nothing; `next_ready` is what the database said about the time when asking
    /// again may help.
    pub(crate) async fn wait(&mut self, deadline: Instant, next_ready: Option<Instant>) -> Woken {
        self.in_hand = None;
        if let Some(next_ready) = next_ready {
            let at = next_ready.max(Instant::now() + HINT_MIN);
            if let Some(schedule) = self.line.lock().schedule(&self.interest) {
                schedule.next_at = schedule.next_at.min(at);
            }
        }
        let woken = self.until_woken(deadline).await;
        self.asked_at = Instant::now();
        woken
    }

    /// The last query found nothing.
    pub(crate) fn found_nothing(&self) {
        if let Some(schedule) = self.line.lock().schedule(&self.interest)
            && schedule.doubted_at.is_none_or(|at| at < self.asked_at)
        {
            schedule.empty_at = schedule.empty_at.max(Some(self.asked_at));
        }
    }

    async fn until_woken(&mut self, deadline: Instant) -> Woken {
        let (line, notify) = (self.line, self.notify.clone());
        loop {
            let now = Instant::now();
            if deadline <= now {
                return Woken::TimedOut;
            }
            let wake_at = match line.lock().next(self, now) {
                Next::Poll => return Woken::PollAgain,
                Next::SleepUntil(at) => at.min(deadline),
            };
            // An elapsed sleep and a notification both mean: look again.
            let _ = tokio::time::timeout_at(wake_at, notify.notified()).await;
        }
    }

    /// The last query found work: the signal is used up, and more work is likely soon. Work that
    /// nobody signalled may have come in numbers, so another fetch is sent to look.
    pub(crate) fn found(mut self) {
        let signal = self.in_hand.take();
        let mut state = self.line.lock();
        let interval = self.repoll.min;
        if let Some(schedule) = state.schedule(&self.interest) {
            schedule.interval = interval;
            schedule.next_at = schedule.next_at.min(Instant::now() + jittered(interval));
            if !matches!(signal, Some(Signal::Work(_))) {
                schedule.doubt();
            }
        }
        if matches!(signal, Some(Signal::Look)) {
            let idle = |w: &&mut Waiter<I>| {
                w.is_waiting && w.signal.is_none() && w.interest == self.interest
            };
            if let Some(waiter) = state.waiters.iter_mut().find(idle) {
                waiter.wake(Signal::Look);
            }
        }
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
            state
                .schedules
                .retain(|schedule| schedule.interest != self.interest);
        }
        drop(state);
        for signal in [signal, self.in_hand.take()].into_iter().flatten() {
            if let Signal::Work(work) = signal {
                self.line.signal(work);
            }
        }
    }
}

#[cfg(test)]
mod tests;
