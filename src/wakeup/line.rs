//! One line of waiting fetches: who asks the database next, and why.
//!
//! Fetches that can take the same work form a group and share everything: the reasons to ask, and
//! the time at which one of them asks without a reason. So eight idle workers ask no more often
//! than one, and hardly at all while somebody watches the database for them.

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

pub(crate) use rhythm::Repoll;

/// A hint of the database is never taken as a reason to ask again at once.
const HINT_MIN: Duration = Duration::from_millis(2);

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

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Ask the database again.
    PollAgain,
    /// The caller's time is over.
    TimedOut,
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

    /// Changes when it is asked without a reason, and tells those who sleep until later.
    fn retime(&mut self, change: impl FnOnce(&mut Rhythm) -> bool) {
        if change(&mut self.rhythm) {
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
        Place {
            line: self,
            interest,
            repoll,
            news: group.news.clone(),
            endings: (!is_late).then_some(group.endings),
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

    /// Has one fetch of every group ask: there is work, and nobody here knows who can take it.
    pub(crate) fn signal_any(&self) {
        for group in &mut self.lock().groups {
            group.give(Reason::new(Cause::Unknown));
        }
    }

    /// As [`Line::signal_any`], at this time.
    pub(crate) fn signal_any_at(&self, at: Instant) {
        for group in &mut self.lock().groups {
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

/// A fetch's place in the line.
pub(crate) struct Place<'a, I: Interest> {
    line: &'a Line<I>,
    interest: I,
    repoll: Repoll,
    news: Arc<Notify>,
    /// The group's count when this fetch came; none when its wait was ended before it came.
    endings: Option<u64>,
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
        self.group(|group| group.reasons.are_answered()) == Some(true)
    }

    /// The query found nothing; `next_ready` is what the database said about the time when asking
    /// again may help. Reasons from before the query are answered by it.
    pub(crate) fn found_nothing(&mut self, next_ready: Option<Instant>) {
        let reason = self.reason.take();
        let (asked_at, repoll) = (self.asked_at, self.repoll);
        self.group(|group| {
            if let Some(Reason {
                cause: Cause::Seen, ..
            }) = reason
            {
                group.quiet.pause(repoll.max);
            }
            group.reasons.found_nothing(asked_at);
            if let Some(next_ready) = next_ready {
                let at = next_ready.max(Instant::now() + HINT_MIN);
                group.retime(|rhythm| rhythm.hint(at));
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
            if endings != Some(group.endings) {
                return Err(Next::End);
            }
            if let Some(reason) = group.reasons.take() {
                return Ok(reason);
            }
            let next_at = group.rhythm.next_at();
            if next_at > now {
                return Err(Next::SleepUntil(next_at.min(deadline)));
            }
            group.rhythm.ask(now, repoll_max);
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
            group.quiet.no_pause();
            group.retime(|rhythm| rhythm.quicken(interval));
            match reason.map(|reason| reason.cause) {
                Some(Cause::Told(_)) => {}
                Some(Cause::Seen | Cause::Unknown) if group.is_idle() => {
                    group.reasons.found_more();
                    group.give(Reason::new(Cause::Unknown));
                }
                Some(Cause::Seen | Cause::Unknown) | None => group.reasons.found_more(),
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
            group.quiet.broken();
        });
    }
}

#[cfg(test)]
mod tests;
