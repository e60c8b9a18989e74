//! The calls of a random sequence.

use crate::support::dice::Dice;

/// A call, with its arguments as small numbers: which instance, which of the tokens fetched so far
/// (stale ones too), how many ticks.
#[derive(Clone, Debug)]
pub enum Operation {
    Enqueue {
        instance: u64,
        is_start: bool,
        delay: u64,
    },
    Fetch {
        lease: u64,
    },
    Ack {
        turn: u64,
        changes: Vec<Change>,
        status: Option<String>,
        /// The turn begins the execution after the one it was fetched for.
        next_execution: bool,
        message: Option<u64>,
        timer: Option<u64>,
        /// Session and whether it has a tag.
        work: Vec<(Option<u64>, bool)>,
        cancel: Option<u64>,
    },
    Abandon {
        turn: u64,
        delay: Option<u64>,
        ignore: bool,
    },
    Renew {
        turn: u64,
        extend: u64,
    },
    EnqueueWork {
        instance: u64,
        session: Option<u64>,
        tag: bool,
    },
    FetchWork {
        owner: Option<u64>,
        filter: u64,
        lease: u64,
        session_lease: u64,
    },
    AckWork {
        work: u64,
        completes: bool,
    },
    AbandonWork {
        work: u64,
        delay: Option<u64>,
        ignore: bool,
    },
    RenewWork {
        work: u64,
        extend: u64,
    },
    RenewSessions {
        extend: u64,
        idle: u64,
    },
    Cleanup,
    Delete {
        instance: u64,
        force: bool,
    },
    Prune {
        instance: u64,
        keep: u64,
    },
    Read {
        instance: u64,
    },
    Jump {
        ticks: u64,
    },
}

/// An event that changes more than the history.
#[derive(Clone, Debug)]
pub enum Change {
    Set(u64, u64),
    Clear(u64),
    ClearAll,
    Status(Option<u64>),
}

pub fn operations(seed: u64, count: usize) -> Vec<Operation> {
    let mut dice = Dice(seed);
    (0..count).map(|_| operation(&mut dice)).collect()
}

fn maybe(dice: &mut Dice, sides: u64) -> Option<u64> {
    (dice.roll(2) == 0).then(|| dice.roll(sides))
}

/// How many tokens before the last one: mostly the last ones, old ones now and then.
fn recent(dice: &mut Dice) -> u64 {
    if dice.roll(5) == 0 {
        dice.roll(50)
    } else {
        dice.roll(2)
    }
}

fn operation(dice: &mut Dice) -> Operation {
    let instance = dice.roll(3);
    match dice.roll(30) {
        0..4 => Operation::Enqueue {
            instance,
            is_start: dice.roll(3) > 0,
            delay: dice.roll(3) * dice.roll(3),
        },
        4..9 => Operation::Fetch {
            lease: 1 + dice.roll(4),
        },
        9..14 => ack(dice),
        14 => Operation::Abandon {
            turn: recent(dice),
            delay: maybe(dice, 3),
            ignore: dice.roll(2) == 0,
        },
        15 => Operation::Renew {
            turn: recent(dice),
            extend: dice.roll(5),
        },
        16 => Operation::EnqueueWork {
            instance,
            session: maybe(dice, 2),
            tag: dice.roll(3) == 0,
        },
        17..20 => Operation::FetchWork {
            owner: (dice.roll(4) > 0).then(|| dice.roll(2)),
            filter: dice.roll(4),
            lease: 1 + dice.roll(4),
            session_lease: dice.roll(5),
        },
        20 | 21 => Operation::AckWork {
            work: recent(dice),
            completes: dice.roll(4) > 0,
        },
        22 => Operation::AbandonWork {
            work: recent(dice),
            delay: maybe(dice, 3),
            ignore: dice.roll(2) == 0,
        },
        23 => Operation::RenewWork {
            work: recent(dice),
            extend: dice.roll(5),
        },
        24 => Operation::RenewSessions {
            extend: dice.roll(5),
            idle: 1 + dice.roll(3),
        },
        25 => Operation::Cleanup,
        26 => match dice.roll(2) {
            0 => Operation::Delete {
                instance,
                force: dice.roll(2) == 0,
            },
            _ => Operation::Prune {
                instance,
                keep: dice.roll(3),
            },
        },
        27 => Operation::Read { instance },
        _ => Operation::Jump {
            ticks: 1 + dice.roll(3),
        },
    }
}

fn ack(dice: &mut Dice) -> Operation {
    let changes = (0..1 + dice.roll(3)).map(|_| match dice.roll(6) {
        0 => Change::Clear(dice.roll(3)),
        1 => Change::ClearAll,
        2 => Change::Status(maybe(dice, 9)),
        _ => Change::Set(dice.roll(3), dice.roll(9)),
    });
    let changes = changes.collect();
    let status = match dice.roll(6) {
        0 => Some("Completed"),
        1 => Some("ContinuedAsNew"),
        2 => Some("Failed"),
        _ => None,
    };
    Operation::Ack {
        turn: recent(dice),
        changes,
        status: status.map(str::to_owned),
        next_execution: dice.roll(5) == 0,
        message: maybe(dice, 3),
        timer: maybe(dice, 3),
        work: (0..dice.roll(3))
            .map(|_| (maybe(dice, 2), dice.roll(3) == 0))
            .collect(),
        cancel: maybe(dice, 20),
    }
}
