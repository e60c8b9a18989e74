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
    /// By instance: when a deletion began and when its answer was there.
    deleted: BTreeMap<String, Vec<(u64, u64)>>,
    /// Turns that were ended or renewed although their instance had been deleted since.
    outlived: Vec<String>,
    /// Turns that were refused after their instance had been deleted.
    refused: u64,
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

    /// An instance was deleted, by a call that began then and whose answer is here.
    pub fn deleted(&self, instance: &str, began: u64) {
        let ended = self.number();
        self.enter(|books| {
            let deletions = books.deleted.entry(instance.to_owned()).or_default();
            deletions.push((began, ended));
        });
    }

    /// A turn was to be ended or renewed. What was fetched before a deletion and is asked for after
    /// it must be refused, though the instance may have been created again.
    pub fn settled(&self, instance: &str, fetched_at: u64, began: u64, is_done: bool) {
        self.enter(|books| {
            let deletions = books.deleted.get(instance).into_iter().flatten();
            let mut between = deletions.filter(|(from, to)| fetched_at < *from && *to < began);
            match (between.next(), is_done) {
                (Some(deletion), true) => books.outlived.push(format!(
                    "a turn of {instance} fetched at {fetched_at} and used at {began} outlived the deletion at {deletion:?}"
                )),
                (Some(_), false) => books.refused += 1,
                (None, _) => {}
            }
        });
    }

    /// How many turns were refused because their instance had been deleted.
    pub fn refused(&self) -> u64 {
        self.books
            .lock()
            .expect("nobody panics while writing")
            .refused
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
        let mut faults = books.outlived.clone();
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
