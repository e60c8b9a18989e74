//! Connects to whichever address of a name answers first.
//!
//! A listener with an address in every subnet has only one that answers, and which one changes
//! with a failover. So all are tried, a moment apart, and a dead one costs no more than that
//! moment.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::options::Lookup;

/// The head start of each address before the next one.
const STAGGER: Duration = Duration::from_millis(50);

/// Looks names up, and remembers which address answered last.
#[derive(Debug, Default)]
pub(super) struct Racer {
    answered: Mutex<Option<SocketAddr>>,
}

impl Racer {
    /// Opens a connection to the host. The name is looked up every time, because a failover may
    /// change what it stands for.
    pub(super) async fn connect(
        &self,
        host: &str,
        port: u16,
        lookup: Option<&Lookup>,
    ) -> io::Result<TcpStream> {
        let found = match lookup {
            Some(lookup) => lookup(host, port)?,
            None => tokio::net::lookup_host((host, port)).await?.collect(),
        };
        let preferred = *self.answered();
        let stream = first_of(order(found, preferred)).await?;
        *self.answered() = stream.peer_addr().ok();
        Ok(stream)
    }

    fn answered(&self) -> std::sync::MutexGuard<'_, Option<SocketAddr>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address that answered last comes first; then the two families take turns, beginning with
/// the one that the system put first.
fn order(found: Vec<SocketAddr>, preferred: Option<SocketAddr>) -> Vec<SocketAddr> {
    let Some(first) = found.first().copied() else {
        return found;
    };
    let (mut same, mut other): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|address| address.is_ipv4() == first.is_ipv4());
    same.reverse();
    other.reverse();
    let mut ordered = Vec::new();
    while let Some(address) = same.pop() {
        ordered.push(address);
        ordered.extend(other.pop());
    }
    ordered.extend(other.into_iter().rev());
    if let Some(at) = ordered.iter().position(|a| Some(*a) == preferred) {
        ordered[..=at].rotate_right(1);
    }
    ordered
}

/// The first connection that is made; the others are given up. When all fail, what the last one
/// said.
async fn first_of(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter();
    let mut running = JoinSet::new();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    loop {
        if let Some(address) = waiting.next() {
            running.spawn(TcpStream::connect(address));
        }
        let outcome = if waiting.len() == 0 {
            running.join_next().await
        } else {
            match tokio::time::timeout(STAGGER, running.join_next()).await {
                Ok(outcome) => outcome,
                Err(_) => continue,
            }
        };
        match outcome {
            Some(Ok(Ok(stream))) => return Ok(stream),
            Some(Ok(Err(error))) => failure = error,
            Some(Err(error)) => failure = io::Error::other(error),
            None => return Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use tokio::net::{TcpListener, TcpSocket};

    /// An address that swallows every attempt to connect: its queue is full.
    async fn dead() -> (TcpListener, Vec<TcpStream>, SocketAddr) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queued = Vec::new();
        loop {
            let attempt = TcpStream::connect(address);
            match tokio::time::timeout(Duration::from_millis(300), attempt).await {
                Ok(stream) => queued.push(stream.unwrap()),
                Err(_) => return (listener, queued, address),
            }
        }
    }

    async fn closed() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    }

    #[tokio::test]
    async fn dead_addresses_cost_a_moment() {
        let (_listener, _queued, dead) = dead().await;
        let alive = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = alive.local_addr().unwrap();
        let begun = Instant::now();
        let stream = first_of(vec![dead, dead, closed().await, address]).await;
        assert_eq!(stream.unwrap().peer_addr().unwrap(), address);
        // A dead address alone would take the system more than two minutes.
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn refusals_of_all_addresses_are_the_error() {
        let error = first_of(vec![closed().await, closed().await]).await;
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let none = first_of(Vec::new()).await.unwrap_err();
        assert_eq!(none.to_string(), "the name has no address");
    }

    #[test]
    fn families_take_turns_after_the_address_that_answered_last() {
        let addresses = |texts: &[&str]| -> Vec<SocketAddr> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let found = addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1", "2.2.2.2:1"]);
        assert_eq!(
            order(found.clone(), None),
            addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "2.2.2.2:1", "[::3]:1"])
        );
        assert_eq!(
            order(found.clone(), "2.2.2.2:1".parse().ok()),
            addresses(&["2.2.2.2:1", "[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"])
        );
        assert_eq!(order(found.clone(), "9.9.9.9:1".parse().ok()).len(), 5);
        assert_eq!(
            order(addresses(&["1.1.1.1:1", "2.2.2.2:1", "[::1]:1"]), None),
            addresses(&["1.1.1.1:1", "[::1]:1", "2.2.2.2:1"])
        );
    }
}
