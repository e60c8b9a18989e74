//! One line of waiting fetches: who asks the database next, and why.
//!
//! Fetches that can take the same work form a group and share everything: the reasons to ask, and
//! the time at which one of them asks without a reason. So eight idle workers ask no more often
//! than one, and hardly at all while somebody watches the database for them.

mod place;
mod reasons;
mod rhythm;
mod watch;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use reasons::{Cause, Reason, Reasons};
use rhythm::Rhythm;
use watch::Quiet;

pub(crate) use place::{Place, Woken};
pub(crate) use rhythm::Repoll;

/// How long the end of waits holds for fetches that come after it. What they are was decided before they came, perhaps before the
/// reason for that end.
const LATE: Duration = Duration::from_millis(100);

/// What a waiting fetch can take. Equal interests can take the same.
pub(crate) trait Interest: Clone + PartialEq + Send {
    /// A piece of work as far as it decides who can take it.
    type Work: Clone + Send;
    /// What is the same of all fetches whose waits end together.
    type Kind: Copy + PartialEq + Send;

    /// With whom its wait ends.
    fn kind(&self) -> Self::Kind;

    /// Whether this fetch could take that work.
    fn fits(&self, work: &Self::Work) -> bool;

    /// Whether a watch can see all that this fetch could take.
    fn is_watchable(&self) -> bool;
}

/// The fetches of one interest.
struct Group<I: Interest> {
    interest: I,
    members: usize,
    /// Members that sleep.
    waiting: usize,
    reasons: Reasons<I::Work>,
    rhythm: Rhythm,
    quiet: Quiet,
    /// How often the members' waits were ended.
    endings: u64,
    /// Wakes one member for a reason, all of them for a change of time.
    news: Arc<Notify>,
}

impl<I: Interest> Group<I> {
    fn new(interest: I, repoll: Repoll, is_watched: bool) -> Self {
        Self {
            interest,
            members: 0,
            waiting: 0,
            reasons: Reasons::none(),
            rhythm: Rhythm::new(repoll, is_watched),
            quiet: Quiet::default(),
            endings: 0,
            news: Arc::new(Notify::new()),
        }
    }

    /// Gives a member a reason to ask.
    fn give(&mut self, reason: Reason<I::Work>) {
        self.quiet.broken();
        self.reasons.add(reason, self.members);
        self.news.notify_one();
    }

    /// Whether some member sleeps and has nothing to ask for.
    fn is_idle(&self) -> bool {
        self.waiting > self.reasons.len()
    }

    /// All members are asleep now, and were not before.
    fn fell_quiet(&mut self) -> bool {
        self.waiting == self.members && self.reasons.is_empty() && self.quiet.fell()
    }

    /// What a member does now: it takes up a reason, or asks because it is time. `endings` says how often waits had been ended when it
    /// came; an end since then is its own.
    fn next(&mut self, now: Instant, endings: Option<u64>, repoll: Repoll) -> Next<I::Work> {
        if endings != Some(self.endings) {
            return Next::End;
        }
        if let Some(reason) = self.reasons.take() {
            return Next::Ask(reason);
        }
        let next_at = self.rhythm.next_at();
        if next_at > now {
            return Next::SleepUntil(next_at);
        }
        self.rhythm.ask(now, repoll.max);
        Next::Ask(Reason::new(Cause::Unknown))
    }

    /// Changes when it is asked without a reason, and tells those who sleep until later.
    fn retime(&mut self, change: impl FnOnce(&mut Rhythm) -> bool) {
        if change(&mut self.rhythm) {
            self.news.notify_waiters();
        }
    }
}

/// What a waiting fetch has to do now.
enum Next<W> {
    Ask(Reason<W>),
    SleepUntil(Instant),
    End,
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
    /// Whose waits were ended last, and when. It holds for one more fetch of the kind, which may have been on its way.
    ended: Vec<(I::Kind, Instant)>,
}

impl<I: Interest> Line<I> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                groups: Vec::new(),
                watched: Vec::new(),
                ended: Vec::new(),
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
        let kind = interest.kind();
        let ended_at = state.ended.iter().position(|(ended, _)| *ended == kind);
        let ended = ended_at.map(|at| state.ended.swap_remove(at));
        let is_late = ended.is_some_and(|(_, at)| at.elapsed() < LATE);
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
        group.quiet.broken();
        let endings = (!is_late).then_some(group.endings);
        Place::new(self, interest, repoll, group.news.clone(), endings)
    }

    /// Has one fetch ask that can take this work, of a group that has an idle one if there is any.
    pub(crate) fn signal(&self, work: I::Work) {
        self.hand(Reason::new(Cause::Told(work)));
    }

    fn hand(&self, reason: Reason<I::Work>) {
        let groups = &mut self.lock().groups;
        let fits = |group: &Group<I>| matches!(&reason.cause, Cause::Told(work) if group.interest.fits(work));
        let chosen = groups
            .iter()
            .position(|group| group.is_idle() && fits(group));
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
            group.retime(|rhythm| rhythm.hint(at));
        }
    }

    /// Whether some fetch waits here, or was woken and has not gone on yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.lock().groups.iter().any(|group| group.waiting > 0)
    }

    /// Ends the waits of all fetches of this kind, as if their time were over, and that of the next one if it comes at once.
    pub(crate) fn end_waits(&self, kind: I::Kind) {
        let mut state = self.lock();
        for group in state.groups.iter_mut() {
            if group.interest.kind() == kind {
                group.endings += 1;
                group.news.notify_waiters();
            }
        }
        state.ended.retain(|(ended, _)| *ended != kind);
        state.ended.push((kind, Instant::now()));
    }
}

#[cfg(test)]
mod tests;
