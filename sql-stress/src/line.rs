//! A network that fails on command: connections lead through it to the server.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::{Context as _, Result};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::connection::Server;

const CHUNK_BYTES: usize = 64 * 1024;
/// How long the server may take to accept what we forward.
const FORWARD_TIMEOUT: Duration = Duration::from_secs(10);

/// An address of its own in front of a server. Dropping it ends its connections.
#[derive(Debug)]
pub struct Line {
    address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Cancelled to cut all connections that are open.
    cut: Mutex<CancellationToken>,
    /// The open connections: true for those that swallow everything.
    wires: Mutex<Vec<Weak<AtomicBool>>>,
    /// New connections are silent from the start.
    is_dead: AtomicBool,
}

impl Line {
    /// Listens on a free port of this machine.
    ///
    /// # Errors
    ///
    /// When no port is free.
    pub async fn start(server: Server) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.context("no port is free")?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::default());
        let shared = state.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, server.clone(), shared.clone()));
            }
        });
        Ok(Self {
            address,
            state,
            accepting,
        })
    }

    /// Where to connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts every connection that is open. New ones work.
    pub fn reset(&self) {
        std::mem::take(&mut *self.state.cut.lock()).cancel();
    }

    /// Every connection that is open stays so and swallows everything from now on. New ones work.
    pub fn swallow(&self) {
        for wire in self.state.wires.lock().iter().filter_map(Weak::upgrade) {
            wire.store(true, Ordering::SeqCst);
        }
    }

    /// Nobody is at this address any more, or somebody is again: connections that are open swallow
    /// everything, and new ones do as well.
    pub fn set_dead(&self, is_dead: bool) {
        self.state.is_dead.store(is_dead, Ordering::SeqCst);
        if is_dead {
            self.swallow();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.accepting.abort();
        self.reset();
    }
}

async fn serve(client: TcpStream, server: Server, state: Arc<State>) {
    let cut = state.cut.lock().clone();
    let muted = Arc::new(AtomicBool::new(state.is_dead.load(Ordering::SeqCst)));
    {
        let mut wires = state.wires.lock();
        wires.retain(|wire| wire.strong_count() > 0);
        wires.push(Arc::downgrade(&muted));
    }
    let connect = TcpStream::connect((server.host.as_str(), server.port));
    let Ok(Ok(upstream)) = tokio::time::timeout(FORWARD_TIMEOUT, connect).await else {
        return;
    };
    // Without it the figures are about small packets that wait for each other.
    if client.set_nodelay(true).is_err() || upstream.set_nodelay(true).is_err() {
        return;
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = upstream.into_split();
    tokio::select! {
        () = cut.cancelled() => {}
        () = forward(from_client, to_server, &muted) => {}
        () = forward(from_server, to_client, &muted) => {}
    }
}

/// Carries bytes until one side has closed, or swallows them: then nobody hears even of the end.
async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, muted: &AtomicBool) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let read = from.read(&mut buffer).await;
        let is_muted = muted.load(Ordering::SeqCst);
        match read {
            Ok(0) | Err(_) if is_muted => std::future::pending().await,
            Ok(0) | Err(_) => return,
            Ok(_) if is_muted => {}
            Ok(n) => {
                if to.write_all(&buffer[..n]).await.is_err() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers every byte with the same byte.
    async fn echo() -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut byte = [0];
                    while client.read_exact(&mut byte).await.is_ok() {
                        client.write_all(&byte).await.unwrap();
                    }
                });
            }
        });
        Server {
            host: "127.0.0.1".to_owned(),
            port,
        }
    }

    async fn answer(client: &mut TcpStream) -> std::io::Result<u8> {
        client.write_all(&[7]).await?;
        let mut byte = [0];
        client.read_exact(&mut byte).await?;
        Ok(byte[0])
    }

    async fn connect(line: &Line) -> TcpStream {
        TcpStream::connect(line.address()).await.unwrap()
    }

    #[tokio::test]
    async fn reset_ends_open_connections_and_lets_new_ones_through() {
        let line = Line::start(echo().await).await.unwrap();
        let mut client = connect(&line).await;
        assert_eq!(answer(&mut client).await.unwrap(), 7);
        line.reset();
        assert!(answer(&mut client).await.is_err());
        assert_eq!(answer(&mut connect(&line).await).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn silent_connections_stay_open_and_say_nothing() {
        let line = Line::start(echo().await).await.unwrap();
        let mut silent = connect(&line).await;
        assert_eq!(answer(&mut silent).await.unwrap(), 7);
        line.swallow();
        let mut next = connect(&line).await;
        assert_eq!(answer(&mut next).await.unwrap(), 7);
        line.set_dead(true);
        let mut dead = connect(&line).await;
        for client in [&mut silent, &mut next, &mut dead] {
            let waiting = tokio::time::timeout(Duration::from_millis(50), answer(client));
            assert!(waiting.await.is_err(), "neither an answer nor an end");
        }
        line.set_dead(false);
        assert_eq!(answer(&mut connect(&line).await).await.unwrap(), 7);
    }
}
