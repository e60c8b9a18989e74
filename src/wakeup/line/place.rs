//! One fetch in the line: it asks, waits for a reason to ask again, and goes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::reasons::{Cause, Reason};
use super::{Group, Interest, Line, Next, Repoll};

/// A hint of the database is never taken as a reason to ask again at once.
const HINT_MIN: Duration = Duration::from_millis(2);

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Ask the database again.
    PollAgain,
    /// The caller's time is over.
    TimedOut,
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

impl<'a, I: Interest> Place<'a, I> {
    /// For a fetch that is a member of its group by now.
    pub(super) fn new(
        line: &'a Line<I>,
        interest: I,
        repoll: Repoll,
        news: Arc<Notify>,
        endings: Option<u64>,
    ) -> Self {
        Self {
            line,
            interest,
            repoll,
            news,
            endings,
            reason: None,
            asked_at: Instant::now(),
        }
    }

    /// Runs `change` on this fetch's group, which exists for as long as the fetch is in the line.
    pub(super) fn group<T>(&self, change: impl FnOnce(&mut Group<I>) -> T) -> Option<T> {
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
            let now = Instant::now();
            if deadline <= now {
                return Woken::TimedOut;
            }
            let (endings, repoll) = (self.endings, self.repoll);
            let next = self.group(|group| group.next(now, endings, repoll));
            let wake_at = match next {
                Some(Next::Ask(reason)) => {
                    self.reason = Some(reason);
                    self.asked_at = now;
                    return Woken::PollAgain;
                }
                Some(Next::SleepUntil(at)) => at.min(deadline),
                Some(Next::End) | None => return Woken::TimedOut,
            };
            let sleeper = Sleeper::new(self);
            // An elapsed sleep and a notification both mean: look again.
            let _ = tokio::time::timeout_at(wake_at, changed).await;
            drop(sleeper);
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
