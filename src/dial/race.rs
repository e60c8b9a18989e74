//! Connects to whichever address of a name answers first.
//!
//! A listener with an address in every subnet has only one that answers, and which one changes
//! with a failover. So all are tried, a moment apart, and a dead one costs no more than that
//! moment.
//!
//! To accept a connection is not to let anybody in: a node that goes down, or a network that swallows what follows, may do so for long. So the
//! address of the last login comes first the next time, and those whose last login has failed come last, and much later. So do those
//! that let us in and then said that the database is not theirs any more.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::options::Lookup;

/// The head start of each address before the next one.
const STAGGER: Duration = Duration::from_millis(50);
/// The same before an address whose last login has failed: it may be the nearest, and must not win by that.
const STAGGER_FAILED: Duration = Duration::from_secs(1);

/// So many names are remembered: gateways name the nodes that they send us to, and a node is seldom there for ever.
const NAMES: usize = 32;

/// A host's name and a port.
type Name = (String, u16);

/// Looks names up, and remembers for each what became of the logins at its addresses.
#[derive(Debug, Default)]
pub(super) struct Racer {
    memories: Mutex<HashMap<Name, Memory>>,
}

#[derive(Debug, Default)]
struct Memory {
    /// The address of the last login.
    preferred: Option<SocketAddr>,
    /// Where the last login has failed, the latest at the end.
    failed: Vec<SocketAddr>,
}

/// Where a connection leads: an address, and the name that was looked up to find it.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    name: Name,
    address: SocketAddr,
}

/// A login at an address, which has failed unless somebody says otherwise: its time may be over at any moment.
pub(super) struct Trial<'a> {
    racer: &'a Racer,
    name: Name,
    address: Option<SocketAddr>,
}

impl Trial<'_> {
    /// The server let us in, or sent us elsewhere. Returns where it is.
    pub(super) fn succeeded(mut self) -> Option<Origin> {
        let address = self.address.take();
        self.racer.remember(&self.name, |memory| {
            memory.preferred = address;
            memory.failed.retain(|known| Some(*known) != address);
        });
        let name = self.name.clone();
        address.map(|address| Origin { name, address })
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        if let Some(address) = self.address {
            self.racer
                .remember(&self.name, |memory| memory.distrust(address));
        }
    }
}

impl Racer {
    /// Opens a connection to the host. The name is looked up every time, because a failover may
    /// change what it stands for.
    pub(super) async fn connect(
        &self,
        host: &str,
        port: u16,
        lookup: Option<&Lookup>,
    ) -> io::Result<(TcpStream, Trial<'_>)> {
        let found: Vec<_> = match lookup {
            Some(lookup) => lookup(host, port)?,
            None => tokio::net::lookup_host((host, port)).await?.collect(),
        };
        let name = (host.to_owned(), port);
        let ordered = self.remember(&name, |memory| memory.order(found));
        let stream = first_of(ordered).await?;
        let trial = Trial {
            racer: self,
            name,
            address: stream.peer_addr().ok(),
        };
        Ok((stream, trial))
    }

    /// The server there lets us in and is not the one to talk to: a secondary that reads are allowed on takes every login, and refuses
    /// every write. So its address comes last, as if it had refused the login.
    pub(super) fn distrust(&self, origin: &Origin) {
        let Origin { name, address } = origin;
        self.remember(name, |memory| memory.distrust(*address));
    }

    /// Looks at what is remembered of a name, or changes it.
    fn remember<T>(&self, name: &Name, look: impl FnOnce(&mut Memory) -> T) -> T {
        let mut memories = self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        if memories.len() >= NAMES && !memories.contains_key(name) {
            memories.clear();
        }
        look(memories.entry(name.clone()).or_default())
    }
}

impl Memory {
    /// This address comes last from now on, until a login there succeeds.
    fn distrust(&mut self, address: SocketAddr) {
        self.preferred = self.preferred.filter(|known| *known != address);
        self.failed.retain(|known| *known != address);
        self.failed.push(address);
    }

    /// The order in which the addresses of a name are tried, and how long those before each of them have for themselves. What the
    /// name no longer stands for is forgotten.
    fn order(&mut self, found: Vec<SocketAddr>) -> Vec<(SocketAddr, Duration)> {
        self.failed.retain(|address| found.contains(address));
        let mut ordered = order(found, self.preferred);
        let failed_at = |address| self.failed.iter().position(|failed| *failed == address);
        // Those that have not failed keep their order.
        ordered.sort_by_key(|address| failed_at(*address));
        let head_start = |address| match failed_at(address) {
            None => STAGGER,
            Some(_) => STAGGER_FAILED,
        };
        let ordered = ordered.into_iter();
        ordered
            .map(|address| (address, head_start(address)))
            .collect()
    }
}

/// The preferred address comes first; then the two families take turns, beginning with
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
async fn first_of(addresses: Vec<(SocketAddr, Duration)>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter().peekable();
    let mut running = JoinSet::new();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    loop {
        if let Some((address, _)) = waiting.next() {
            running.spawn(TcpStream::connect(address));
        }
        let outcome = match waiting.peek() {
            None => running.join_next().await,
            Some((_, head_start)) => {
                match tokio::time::timeout(*head_start, running.join_next()).await {
                    Ok(outcome) => outcome,
                    Err(_) => continue,
                }
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

    fn at_once(addresses: &[SocketAddr]) -> Vec<(SocketAddr, Duration)> {
        addresses
            .iter()
            .map(|address| (*address, STAGGER))
            .collect()
    }

    #[tokio::test]
    async fn dead_addresses_cost_a_moment() {
        let (_listener, _queued, dead) = dead().await;
        let alive = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = alive.local_addr().unwrap();
        let begun = Instant::now();
        let stream = first_of(at_once(&[dead, dead, closed().await, address])).await;
        assert_eq!(stream.unwrap().peer_addr().unwrap(), address);
        // A dead address alone would take the system more than two minutes.
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn refusals_of_all_addresses_are_the_error() {
        let error = first_of(at_once(&[closed().await, closed().await])).await;
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let none = first_of(Vec::new()).await.unwrap_err();
        assert_eq!(none.to_string(), "the name has no address");
    }

    #[test]
    fn families_take_turns_after_the_preferred_address() {
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

    #[tokio::test]
    async fn addresses_are_tried_in_the_order_of_their_logins() {
        let racer = Racer::default();
        let listeners = [
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
        ];
        let addresses: Vec<_> = listeners.iter().map(|l| l.local_addr().unwrap()).collect();
        let found = addresses.clone();
        let lookup: Lookup = std::sync::Arc::new(move |_: &str, _| Ok(found.clone()));
        let [a, b, c] = addresses[..] else {
            unreachable!()
        };
        for (expected, is_login) in [
            (a, false),
            (b, false),
            (c, false),
            (a, false),
            (b, true),
            (b, true),
            (b, false),
            (c, true),
            (c, true),
        ] {
            let connected = racer.connect("db", 1, Some(&lookup)).await;
            let (stream, trial) = connected.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), expected);
            if is_login {
                trial.succeeded();
            }
        }
        // A login says nothing about who may write: the one that was preferred comes last when it has lost the database.
        let (_stream, trial) = racer.connect("db", 1, Some(&lookup)).await.unwrap();
        let origin = trial.succeeded().expect("an address");
        racer.distrust(&origin);
        let (stream, trial) = racer.connect("db", 1, Some(&lookup)).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), a);
        drop(trial);
        let (stream, trial) = racer.connect("db", 1, Some(&lookup)).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), b);
        drop(trial);
        let (stream, trial) = racer.connect("db", 1, Some(&lookup)).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), c, "its turn has come again");
        trial.succeeded();
        // The nearer ones must not win by being near.
        let doubted = [(c, STAGGER), (a, STAGGER_FAILED), (b, STAGGER_FAILED)];
        let order = |name: &str, found| {
            let name = (name.to_owned(), 1);
            racer.remember(&name, |memory| memory.order(found))
        };
        assert_eq!(order("db", addresses), doubted);
        assert_eq!(order("node", vec![b])[0], (b, STAGGER), "another name");
        assert_eq!(order("db", vec![b, c])[1], (b, STAGGER_FAILED));
        assert_eq!(order("db", vec![a])[0], (a, STAGGER), "forgotten");
        for n in 0..2 * NAMES {
            order(&n.to_string(), vec![c]);
        }
        assert!(racer.memories.lock().unwrap().len() <= NAMES);
    }
}
