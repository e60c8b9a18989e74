//! One session at a time, so that a game of many sessions can be replayed.
//!
//! Which of several threads comes first is the machine's business, and no seed can repeat it. Players take turns
//! instead: of those that want to go on, one is chosen by the seed, and the others stand still until it gives its turn
//! back: between statements and at locks, where it may, and when it has to wait or has answered its client. Nobody
//! is chosen while a client may still send something, and time stands still unless everybody waits for it. So
//! everything that happens follows from the seed and from what the clients do with their answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::splitmix::{GOLDEN, mixed};
use crate::clock::Clock;

/// How often who stands still is asked whether its client has gone.
const CHECK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Its client has the answer and will send something.
    Away,
    /// It could go on.
    Ready,
    /// It has the turn.
    Running,
    /// It waits for a lock or for time to pass, at most until then by the engine's clock.
    Waiting(Option<Duration>),
}

#[derive(Debug)]
struct Player {
    number: u64,
    place: Place,
    statements: u64,
}

#[derive(Debug, Default)]
struct Table {
    players: BTreeMap<u32, Player>,
    turns: u64,
}

/// The turns of one engine. Nobody plays until somebody is seated.
#[derive(Debug, Default)]
pub struct Turns {
    seed: u64,
    are_played: AtomicBool,
    table: Mutex<Table>,
    changed: Condvar,
}

/// A session that takes turns.
#[derive(Clone, Debug)]
pub struct Seat {
    turns: Arc<Turns>,
    session: u32,
}

impl Turns {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// These sessions take turns from now on, in whatever order the seed wants.
    pub fn seat(&self, sessions: impl IntoIterator<Item = u32>) {
        let mut table = self.table.lock();
        for (number, session) in (0..).zip(sessions) {
            let (place, statements) = (Place::Away, 0);
            let player = Player {
                number,
                place,
                statements,
            };
            table.players.insert(session, player);
        }
        self.are_played.store(true, Ordering::Relaxed);
    }

    /// How many players want to go on, or wait, rather than having their client think.
    pub fn present(&self) -> usize {
        let table = self.table.lock();
        let players = table.players.values();
        players.filter(|player| player.place != Place::Away).count()
    }

    /// The seat of a session, if it takes turns.
    pub(super) fn seat_of(self: &Arc<Self>, session: u32) -> Option<Seat> {
        if !self.are_played.load(Ordering::Relaxed) {
            return None;
        }
        let is_player = self.table.lock().players.contains_key(&session);
        is_player.then(|| Seat {
            turns: Arc::clone(self),
            session,
        })
    }

    /// A session has ended, or does not want to play any more.
    pub fn leave(&self, session: u32, clock: &Clock) {
        if self.are_played.load(Ordering::Relaxed) {
            let mut table = self.table.lock();
            table.players.remove(&session);
            self.choose(&mut table, clock);
        }
    }

    /// What a session waits for has been decided: it could go on.
    pub fn decided(&self, session: u32) {
        if !self.are_played.load(Ordering::Relaxed) {
            return;
        }
        if let Some(player) = self.table.lock().players.get_mut(&session)
            && matches!(player.place, Place::Waiting(_))
        {
            player.place = Place::Ready;
        }
    }

    /// Gives the turn to somebody, if it is free and nobody's client is thinking.
    fn choose(&self, table: &mut MutexGuard<'_, Table>, clock: &Clock) {
        let busy = |p: &Player| matches!(p.place, Place::Away | Place::Running);
        if table.players.values().any(busy) {
            return;
        }
        let now = clock.elapsed();
        let is_due = |player: &&mut Player| match player.place {
            Place::Ready => true,
            Place::Waiting(until) => until.is_some_and(|until| until <= now),
            Place::Away | Place::Running => false,
        };
        let turns = table.turns + 1;
        let chance = mixed(mixed(self.seed).wrapping_add(turns.wrapping_mul(GOLDEN)));
        let players = table.players.values_mut();
        let mut ready: Vec<&mut Player> = players.filter(is_due).collect();
        ready.sort_by_key(|player| player.number);
        if !ready.is_empty() {
            let chosen = usize::try_from(chance % ready.len() as u64).unwrap_or(0);
            ready[chosen].place = Place::Running;
            table.turns = turns;
            self.changed.notify_all();
            return;
        }
        // Everybody waits, so time passes until the first of them has waited enough.
        let until = |player: &Player| match player.place {
            Place::Waiting(Some(until)) => Some((until, player.number)),
            Place::Waiting(None) | Place::Away | Place::Ready | Place::Running => None,
        };
        let players = table.players.values_mut();
        if let Some((until, player)) = players
            .filter_map(|p| Some((until(p)?, p)))
            .min_by_key(|p| p.0)
        {
            clock.advance(until.0.saturating_sub(now));
            player.place = Place::Running;
            self.changed.notify_all();
        }
    }
}

impl Seat {
    /// Which player it is, and the number of the statement that it begins.
    pub(super) fn next_statement(&self) -> Option<(u64, u64)> {
        let mut table = self.turns.table.lock();
        let player = table.players.get_mut(&self.session)?;
        player.statements += 1;
        Some((player.number, player.statements))
    }

    /// A number that no other player and no other statement gets.
    pub fn random_seed(&self) -> u64 {
        let table = self.turns.table.lock();
        let player = table.players.get(&self.session);
        let (number, statements) = player.map_or((0, 0), |p| (p.number, p.statements));
        mixed(mixed(!self.turns.seed ^ mixed(number)) ^ statements)
    }

    /// Gives the turn back and waits for the next one: somebody else may go first. Who is told to stop plays no more.
    pub fn pass(&self, clock: &Clock, stop: &mut dyn FnMut() -> bool) {
        self.stand(Place::Ready, clock);
        self.await_turn(clock, stop);
    }

    /// Gives the turn back until somebody decides what it waits for ([`Turns::decided`]), or that time has come; to be
    /// followed by [`Seat::await_turn`].
    pub fn begin_wait(&self, until: Option<Duration>, clock: &Clock) {
        self.stand(Place::Waiting(until), clock);
    }

    /// The request has been served, and the client is about to hear of it.
    pub fn answer(&self, clock: &Clock) {
        self.stand(Place::Away, clock);
    }

    fn stand(&self, place: Place, clock: &Clock) {
        let mut table = self.turns.table.lock();
        if let Some(player) = table.players.get_mut(&self.session) {
            player.place = place;
        }
        self.turns.choose(&mut table, clock);
    }

    /// Waits for the turn. Who is told to stop plays no more.
    pub fn await_turn(&self, clock: &Clock, stop: &mut dyn FnMut() -> bool) {
        let mut table = self.turns.table.lock();
        loop {
            let player = table.players.get(&self.session);
            if player.is_none_or(|player| player.place == Place::Running) {
                return;
            }
            let waited = self.turns.changed.wait_for(&mut table, CHECK);
            if waited.timed_out() {
                let is_told = MutexGuard::unlocked(&mut table, &mut *stop);
                if is_told {
                    drop(table);
                    self.turns.leave(self.session, clock);
                    return;
                }
                // Somebody who does not play may have decided something, or moved the clock.
                self.turns.choose(&mut table, clock);
            }
        }
    }
}
