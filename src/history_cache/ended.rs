//! The custom status that came with the end of an instance.
//!
//! A client that waits reads the history and asks for the custom status right after it, each time. Once the history has
//! ended, the status cannot change any more, and the read has brought it: one round trip less between the end of an
//! orchestration and whoever waits for it. What only a deletion could make untrue is believed once, and not for long.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The client asks at once.
const BELIEVED_FOR: Duration = Duration::from_millis(20);
/// More than any process has clients that have read an end and not yet asked.
const REMEMBERED_MAX: usize = 256;

/// A custom status and its version.
pub(crate) type Status = (Option<String>, u64);

#[derive(Default)]
pub(super) struct EndedStatuses(Mutex<HashMap<String, (Status, Instant)>>);

impl EndedStatuses {
    pub(super) fn remember(&self, instance: &str, status: Status) {
        let mut statuses = self.lock();
        // A status may be long, and most readers do not ask for it.
        statuses.retain(|_, (_, since)| since.elapsed() < BELIEVED_FOR);
        if statuses.len() < REMEMBERED_MAX {
            statuses.insert(instance.to_owned(), (status, Instant::now()));
        }
    }

    /// At most once for each read.
    pub(super) fn take(&self, instance: &str) -> Option<Status> {
        let (status, since) = self.lock().remove(instance)?;
        (since.elapsed() < BELIEVED_FOR).then_some(status)
    }

    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Status, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(version: u64) -> Status {
        (Some("s".to_owned()), version)
    }

    #[tokio::test(start_paused = true)]
    async fn each_read_accounts_for_one_question_about_its_instance() {
        let statuses = EndedStatuses::default();
        statuses.remember("a", status(1));
        assert_eq!(statuses.take("b"), None);
        assert_eq!(statuses.take("a"), Some(status(1)));
        assert_eq!(statuses.take("a"), None, "only once");
        statuses.remember("a", status(1));
        statuses.clear();
        assert_eq!(statuses.take("a"), None, "something was deleted");
    }

    #[tokio::test(start_paused = true)]
    async fn old_statuses_are_not_believed_and_make_room() {
        let statuses = EndedStatuses::default();
        for n in 0..=REMEMBERED_MAX {
            statuses.remember(&n.to_string(), status(1));
        }
        assert_eq!(statuses.lock().len(), REMEMBERED_MAX);
        assert_eq!(statuses.take("0"), Some(status(1)));
        tokio::time::advance(BELIEVED_FOR).await;
        assert_eq!(statuses.take("1"), None, "too old");
        statuses.remember("a", status(2));
        assert_eq!(statuses.lock().len(), 1, "the old ones are gone");
    }
}
