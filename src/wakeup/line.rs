//! One line of waiting fetches: who asks the database next, and why.
//!
//! Fetches that can take the same work form a group and share everything: the reasons to ask, and
//! the time at which one of them asks without a reason. So eight idle workers ask no more often
//! than one, and hardly at all while somebody watches the database for them.

mod watch;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::time::{jittered, later};

/// A hint of the database is never taken as a reason to ask again at once.
const HINT_MIN: Duration = Duration::from_millis(2);

/// How rarely fetches ask that are watched for: only in case the watch fails without a word.
const WATCHED_INTERVAL: Duration = Duration::from_secs(5);

/// How long "nothing there" holds for a fetch that comes later, see [`Place::is_answered`].
const ANSWER_HOLDS: Duration = Duration::from_millis(10);

/// What a waiting fetch can take. Equal interests can take the same.
pub(crate) trait Interest: Clone + PartialEq + Send {
    /// A piece of work as far as it decides who can take it.
    type Work: Clone + Send;

    /// Whether this fetch could take that work.
    fn fits(&self, work: &Self::Work) -> bool;

    /// Whether a watch can see all that this fetch could take.
    fn is_watchable(&self) -> bool;
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

/// A reason to ask the database, since a moment.
struct Reason<W> {
    cause: Cause<W>,
    since: Instant,
}

enum Cause<W> {
    /// This work was committed.
    Told(W),
    /// The watch has seen something.
    Seen,
    /// Another fetch found more than it was told of, or it is simply time.
    Unknown,
}

impl<W> Reason<W> {
    fn new(cause: Cause<W>) -> Self {
        Self {
            cause,
            since: Instant::now(),
        }
    }
}

/// The fetches of one interest.
struct Group<I: Interest> {
    interest: I,
    members: usize,
    /// Members that sleep.
    waiting: usize,
    /// Reasons that no member has taken up yet.
    reasons: Vec<Reason<I::Work>>,
    /// When a member asks without a reason, and how long after that the next one does.
    next_at: Instant,
    interval: Duration,
    /// A time at which asking is known to help.
    hint: Option<Instant>,
    /// When the latest query began that found nothing.
    empty_at: Option<Instant>,
    /// The newest reason that there was no room for, see [`Group::give`].
    unsaid_at: Option<Instant>,
    /// How often the members' waits were ended.
    endings: u64,
    repoll: Repoll,
    /// Since when all members have been asleep without a reason to ask.
    quiet_since: Option<Instant>,
    /// Somebody watches the database for this group.
    is_watched: bool,
    /// After a watch that saw what no member could take: when and for how long it pauses.
    unwatched_until: Option<Instant>,
    watch_pause: Duration,
    /// Wakes one member for a reason, all of them for a change of time.
    news: Arc<Notify>,
}

impl<I: Interest> Group<I> {
    fn new(interest: I, repoll: Repoll, is_watched: bool) -> Self {
        let mut group = Self {
            interest,
            members: 0,
            waiting: 0,
            reasons: Vec::new(),
            next_at: Instant::now(),
            interval: repoll.min,
            hint: None,
            empty_at: None,
            unsaid_at: None,
            endings: 0,
            repoll,
            quiet_since: None,
            is_watched,
            unwatched_until: None,
            watch_pause: Duration::ZERO,
            news: Arc::new(Notify::new()),
        };
        group.next_at = later(Instant::now(), jittered(group.pace()));
        group
    }

    /// How long after a question the next one without a reason follows.
    fn pace(&self) -> Duration {
        if self.is_watched {
            self.repoll.max.max(WATCHED_INTERVAL)
        } else {
            self.interval
        }
    }

    /// Keeps a reason for a member to ask.
    ///
    /// No more of them than there are members, which may all be busy for long while work is committed
    /// without end: a member that has asked comes back and asks before it waits, so that more reasons
    /// than members tell nothing new. The newest ones stay, because a query that found nothing answers
    /// the older ones.
    fn give(&mut self, reason: Reason<I::Work>) {
        self.quiet_since = None;
        self.reasons.push(reason);
        if self.reasons.len() > self.members.max(1) {
            let oldest = (0..self.reasons.len()).min_by_key(|at| self.reasons[*at].since);
            let unsaid = oldest.map(|at| self.reasons.remove(at).since);
            self.unsaid_at = self.unsaid_at.max(unsaid);
        }
        self.news.notify_one();
    }

    /// Asking helps at this time.
    fn hint(&mut self, at: Instant) {
        self.hint = Some(self.hint.map_or(at, |known| known.min(at)));
        self.hurry(at);
    }

    /// Asks no later than at this time.
    fn hurry(&mut self, at: Instant) {
        if at < self.next_at {
            self.next_at = at;
            self.news.notify_waiters();
        }
    }
}

/// The waiting fetches of one queue.
pub(crate) struct Line<I: Interest> {
    state: Mutex<State<I>>,
    /// A group has fallen quiet.
    quieted: Notify,
}

struct State<I: Interest> {
    groups: Vec<Group<I>>,
    /// What is watched for. Fetches that come later join in.
    watched: Vec<I>,
}

impl<I: Interest> Line<I> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                groups: Vec::new(),
                watched: Vec::new(),
            }),
            quieted: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the line. Must happen before the fetch first asks the database: work that is
    /// committed after that moment signals, work committed before it is found.
    pub(crate) fn join(&self, interest: I, repoll: Repoll) -> Place<'_, I> {
        let mut state = self.lock();
        let is_watched = state.watched.contains(&interest);
        let groups = &mut state.groups;
        let at = match groups.iter().position(|group| group.interest == interest) {
            Some(at) => at,
            None => {
                groups.push(Group::new(interest.clone(), repoll, is_watched));
                groups.len() - 1
            }
        };
        let group = &mut groups[at];
        group.members += 1;
        group.quiet_since = None;
        Place {
            line: self,
            interest,
            repoll,
            news: group.news.clone(),
            endings: group.endings,
            reason: None,
            asked_at: Instant::now(),
        }
    }

    /// Has one fetch ask that can take this work, of a group that has an idle one if there is any.
    pub(crate) fn signal(&self, work: I::Work) {
        self.hand(Reason::new(Cause::Told(work)));
    }

    fn hand(&self, reason: Reason<I::Work>) {
        let groups = &mut self.lock().groups;
        let fits = |group: &Group<I>| matches!(&reason.cause, Cause::Told(work) if group.interest.fits(work));
        let is_idle = |group: &Group<I>| group.waiting > group.reasons.len();
        let chosen = groups
            .iter()
            .position(|group| is_idle(group) && fits(group));
        let chosen = chosen.or_else(|| groups.iter().position(fits));
        if let Some(group) = chosen.and_then(|at| groups.get_mut(at)) {
            group.give(reason);
        }
    }

    /// Has one fetch of every group ask that can take this work: only one of them may, and nobody
    /// here knows which.
    pub(crate) fn signal_all(&self, work: &I::Work) {
        let groups = &mut self.lock().groups;
        for group in groups.iter_mut().filter(|g| g.interest.fits(work)) {
            group.give(Reason::new(Cause::Told(work.clone())));
        }
    }

    /// Work becomes visible at this time: whoever can take it asks the database then. A fetch
    /// that comes later learns the time from the database.
    pub(crate) fn signal_at(&self, at: Instant, work: &I::Work) {
        let groups = &mut self.lock().groups;
        for group in groups.iter_mut().filter(|g| g.interest.fits(work)) {
            group.hint(at);
        }
    }

    /// Whether some fetch waits here, or was woken and has not gone on yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.lock().groups.iter().any(|group| group.waiting > 0)
    }

    /// Ends the waits of all fetches with such an interest, as if their time were over.
    pub(crate) fn end_waits(&self, with: impl Fn(&I) -> bool) {
        let groups = &mut self.lock().groups;
        for group in groups.iter_mut().filter(|g| with(&g.interest)) {
            group.endings += 1;
            group.news.notify_waiters();
        }
    }
}

/// A fetch's place in the line.
pub(crate) struct Place<'a, I: Interest> {
    line: &'a Line<I>,
    interest: I,
    repoll: Repoll,
    news: Arc<Notify>,
    /// The group's count when this fetch came.
    endings: u64,
    /// Why the query now under way was made. A fetch that goes away during it hands this on.
    reason: Option<Reason<I::Work>>,
    /// When the query now under way began.
    asked_at: Instant,
}

/// What a waiting fetch has to do now.
enum Next {
    Ask,
    SleepUntil(Instant),
    End,
}

impl<I: Interest> Place<'_, I> {
    /// Runs `change` on this fetch's group, which exists for as long as the fetch is in the line.
    fn group<T>(&self, change: impl FnOnce(&mut Group<I>) -> T) -> Option<T> {
        let groups = &mut self.line.lock().groups;
        let group = groups.iter_mut().find(|g| g.interest == self.interest)?;
        Some(change(group))
    }

    /// Whether another fetch has just asked for the same and found nothing, so that this one can begin
    /// by waiting. A dispatcher asks again after each of its turns, and mostly in vain: what this process
    /// commits meanwhile is a reason that somebody takes up. Work of other processes is found at the
    /// next interval, as if this fetch had been waiting for these few milliseconds already.
    pub(crate) fn is_answered(&self) -> bool {
        let answered =
            |group: &mut Group<I>| group.empty_at.filter(|at| Some(*at) > group.unsaid_at);
        let empty_at = self.group(answered).flatten();
        empty_at.is_some_and(|at| at.elapsed() < ANSWER_HOLDS)
    }

    /// The query found nothing; `next_ready` is what the database said about the time when asking
    /// again may help. Reasons from before the query are answered by it.
    pub(crate) fn found_nothing(&mut self, next_ready: Option<Instant>) {
        let reason = self.reason.take();
        let asked_at = self.asked_at;
        self.group(|group| {
            if let Some(Reason {
                cause: Cause::Seen, ..
            }) = reason
            {
                group.saw_in_vain();
            }
            group.empty_at = group.empty_at.max(Some(asked_at));
            group.reasons.retain(|reason| reason.since > asked_at);
            if let Some(next_ready) = next_ready {
                group.hint(next_ready.max(Instant::now() + HINT_MIN));
            }
        });
    }

    /// Waits for a reason to ask the database again, or for `deadline`.
    pub(crate) async fn wait(&mut self, deadline: Instant) -> Woken {
        let news = self.news.clone();
        loop {
            // Enabled before looking, so that no change of time is missed.
            let changed = news.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let wake_at = match self.next(deadline) {
                Next::Ask => return Woken::PollAgain,
                Next::End => return Woken::TimedOut,
                Next::SleepUntil(at) => at,
            };
            let sleeper = Sleeper::new(self);
            // An elapsed sleep and a notification both mean: look again.
            let _ = tokio::time::timeout_at(wake_at, changed).await;
            drop(sleeper);
        }
    }

    fn next(&mut self, deadline: Instant) -> Next {
        let (now, endings, repoll_max) = (Instant::now(), self.endings, self.repoll.max);
        if deadline <= now {
            return Next::End;
        }
        let next = self.group(|group| {
            if group.endings != endings {
                return Err(Next::End);
            }
            if let Some(reason) = group.reasons.pop() {
                return Ok(reason);
            }
            if group.next_at > now {
                return Err(Next::SleepUntil(group.next_at.min(deadline)));
            }
            group.hint = None;
            group.interval = group.interval.saturating_mul(2).min(repoll_max);
            group.next_at = later(now, jittered(group.pace()));
            Ok(Reason::new(Cause::Unknown))
        });
        match next {
            Some(Ok(reason)) => {
                self.reason = Some(reason);
                self.asked_at = now;
                Next::Ask
            }
            Some(Err(next)) => next,
            None => Next::End,
        }
    }

    /// The query found work, and more is likely soon. Work that nobody had told of may have come in
    /// numbers, so what was empty before is in doubt and another fetch is sent to look.
    pub(crate) fn found(mut self) {
        let interval = self.repoll.min;
        let reason = self.reason.take();
        self.group(|group| {
            group.interval = interval;
            group.watch_pause = Duration::ZERO;
            group.hurry(later(Instant::now(), jittered(interval)));
            match reason.map(|reason| reason.cause) {
                Some(Cause::Told(_)) => {}
                Some(Cause::Seen | Cause::Unknown) if group.waiting > group.reasons.len() => {
                    group.empty_at = None;
                    group.give(Reason::new(Cause::Unknown));
                }
                Some(Cause::Seen | Cause::Unknown) | None => group.empty_at = None,
            }
        });
    }
}

impl<I: Interest> Drop for Place<'_, I> {
    fn drop(&mut self) {
        let mut state = self.line.lock();
        let groups = &mut state.groups;
        let Some(at) = groups.iter().position(|g| g.interest == self.interest) else {
            return;
        };
        let group = &mut groups[at];
        if let Some(reason) = self.reason.take() {
            group.give(reason);
        }
        group.members -= 1;
        if group.members == 0 {
            // Others may be able to take what this group was told of.
            let group = groups.remove(at);
            drop(state);
            group.reasons.into_iter().for_each(|r| self.line.hand(r));
        } else if group.fell_quiet() {
            self.line.quieted.notify_one();
        }
    }
}

/// Counts a fetch as idle while it sleeps.
struct Sleeper<'a, 'b, I: Interest>(&'b Place<'a, I>);

impl<'a, 'b, I: Interest> Sleeper<'a, 'b, I> {
    fn new(place: &'b Place<'a, I>) -> Self {
        let fell_quiet = place.group(|group| {
            group.waiting += 1;
            group.fell_quiet()
        });
        if fell_quiet == Some(true) {
            place.line.quieted.notify_one();
        }
        Self(place)
    }
}

impl<I: Interest> Drop for Sleeper<'_, '_, I> {
    fn drop(&mut self) {
        self.0.group(|group| {
            group.waiting -= 1;
            group.quiet_since = None;
        });
    }
}

#[cfg(test)]
mod tests;
