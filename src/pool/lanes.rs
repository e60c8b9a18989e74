//! Who may use how many of the connections.

use std::sync::Arc;

use tokio::sync::{AcquireError, Notify, OwnedSemaphorePermit, Semaphore};

/// Who asks for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Renewals. One connection is for them alone where there are at least four, because acks come in crowds: a lease that ends while
    /// its renewal waits behind them costs a turn or an activity. They may use all that acks may.
    Renew,
    /// Acks and abandons, which depend on a lease as well. About a quarter of the connections
    /// are for them and for renewals alone, and they may use the common ones, too.
    Settle,
    /// Fetches and messages: the work itself.
    Dispatch,
    /// Reads by clients and administrators. They get about half of what the dispatchers have, so
    /// that polling clients cannot keep the work waiting.
    Client,
}

impl Lane {
    /// All of them, those first that can wait least.
    pub(super) const ALL: [Self; 4] = [Self::Renew, Self::Settle, Self::Dispatch, Self::Client];

    /// As metrics and events name it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Renew => "renew",
            Self::Settle => "settle",
            Self::Dispatch => "dispatch",
            Self::Client => "client",
        }
    }
}

/// The right to one connection, from the moment it is looked for or opened until it is given
/// back. There are as many places as the pool may have connections.
pub(crate) struct Place {
    _connection: OwnedSemaphorePermit,
    _client: Option<OwnedSemaphorePermit>,
}

/// All places.
pub(super) struct Lanes {
    renewals: Arc<Semaphore>,
    reserved: Arc<Semaphore>,
    common: Arc<Semaphore>,
    clients: Arc<Semaphore>,
}

/// How many places there are of each kind. Clients use common ones.
#[derive(Debug, PartialEq, Eq)]
struct Shares {
    renewals: usize,
    reserved: usize,
    common: usize,
    clients: usize,
}

fn shares(pool_max: u32) -> Shares {
    let all = pool_max as usize;
    // A single connection is everybody's, and whatever is kept in a small pool is missed by those who do the work.
    let (renewals, kept) = match all {
        0 | 1 => (0, 0),
        2 | 3 => (0, 1),
        _ => (1, (all / 4).max(2)),
    };
    let common = all - kept;
    Shares {
        renewals,
        reserved: kept - renewals,
        common,
        clients: (common / 2).max(1),
    }
}

impl Lanes {
    pub(super) fn new(pool_max: u32) -> Self {
        let shares = shares(pool_max);
        Self {
            renewals: Arc::new(Semaphore::new(shares.renewals)),
            reserved: Arc::new(Semaphore::new(shares.reserved)),
            common: Arc::new(Semaphore::new(shares.common)),
            clients: Arc::new(Semaphore::new(shares.clients)),
        }
    }

    /// Waits for a place. `None` never comes: the semaphores are not closed.
    pub(super) async fn place(&self, lane: Lane) -> Option<Place> {
        match lane {
            Lane::Renew => {
                let renewals = self.renewals.clone().acquire_owned();
                let place = tokio::select! {
                    biased;
                    place = renewals => place,
                    place = self.settling_place() => place,
                };
                Place::new(place.ok()?, None)
            }
            Lane::Settle => Place::new(self.settling_place().await.ok()?, None),
            Lane::Dispatch => Place::new(self.common.clone().acquire_owned().await.ok()?, None),
            Lane::Client => {
                let client = self.clients.clone().acquire_owned().await.ok()?;
                let connection = self.common.clone().acquire_owned().await.ok()?;
                Place::new(connection, Some(client))
            }
        }
    }

    /// Waits in both queues at once, in each of them for its turn.
    async fn settling_place(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        let reserved = self.reserved.clone().acquire_owned();
        let common = self.common.clone().acquire_owned();
        tokio::select! {
            biased;
            place = reserved => place,
            place = common => place,
        }
    }

    /// A place that is free now, of those that everybody may use.
    pub(super) fn common_place(&self) -> Option<Place> {
        Place::new(self.common.clone().try_acquire_owned().ok()?, None)
    }

    /// A place that is free now, for a connection that was wanted in this lane and is wanted no more.
    pub(super) fn spare_place(&self, lane: Lane) -> Option<Place> {
        match lane {
            Lane::Renew | Lane::Settle => self.second_place(lane),
            Lane::Dispatch | Lane::Client => self.common_place(),
        }
    }

    /// A place that is free now, for a caller that already has one and waits for its connection
    /// to be opened.
    pub(super) fn second_place(&self, lane: Lane) -> Option<Place> {
        match lane {
            Lane::Renew => match self.renewals.clone().try_acquire_owned() {
                Ok(place) => Place::new(place, None),
                Err(_) => self.second_place(Lane::Settle),
            },
            Lane::Settle => match self.reserved.clone().try_acquire_owned() {
                Ok(place) => Place::new(place, None),
                Err(_) => self.common_place(),
            },
            Lane::Dispatch => self.common_place(),
            Lane::Client => {
                let client = self.clients.clone().try_acquire_owned().ok()?;
                let connection = self.common.clone().try_acquire_owned().ok()?;
                Place::new(connection, Some(client))
            }
        }
    }
}

impl Place {
    fn new(connection: OwnedSemaphorePermit, client: Option<OwnedSemaphorePermit>) -> Option<Self> {
        Some(Self {
            _connection: connection,
            _client: client,
        })
    }
}

/// Tells those who wait for a connection of their own to be opened that another has become free. One
/// of each lane is told: whoever finds no place may not be the only one who waits, and what is not a
/// place for a client may be one for an ack.
#[derive(Default)]
pub(super) struct Freed {
    renew: Notify,
    settle: Notify,
    dispatch: Notify,
    client: Notify,
}

impl Freed {
    /// What callers of this lane wait for.
    pub(super) fn of(&self, lane: Lane) -> &Notify {
        match lane {
            Lane::Renew => &self.renew,
            Lane::Settle => &self.settle,
            Lane::Dispatch => &self.dispatch,
            Lane::Client => &self.client,
        }
    }

    /// A place is free, and maybe a connection. Only once they are: who is woken looks at once.
    pub(super) fn tell(&self) {
        for lane in Lane::ALL {
            self.of(lane).notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn every_lane_has_places_that_the_ones_below_cannot_take() {
        assert_eq!(
            shares(20),
            Shares {
                renewals: 1,
                reserved: 4,
                common: 15,
                clients: 7
            }
        );
        for pool_max in 1..200 {
            let shares = shares(pool_max);
            let all = shares.renewals + shares.reserved + shares.common;
            assert_eq!(all, pool_max as usize);
            assert_eq!(shares.renewals, usize::from(pool_max >= 4), "{pool_max}");
            assert!(shares.clients >= 1 && shares.common >= 1);
            assert!(pool_max < 2 || shares.reserved >= 1, "{pool_max}");
            assert!(pool_max < 3 || shares.clients < shares.common, "{pool_max}");
        }
    }

    /// A client that is woken and finds no place does not keep the news from an ack behind it.
    #[tokio::test]
    async fn freed_connection_wakes_one_of_every_lane() {
        let (lanes, freed) = (Lanes::new(4), Freed::default());
        let taken = [
            lanes.place(Lane::Client).await,
            lanes.place(Lane::Dispatch).await,
        ];
        let mut client = Box::pin(freed.of(Lane::Client).notified());
        let mut settle = Box::pin(freed.of(Lane::Settle).notified());
        assert!(client.as_mut().now_or_never().is_none());
        assert!(settle.as_mut().now_or_never().is_none());
        freed.tell();
        assert!(client.now_or_never().is_some());
        assert!(lanes.second_place(Lane::Client).is_none());
        assert!(settle.now_or_never().is_some());
        assert!(lanes.second_place(Lane::Settle).is_some());
        drop(taken);
    }

    #[tokio::test]
    async fn acks_find_a_place_when_everybody_else_waits() {
        let lanes = Lanes::new(4);
        let client = lanes.place(Lane::Client).await;
        assert!(lanes.place(Lane::Client).now_or_never().is_none());
        let fetch = lanes.place(Lane::Dispatch).await;
        assert!(lanes.place(Lane::Dispatch).now_or_never().is_none());
        let ack = lanes.place(Lane::Settle).now_or_never();
        assert!(ack.is_some(), "a reserved place");
        assert!(lanes.place(Lane::Settle).now_or_never().is_none());
        let renewal = lanes.place(Lane::Renew).now_or_never();
        assert!(renewal.is_some(), "a place that acks do not get");
        assert!(lanes.place(Lane::Renew).now_or_never().is_none());
        drop((client, fetch));
        assert!(lanes.place(Lane::Settle).now_or_never().is_some());
        drop((ack, renewal));
    }

    /// A renewal that finds its own place taken waits in the other queues as well, and keeps its turn there.
    #[tokio::test]
    async fn renewals_wait_in_every_queue() {
        for lane in [Lane::Renew, Lane::Settle, Lane::Dispatch] {
            let lanes = Lanes::new(4);
            let mut taken = vec![
                (Lane::Dispatch, lanes.place(Lane::Dispatch).await),
                (Lane::Dispatch, lanes.place(Lane::Dispatch).await),
                (Lane::Settle, lanes.place(Lane::Settle).await),
                (Lane::Renew, lanes.place(Lane::Renew).await),
            ];
            let mut first = Box::pin(lanes.place(Lane::Renew));
            assert!(first.as_mut().now_or_never().is_none());
            let mut second = Box::pin(lanes.place(Lane::Renew));
            assert!(second.as_mut().now_or_never().is_none());
            let freed = taken.iter().position(|(of, _)| *of == lane);
            taken.remove(freed.expect("one of each lane"));
            assert!(second.as_mut().now_or_never().is_none(), "{lane:?}");
            assert!(first.now_or_never().flatten().is_some(), "{lane:?}");
        }
    }
}
