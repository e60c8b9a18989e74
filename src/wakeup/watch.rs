//! What the fetches of this process want to be told of, as one question to the database, and whom
//! the answer wakes.

use duroxide::providers::TagFilter;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use super::{OrchestrationInterest, Sessions, Wakeups, WorkerInterest};

/// The interests that are watched for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Wanted {
    orchestrations: Vec<OrchestrationInterest>,
    workers: Vec<WorkerInterest>,
}

/// All interests together, as `wait_for_work` takes them. It may cover more than they do: an answer
/// that fits none of them wakes nobody.
#[derive(Debug, PartialEq, Default)]
pub(crate) struct Question {
    pub(crate) orchestrations: bool,
    pub(crate) versions: Option<(i64, i64)>,
    pub(crate) include_untagged: bool,
    pub(crate) any_tag: bool,
    pub(crate) tags: Vec<String>,
    pub(crate) sessions: bool,
    pub(crate) session_owners: Vec<String>,
}

/// What is ready. An absent tag inside means work without a tag.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) orchestration: bool,
    pub(crate) work: Option<Option<String>>,
    pub(crate) session: Option<Option<String>>,
    pub(crate) owned: Option<(String, Option<String>)>,
}

impl Seen {
    fn is_something(&self) -> bool {
        self.orchestration || self.work.is_some() || self.session.is_some() || self.owned.is_some()
    }

    fn fits(&self, worker: &WorkerInterest) -> bool {
        let takes = |tag: &Option<String>| worker.tags.matches(tag.as_deref());
        let is_session =
            worker.sessions != Sessions::None && self.session.as_ref().is_some_and(takes);
        let is_owned = match (&worker.sessions, &self.owned) {
            (Sessions::Owned(owner), Some((seen, tag))) => owner == seen && takes(tag),
            (Sessions::None | Sessions::Free | Sessions::Owned(_), _) => false,
        };
        self.work.as_ref().is_some_and(takes) || is_session || is_owned
    }
}

impl Wanted {
    fn is_empty(&self) -> bool {
        self.orchestrations.is_empty() && self.workers.is_empty()
    }

    fn has_all_of(&self, other: &Self) -> bool {
        let has_orchestration = |i| self.orchestrations.contains(i);
        let has_worker = |i| self.workers.contains(i);
        other.orchestrations.iter().all(has_orchestration) && other.workers.iter().all(has_worker)
    }

    /// The question that covers all interests.
    pub(crate) fn question(&self) -> Question {
        let mut question = Question {
            orchestrations: !self.orchestrations.is_empty(),
            versions: self.versions(),
            ..Question::default()
        };
        for worker in &self.workers {
            match &worker.tags {
                TagFilter::DefaultOnly => question.include_untagged = true,
                TagFilter::Tags(tags) => question.tags.extend(tags.iter().cloned()),
                TagFilter::DefaultAnd(tags) => {
                    question.include_untagged = true;
                    question.tags.extend(tags.iter().cloned());
                }
                TagFilter::Any => question.any_tag = true,
                TagFilter::None => {}
            }
            match &worker.sessions {
                Sessions::None => {}
                Sessions::Free => question.sessions = true,
                Sessions::Owned(owner) => {
                    question.sessions = true;
                    question.session_owners.push(owner.clone());
                }
            }
        }
        question.tags.sort_unstable();
        question.tags.dedup();
        question
    }

    /// From the lowest version to the highest; `None` when somebody takes every version.
    fn versions(&self) -> Option<(i64, i64)> {
        let all = self.orchestrations.iter().map(|interest| interest.versions);
        let widened = all.reduce(|a, b| {
            let ((a_min, a_max), (b_min, b_max)) = (a?, b?);
            Some((a_min.min(b_min), a_max.max(b_max)))
        });
        widened.flatten()
    }
}

impl Wakeups {
    /// The right to watch for the whole process. Comes when whoever has it goes away.
    pub(crate) async fn seat(&self) -> OwnedMutexGuard<()> {
        self.seat.clone().lock_owned().await
    }

    /// Waits for fetches that should be watched for.
    pub(crate) async fn wanted(&self) -> Wanted {
        self.wanted_beside(&Wanted::default()).await
    }

    /// Waits for a fetch that should be watched for and is not among these.
    pub(crate) async fn wanted_beside(&self, known: &Wanted) -> Wanted {
        loop {
            let orchestrations = self.orchestrations.watchable();
            let workers = self.workers.watchable();
            let more_at = [orchestrations.more_at, workers.more_at];
            let more_at = more_at.into_iter().flatten().min();
            let wanted = Wanted {
                orchestrations: orchestrations.interests,
                workers: workers.interests,
            };
            if !wanted.is_empty() && !known.has_all_of(&wanted) {
                return wanted;
            }
            tokio::select! {
                () = self.orchestrations.quieted() => {}
                () = self.workers.quieted() => {}
                () = until(more_at) => {}
            }
        }
    }

    /// From now on exactly these are watched for.
    pub(crate) fn watch(&self, wanted: &Wanted) {
        self.orchestrations.watch(&wanted.orchestrations);
        self.workers.watch(&wanted.workers);
    }

    /// Nobody is watched for any more: every fetch asks by itself.
    pub(crate) fn watch_nothing(&self) {
        self.watch(&Wanted::default());
    }

    /// Nobody knows since when the watch has been deaf: all who relied on it ask.
    pub(crate) fn unheard(&self) {
        self.orchestrations.seen(|_| true);
        self.workers.seen(|_| true);
    }

    /// Wakes those who can take what was seen. False when something was seen that nobody can take.
    pub(crate) fn seen(&self, seen: &Seen) -> bool {
        let orchestrations = seen.orchestration && self.orchestrations.seen(|_| true);
        let workers = self.workers.seen(|worker| seen.fits(worker));
        orchestrations || workers || !seen.is_something()
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
