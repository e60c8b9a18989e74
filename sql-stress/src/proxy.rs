//! A TCP proxy that adds network delay and counts requests.
//!
//! It runs on threads of its own, because an async timer's millisecond is too coarse for a delay of a
//! few milliseconds, and because a network does not share the tester's scheduler.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::Server;

const CHUNK_BYTES: usize = 64 * 1024;

/// A running proxy. Dropping it stops it from taking connections; those it has go on.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Half of the round-trip time: what each direction adds.
    delay: Duration,
    requests: AtomicU64,
    is_stopped: AtomicBool,
}

/// Bytes on their way, and when they arrive.
type InFlight = (Instant, Vec<u8>);

impl Proxy {
    /// Listens on a free port of this machine and forwards to `server`.
    ///
    /// # Errors
    ///
    /// When no port is free.
    pub fn start(server: Server, rtt: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            delay: rtt / 2,
            requests: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
        });
        let inner = Arc::clone(&shared);
        thread::Builder::new()
            .name("proxy".to_owned())
            .spawn(move || accept(&listener, &server, &inner))?;
        Ok(Self { address, shared })
    }

    /// Where to connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Requests so far: how often a client spoke first or spoke after the server. TDS without
    /// multiplexing is strictly question and answer, so this holds under encryption, too.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        // The listening thread sits in accept; a last connection lets it look at the flag.
        drop(TcpStream::connect(self.address));
    }
}

fn accept(listener: &TcpListener, server: &Server, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        // A connection that cannot be forwarded is closed: that is what its client must see.
        if let Ok(client) = client {
            drop(connect(client, server, shared));
        }
    }
}

fn connect(client: TcpStream, server: &Server, shared: &Arc<Shared>) -> io::Result<()> {
    let upstream = TcpStream::connect((server.host.as_str(), server.port))?;
    client.set_nodelay(true)?;
    upstream.set_nodelay(true)?;
    // Whether the server has spoken since the client last did.
    let server_spoke = Arc::new(AtomicBool::new(true));
    let up = (client.try_clone()?, upstream.try_clone()?);
    let down = (upstream, client);
    let (counter, spoke) = (Arc::clone(shared), Arc::clone(&server_spoke));
    forward(up, shared.delay, move || {
        if spoke.swap(false, Ordering::AcqRel) {
            counter.requests.fetch_add(1, Ordering::Relaxed);
        }
    })?;
    forward(down, shared.delay, move || {
        server_spoke.store(true, Ordering::Release);
    })
}

/// Two threads for a direction: one takes bytes off the wire and stamps them, so that bytes under way
/// do not hold up those behind them; the other delivers.
fn forward(
    (from, to): (TcpStream, TcpStream),
    delay: Duration,
    on_bytes: impl Fn() + Send + 'static,
) -> io::Result<()> {
    let (sender, receiver) = channel();
    let builder = || thread::Builder::new().stack_size(128 * 1024);
    builder().spawn(move || take(from, delay, &sender, on_bytes))?;
    builder().spawn(move || deliver(to, &receiver))?;
    Ok(())
}

fn take(mut from: TcpStream, delay: Duration, to: &Sender<InFlight>, on_bytes: impl Fn()) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(n) => {
                on_bytes();
                if to
                    .send((Instant::now() + delay, buffer[..n].to_vec()))
                    .is_err()
                {
                    // The other side is gone; so is this one.
                    drop(from.shutdown(Shutdown::Both));
                    return;
                }
            }
        }
    }
}

fn deliver(mut to: TcpStream, from: &Receiver<InFlight>) {
    for (due, bytes) in from {
        let left = due.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            thread::sleep(left);
        }
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers every byte with the same byte.
    fn echo() -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                thread::spawn(move || {
                    let mut byte = [0];
                    while client.read_exact(&mut byte).is_ok() {
                        client.write_all(&byte).unwrap();
                    }
                });
            }
        });
        Server {
            host: "127.0.0.1".to_owned(),
            port,
        }
    }

    #[test]
    fn every_exchange_takes_the_round_trip_time_and_is_counted() {
        let rtt = Duration::from_millis(20);
        let proxy = Proxy::start(echo(), rtt).unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        for n in 1..=5_u8 {
            let begun = Instant::now();
            client.write_all(&[n]).unwrap();
            let mut answer = [0];
            client.read_exact(&mut answer).unwrap();
            assert!(begun.elapsed() >= rtt, "{:?}", begun.elapsed());
            assert_eq!((answer[0], proxy.requests()), (n, u64::from(n)));
        }
    }

    #[test]
    fn connection_ends_when_the_server_is_gone() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Server {
            host: "127.0.0.1".to_owned(),
            port,
        };
        let proxy = Proxy::start(server, Duration::ZERO).unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        drop(listener.accept().unwrap());
        assert_eq!(client.read(&mut [0; 8]).unwrap_or(0), 0);
    }
}
