//! Accepting clients: one thread each, all of them gone when the listener is.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::backend::Backend;
use super::connection::{Settings, serve};

/// The interpreter recurses through nested procedures and expressions on the connection's thread.
/// Only what is touched costs memory.
const STACK_BYTES: usize = 16 * 1024 * 1024;
/// How long to wait after a failed accept, which means that the process is out of descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(20);

/// The sockets of live connections, so that stopping can end them.
#[derive(Default)]
struct Live {
    sockets: Mutex<HashMap<u64, TcpStream>>,
    ended: Condvar,
}

/// A listening socket and the connections that came through it.
pub(crate) struct Listener {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    live: Arc<Live>,
    accepting: Option<JoinHandle<()>>,
}

impl Listener {
    /// Listens on an address (port 0 for any free one) and serves clients from `backend`.
    pub(crate) fn start<B: Backend>(
        address: SocketAddr,
        backend: B,
        settings: Settings,
    ) -> io::Result<Self> {
        let socket = TcpListener::bind(address)?;
        let address = socket.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let live = Arc::new(Live::default());
        let acceptor = Acceptor {
            backend,
            settings,
            stopping: Arc::clone(&stopping),
            live: Arc::clone(&live),
        };
        let accepting = thread::Builder::new()
            .name("mssql-accept".into())
            .spawn(move || acceptor.run(&socket))?;
        Ok(Self {
            address,
            stopping,
            live,
            accepting: Some(accepting),
        })
    }

    /// With the port that the system chose for port 0.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection and returns when the last of their threads has let go of its session.
    pub(crate) fn stop(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        self.stopping.store(true, Ordering::SeqCst);
        // The only portable way to wake a thread that waits in accept. When it fails, the socket
        // is beyond accepting anyway.
        let _ = TcpStream::connect_timeout(&reachable(self.address), Duration::from_secs(1));
        let _ = accepting.join();
        let mut sockets = self.live.sockets.lock();
        for socket in sockets.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        while !sockets.is_empty() {
            self.live.ended.wait(&mut sockets);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The loopback address for a socket that listens on all of them.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, address.port())
}

struct Acceptor<B> {
    backend: B,
    settings: Settings,
    stopping: Arc<AtomicBool>,
    live: Arc<Live>,
}

impl<B: Backend> Acceptor<B> {
    fn run(&self, socket: &TcpListener) {
        for id in 0.. {
            let accepted = socket.accept();
            if self.stopping.load(Ordering::SeqCst) {
                return;
            }
            match accepted {
                // A client that cannot get a thread sees its connection closed.
                Ok((tcp, _)) => drop(self.spawn(id, tcp)),
                Err(_) => thread::sleep(ACCEPT_RETRY),
            }
        }
    }

    fn spawn(&self, id: u64, tcp: TcpStream) -> io::Result<()> {
        let socket = tcp.try_clone()?;
        self.live.sockets.lock().insert(id, socket);
        let registered = Registered {
            id,
            live: Arc::clone(&self.live),
        };
        let backend = self.backend.clone();
        let settings = self.settings.clone();
        let stopping = Arc::clone(&self.stopping);
        thread::Builder::new()
            .name(format!("mssql-client-{id}"))
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let _registered = registered;
                // How a connection ended is between the client and the session; nobody else is
                // interested.
                let _ = serve(tcp, &backend, &settings, stopping);
            })?;
        Ok(())
    }
}

/// A connection's entry among the live ones, removed last of all, also when its thread panics.
struct Registered {
    id: u64,
    live: Arc<Live>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.live.sockets.lock().remove(&self.id);
        self.live.ended.notify_all();
    }
}
