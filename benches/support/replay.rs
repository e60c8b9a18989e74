//! A TDS server that first passes requests on and remembers the answers, and then repeats them.
//!
//! While it repeats it allocates nothing, so that what is counted is the client's.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const HEADER_BYTES: usize = 8;
const END_OF_MESSAGE: u8 = 1;
const RPC: u8 = 3;

/// A request and its answer.
#[derive(Clone, Default)]
struct Exchange {
    request: Vec<u8>,
    answer: Vec<u8>,
}

#[derive(Default)]
struct Shared {
    is_detached: AtomicBool,
    /// By the kind of request; a call's kind is the procedure's name in UTF-16.
    exchanges: Mutex<HashMap<Vec<u8>, Exchange>>,
}

impl Shared {
    fn exchanges(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Exchange>> {
        self.exchanges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The recording and repeating server.
pub struct Replay {
    address: SocketAddr,
    server: SocketAddr,
    shared: Arc<Shared>,
}

impl Replay {
    /// Stands in front of a server that does not encrypt.
    pub fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared: Arc<Shared> = Arc::default();
        let inner = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = inner.clone();
                thread::spawn(move || serve(client, server, &shared));
            }
        });
        Ok(Self {
            address,
            server,
            shared,
        })
    }

    /// The connection string that leads here.
    pub fn url(&self, url: &str) -> String {
        let (server, here) = (self.server.port(), self.address.port());
        url.replace(&format!(",{server};"), &format!(",{here};"))
    }

    /// From now on the server is not asked any more.
    pub fn detach(&self) {
        self.shared.is_detached.store(true, Ordering::SeqCst);
    }

    /// The bare exchange of the bytes of a procedure's call.
    pub async fn floor(&self, procedure: &str) -> Floor {
        let name: Vec<_> = procedure
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let exchange = self.shared.exchanges().get(&name).cloned();
        let exchange = exchange.expect("a recorded procedure");
        let stream = tokio::net::TcpStream::connect(self.address).await;
        let stream = stream.expect("this server");
        stream.set_nodelay(true).expect("a TCP socket");
        Floor {
            stream,
            buffer: vec![0; exchange.answer.len()],
            request: exchange.request,
        }
    }
}

/// A connection that only moves bytes.
pub struct Floor {
    stream: tokio::net::TcpStream,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Floor {
    /// Sends the request and reads the whole answer.
    pub async fn exchange(&mut self) {
        self.stream.write_all(&self.request).await.expect("sent");
        self.stream
            .read_exact(&mut self.buffer)
            .await
            .expect("read");
    }
}

/// Ends when the client does.
fn serve(mut client: TcpStream, server: SocketAddr, shared: &Shared) {
    let (mut request, mut upstream) = (Vec::new(), None);
    drop(client.set_nodelay(true));
    while read_message(&mut client, &mut request).is_ok() {
        let answered = if shared.is_detached.load(Ordering::SeqCst) {
            let exchanges = shared.exchanges();
            let exchange = exchanges.get(kind(&request)).expect("a recorded request");
            client.write_all(&exchange.answer)
        } else {
            pass_on(&mut client, &mut upstream, server, &request, shared)
        };
        if answered.is_err() {
            return;
        }
    }
}

fn pass_on(
    client: &mut TcpStream,
    upstream: &mut Option<TcpStream>,
    server: SocketAddr,
    request: &[u8],
    shared: &Shared,
) -> io::Result<()> {
    let upstream = match upstream {
        Some(upstream) => upstream,
        None => upstream.insert(TcpStream::connect(server)?),
    };
    upstream.write_all(request)?;
    let mut answer = Vec::new();
    read_message(upstream, &mut answer)?;
    client.write_all(&answer)?;
    let exchange = Exchange {
        request: request.to_vec(),
        answer,
    };
    shared.exchanges().insert(kind(request).to_vec(), exchange);
    Ok(())
}

/// Reads packets up to the one that ends the message.
fn read_message(from: &mut TcpStream, message: &mut Vec<u8>) -> io::Result<()> {
    message.clear();
    loop {
        let at = message.len();
        message.resize(at + HEADER_BYTES, 0);
        from.read_exact(&mut message[at..])?;
        let length = usize::from(u16::from_be_bytes([message[at + 2], message[at + 3]]));
        let is_last = message[at + 1] & END_OF_MESSAGE != 0;
        message.resize(at + length.max(HEADER_BYTES), 0);
        from.read_exact(&mut message[at + HEADER_BYTES..])?;
        if is_last {
            return Ok(());
        }
    }
}

/// The name of the called procedure without its schema, or the packet's type.
fn kind(message: &[u8]) -> &[u8] {
    if message[0] != RPC {
        return &message[..1];
    }
    let body = &message[HEADER_BYTES..];
    let headers = u32::from_le_bytes([body[0], body[1], body[2], body[3]]) as usize;
    let units = usize::from(u16::from_le_bytes([body[headers], body[headers + 1]]));
    let name = &body[headers + 2..headers + 2 + 2 * units];
    // `[schema].[name]`, two bytes to a character.
    let dot = name.chunks(2).rposition(|unit| unit == [b'.', 0]);
    let name = dot.map_or(name, |dot| &name[2 * (dot + 1)..]);
    let name = name.strip_prefix(&[b'[', 0]).unwrap_or(name);
    name.strip_suffix(&[b']', 0]).unwrap_or(name)
}
