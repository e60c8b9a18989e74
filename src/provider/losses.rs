//! Leases that were lost, so that each is told of once.
//!
//! The runtime goes on asking for a lease that it has lost: after a renewal it acknowledges the activity that it has cancelled, after an
//! ack it tries another and then gives the item back. Whoever is alerted over lost leases would count each of them several times.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The runtime asks again within seconds.
const REMEMBERED: usize = 256;

/// The leases that one provider has lost lately.
#[derive(Default)]
pub(super) struct Losses(Mutex<VecDeque<String>>);

impl Losses {
    /// The database says that this lease is lost. Whether that is news.
    pub(super) fn is_news(&self, token: &str) -> bool {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = !lost.iter().any(|known| known == token);
        if is_news {
            if lost.len() >= REMEMBERED {
                lost.pop_front();
            }
            lost.push_back(token.to_owned());
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_is_lost_once() {
        let losses = Losses::default();
        assert!(losses.is_news("a") && losses.is_news("b"));
        assert!(!losses.is_news("a"));
        for n in 0..REMEMBERED {
            assert!(losses.is_news(&n.to_string()));
        }
        assert_eq!(losses.0.lock().unwrap().len(), REMEMBERED);
    }
}
