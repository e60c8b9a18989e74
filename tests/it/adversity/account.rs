//! What was sent and what was done with it: nothing may be lost and nothing done twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kept by all sessions of a load. A call is entered when its answer says that it was committed.
#[derive(Default)]
pub struct Account {
    numbers: AtomicU64,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    sent: BTreeSet<String>,
    consumed: BTreeMap<String, u64>,
    scheduled: BTreeSet<String>,
    performed: BTreeMap<String, u64>,
    cancelled: BTreeSet<String>,
}

impl Account {
    /// A number that nothing else has.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn enter(&self, entry: impl FnOnce(&mut Books)) {
        entry(&mut self.books.lock().expect("nobody panics while writing"));
    }

    pub fn sent(&self, message: &str) {
        self.enter(|books| books.sent.extend([message.to_owned()]));
    }

    pub fn consumed(&self, message: &str) {
        self.enter(|books| *books.consumed.entry(message.to_owned()).or_default() += 1);
    }

    pub fn scheduled(&self, activity: &str) {
        self.enter(|books| books.scheduled.extend([activity.to_owned()]));
    }

    pub fn performed(&self, activity: &str) {
        self.enter(|books| *books.performed.entry(activity.to_owned()).or_default() += 1);
    }

    pub fn cancelled(&self, activity: &str) {
        self.enter(|books| books.cancelled.extend([activity.to_owned()]));
    }

    /// An activity that was scheduled, and may be cancelled.
    pub fn some_activity(&self, of: &str, choice: usize) -> Option<String> {
        let books = self.books.lock().expect("nobody panics while writing");
        let mine: Vec<_> = books
            .scheduled
            .iter()
            .filter(|activity| activity.starts_with(of))
            .collect();
        (!mine.is_empty()).then(|| mine[choice % mine.len()].clone())
    }

    /// How many messages were sent.
    pub fn messages(&self) -> usize {
        self.books
            .lock()
            .expect("nobody panics while writing")
            .sent
            .len()
    }

    /// What does not add up when everything has been fetched.
    pub fn faults(&self) -> Vec<String> {
        let books = self.books.lock().expect("nobody panics while writing");
        let mut faults = Vec::new();
        for message in &books.sent {
            match books.consumed.get(message) {
                Some(1) => {}
                Some(times) => faults.push(format!("message {message} was consumed {times} times")),
                None => faults.push(format!("message {message} was lost")),
            }
        }
        for message in books.consumed.keys() {
            if !books.sent.contains(message) {
                faults.push(format!("message {message} was never sent"));
            }
        }
        for activity in &books.scheduled {
            match books.performed.get(activity) {
                Some(1) => {}
                None if books.cancelled.contains(activity) => {}
                Some(times) => faults.push(format!("activity {activity} was done {times} times")),
                None => faults.push(format!("activity {activity} was lost")),
            }
        }
        faults
    }
}
