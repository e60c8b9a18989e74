//! Connections from the wish for one until somebody has it, who need not be the one who wished.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::idle::Pooled;
use super::lanes::{Lane, Place};
use super::live::{Live, Seat};
use super::visible::Visible as _;
use super::{Borrowed, Shared};
use crate::dial::Connection;
use crate::error::CallError;
use crate::observe::events::Closed;

/// Those whose connections are being opened, in the order of their coming. They take any other as well.
pub(super) struct Expecting<C = Connection>(Mutex<Vec<(Lane, oneshot::Sender<C>)>>);

impl<C> Default for Expecting<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C> Expecting<C> {
    /// One more, until the receiver is dropped.
    fn join(&self, lane: Lane) -> oneshot::Receiver<C> {
        let (sender, receiver) = oneshot::channel();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, sender)| !sender.is_closed());
        all.push((lane, sender));
        receiver
    }

    /// Gives a connection to the one who needs it most, and of those to the first. Returns it if nobody does.
    fn hand(&self, mut connection: C) -> Option<C> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for lane in Lane::ALL {
            while let Some(first) = all.iter().position(|(of, _)| *of == lane) {
                let (_, sender) = all.remove(first);
                match sender.send(connection) {
                    Ok(()) => return None,
                    Err(back) => connection = back,
                }
            }
        }
        Some(connection)
    }
}

/// How the wait for a connection to be opened ended.
enum End {
    Opened(Result<Connection, CallError>),
    /// Another came first.
    Handed(Connection),
    /// The caller has gone.
    Left,
}

impl Shared {
    /// Opens a connection in a task of its own. It has the caller's place for as long as there is a caller: those
    /// whose attempts fail soon must find places for the next ones, however long the network swallows logins. Without a caller it
    /// goes on among the orphans, if there are not too many, because the next caller may need what it opens. That may be the same
    /// one: where logins take longer than the attempts under a lease, each attempt waits for what those before it began to open.
    pub(super) fn open_in_task(
        self: &Arc<Self>,
        lane: Lane,
        place: Place,
    ) -> oneshot::Receiver<Result<Borrowed, CallError>> {
        let (mut answer, receiver) = oneshot::channel();
        let shared = self.clone();
        let seat = self.counts.seat();
        let mut handed = self.expecting.join(lane);
        tokio::spawn(async move {
            let mut dialled = std::pin::pin!(shared.dial());
            let end = tokio::select! {
                biased;
                opened = &mut dialled => End::Opened(opened),
                Ok(connection) = &mut handed => End::Handed(connection),
                () = answer.closed() => End::Left,
            };
            // What was handed over in this very moment is left for somebody else.
            handed.close();
            let left_over = handed.try_recv().ok();
            let is_dialling = !matches!(end, End::Opened(_));
            match end {
                End::Opened(opened) => drop(answer.send(shared.opened(opened, place, seat))),
                End::Handed(connection) => {
                    drop(answer.send(shared.opened(Ok(connection), place, seat)));
                }
                End::Left => {
                    drop((place, seat));
                    shared.freed.tell();
                }
            }
            if let Some(connection) = left_over {
                shared.keep(lane, connection);
            }
            if is_dialling {
                shared.adopt(lane, dialled).await;
            }
        });
        receiver
    }

    /// What became of a connection that was opened for this place.
    pub(super) fn opened(
        self: &Arc<Self>,
        opened: Result<Connection, CallError>,
        place: Place,
        seat: Seat,
    ) -> Result<Borrowed, CallError> {
        match opened {
            Ok(connection) => {
                let live = Live::pooled(connection, seat);
                let mut borrowed = self.lend(Pooled::new(live), place);
                borrowed.is_new = true;
                Ok(borrowed)
            }
            Err(error) => {
                drop(place);
                self.freed.tell();
                Err(error)
            }
        }
    }

    /// Waits for a connection that nobody waits for any more, and keeps it if there is any use for it.
    async fn adopt(
        self: &Arc<Self>,
        lane: Lane,
        dialled: impl Future<Output = Result<Connection, CallError>>,
    ) {
        let Some(_orphan) = self.orphans.spare_place(lane) else {
            return;
        };
        if let Ok(connection) = dialled.await {
            self.keep(lane, connection);
        }
    }

    /// Gives a connection to somebody whose own is still being opened, who has a place and a seat for it; or keeps it for the next
    /// caller, if a place of the lane that it was opened for is free.
    fn keep(self: &Arc<Self>, lane: Lane, connection: Connection) {
        let Some(connection) = self.expecting.hand(connection) else {
            return;
        };
        match self.lanes.spare_place(lane).zip(self.counts.spare_seat()) {
            Some((place, seat)) => drop(self.opened(Ok(connection), place, seat)),
            None => Live::own(connection, &self.counts).condemn(Closed::Abandoned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renewals first, and whoever came first of them. Those who have gone lose nothing that others could have.
    #[test]
    fn connection_is_handed_to_the_one_who_needs_it_most() {
        let expecting = Expecting::default();
        let lanes = [
            Lane::Client,
            Lane::Settle,
            Lane::Renew,
            Lane::Dispatch,
            Lane::Renew,
            Lane::Renew,
        ];
        let mut receivers = lanes.map(|lane| Some(expecting.join(lane)));
        receivers[2] = None;
        let handed: Vec<_> = (0..6).map(|number| expecting.hand(number)).collect();
        assert_eq!(handed, [None, None, None, None, None, Some(5)]);
        let got = receivers.map(|receiver| receiver.and_then(|mut r| r.try_recv().ok()));
        assert_eq!(got, [Some(4), Some(2), None, Some(3), Some(0), Some(1)]);
    }
}
