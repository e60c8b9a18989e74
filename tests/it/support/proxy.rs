//! A TCP proxy in front of the server: it counts requests, and spoils chosen ones.
//!
//! It understands just enough of the wire format to see where a message begins, what kind it is
//! and which procedure it calls. This works while only the login is encrypted.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

const PACKET_BATCH: u8 = 0x01;
const PACKET_RPC: u8 = 0x03;
const PACKET_REPLY: u8 = 0x04;
const STATUS_END_OF_MESSAGE: u8 = 0x01;

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection breaks before the server sees the request.
    CutBefore,
    /// The server does the work; the connection breaks before its answer arrives.
    CutAfter,
    /// The server never sees the request; the client gets this error number and severity.
    Error(u32, u8),
    /// The request is swallowed, and so is everything else on this connection, which stays open.
    SilentBefore,
    /// The server does the work; its answer is swallowed, and so is everything else.
    SilentAfter,
    /// The server does the work; its answer comes so much later.
    Late(Duration),
}

#[derive(Default)]
struct Plan {
    /// Faults for the next calls of a procedure, in order.
    faults: HashMap<String, Vec<Fault>>,
    /// Every so many requests one is cut, alternating between before and after.
    cut_every: Option<u64>,
    requests: u64,
    reply_bytes: u64,
    calls: HashMap<String, u64>,
    /// The connections on which each procedure was called, by their numbers.
    callers: HashMap<String, BTreeSet<usize>>,
    /// The open connections: true for those that swallow everything.
    connections: Vec<Weak<AtomicBool>>,
    /// Whether new connections swallow everything, the login included.
    mutes_new: bool,
    /// How long a new connection is held up before anything passes.
    slow_logins: Duration,
    /// How long every answer is held back.
    delay: Duration,
    /// How many bytes of the answers on each connection pass in a tenth of a second.
    narrow: Option<usize>,
    /// The same of the requests.
    narrow_requests: Option<usize>,
}

/// A running proxy. It ends with the test's runtime.
#[derive(Clone)]
pub struct Proxy {
    plan: Arc<Mutex<Plan>>,
    port: u16,
    upstream: String,
}

impl Proxy {
    /// Starts a proxy in front of the server of an ADO.NET connection string.
    pub async fn start(url: &str) -> Self {
        let upstream = server_of(url);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let plan: Arc<Mutex<Plan>> = Arc::default();
        let (shared, target) = (plan.clone(), upstream.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, target.clone(), shared.clone()));
            }
        });
        Self {
            plan,
            port,
            upstream,
        }
    }

    /// The connection string that leads through this proxy.
    pub fn url(&self, url: &str) -> String {
        let through = format!("tcp:127.0.0.1,{}", self.port);
        let (host, port) = self.upstream.rsplit_once(':').expect("host and port");
        url.replace(&format!("tcp:{host},{port}"), &through)
    }

    /// Where it listens.
    pub fn address(&self) -> std::net::SocketAddr {
        (std::net::Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan
            .lock()
            .expect("nothing panics while it holds this")
    }

    /// Spoils the next call of a procedure that is not yet spoilt.
    pub fn spoil(&self, procedure: &str, fault: Fault) {
        self.plan()
            .faults
            .entry(procedure.to_owned())
            .or_default()
            .push(fault);
    }

    /// Spoils no further call of a procedure.
    pub fn forgive(&self, procedure: &str) {
        self.plan().faults.remove(procedure);
    }

    /// Cuts the connection at every `n`th request.
    pub fn cut_every(&self, n: Option<u64>) {
        self.plan().cut_every = n;
    }

    /// Every connection that is open now swallows everything from now on; new ones work.
    pub fn silence_all(&self) {
        let connections = self.plan().connections.clone();
        for muted in connections.iter().filter_map(Weak::upgrade) {
            muted.store(true, Ordering::SeqCst);
        }
    }

    /// Whether new connections are silent from the start.
    pub fn mute_new(&self, mutes_new: bool) {
        self.plan().mutes_new = mutes_new;
    }

    /// Holds every new connection up for this long before its login begins.
    pub fn slow_logins(&self, delay: Duration) {
        self.plan().slow_logins = delay;
    }

    /// How many open connections are silent.
    pub fn muted(&self) -> usize {
        let connections = self.plan().connections.clone();
        let open = connections.iter().filter_map(Weak::upgrade);
        open.filter(|muted| muted.load(Ordering::SeqCst)).count()
    }

    /// Holds every answer back for this long.
    pub fn delay(&self, delay: Duration) {
        self.plan().delay = delay;
    }

    /// Lets only so many bytes of the answers on each connection pass in a tenth of a second.
    pub fn narrow(&self, bytes: Option<usize>) {
        self.plan().narrow = bytes;
    }

    /// Lets only so many bytes of the requests on each connection pass in a tenth of a second.
    pub fn narrow_requests(&self, bytes: Option<usize>) {
        self.plan().narrow_requests = bytes;
    }

    /// Requests of any kind since the last call of this function.
    pub fn take_requests(&self) -> u64 {
        std::mem::take(&mut self.plan().requests)
    }

    /// Bytes of all replies since the last call of this function.
    pub fn take_reply_bytes(&self) -> u64 {
        std::mem::take(&mut self.plan().reply_bytes)
    }

    /// How often each procedure was called.
    pub fn calls(&self, procedure: &str) -> u64 {
        self.plan().calls.get(procedure).copied().unwrap_or(0)
    }

    /// On how many connections a procedure was called.
    pub fn callers(&self, procedure: &str) -> usize {
        self.plan().callers.get(procedure).map_or(0, BTreeSet::len)
    }
}

fn server_of(url: &str) -> String {
    let server = url
        .split(';')
        .find_map(|pair| pair.strip_prefix("server=tcp:"));
    let (host, port) = server
        .and_then(|s| s.split_once(','))
        .expect("server=tcp:host,port first");
    format!("{host}:{port}")
}

/// The state of one connection.
#[derive(Default)]
struct Line {
    /// Break when the server answers.
    cut_on_reply: AtomicBool,
    /// Swallow the server's answers.
    mute_on_reply: AtomicBool,
    /// How long the server's next answer is held back.
    late: Mutex<Duration>,
    /// Which connection this is, in the order of their coming.
    number: usize,
    /// Swallow everything.
    muted: Arc<AtomicBool>,
}

impl Line {
    fn is_muted(&self) -> bool {
        self.muted.load(Ordering::SeqCst)
    }
}

async fn serve(client: TcpStream, upstream: String, plan: Arc<Mutex<Plan>>) {
    let held_up = plan.lock().expect("nothing panics").slow_logins;
    tokio::time::sleep(held_up).await;
    let Ok(server) = TcpStream::connect(upstream).await else {
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let to_client = Arc::new(tokio::sync::Mutex::new(to_client));
    let mut line = Line::default();
    {
        let mut plan = plan.lock().expect("nothing panics while it holds this");
        line.muted.store(plan.mutes_new, Ordering::SeqCst);
        line.number = plan.connections.len();
        plan.connections.push(Arc::downgrade(&line.muted));
    }
    let requests = forward_requests(
        from_client,
        to_server,
        to_client.clone(),
        plan.clone(),
        &line,
    );
    let replies = forward_replies(from_server, to_client.clone(), &plan, &line);
    // Whichever side ends first, both sockets are closed.
    tokio::select! {
        _ = requests => {}
        _ = replies => {}
    }
}

async fn forward_replies(
    mut from: OwnedReadHalf,
    to: Arc<tokio::sync::Mutex<OwnedWriteHalf>>,
    plan: &Mutex<Plan>,
    line: &Line,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n = from.read(&mut buffer).await?;
        let (delay, narrow) = {
            let mut plan = plan.lock().expect("nothing panics while it holds this");
            plan.reply_bytes += n as u64;
            (plan.delay, plan.narrow)
        };
        let late = std::mem::take(&mut *line.late.lock().expect("nothing panics"));
        if !(delay + late).is_zero() {
            tokio::time::sleep(delay + late).await;
        }
        if line.is_muted() || line.mute_on_reply.load(Ordering::SeqCst) {
            // The client must not see that the server has hung up.
            line.muted.store(true, Ordering::SeqCst);
            if n == 0 {
                std::future::pending::<()>().await;
            }
            continue;
        }
        if n == 0 || line.cut_on_reply.load(Ordering::SeqCst) {
            return Ok(());
        }
        for part in buffer[..n].chunks(narrow.unwrap_or(n)) {
            to.lock().await.write_all(part).await?;
            if narrow.is_some() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn forward_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    reply: Arc<tokio::sync::Mutex<OwnedWriteHalf>>,
    plan: Arc<Mutex<Plan>>,
    line: &Line,
) -> std::io::Result<()> {
    let mut is_first_packet = true;
    let mut swallow = None;
    let mut passed = 0;
    loop {
        let frame = read_frame(&mut from).await?;
        passed += frame.len();
        let narrow = plan.lock().expect("nothing panics").narrow_requests;
        if narrow.is_some_and(|narrow| passed >= narrow) {
            passed = 0;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let is_last_packet = frame[1] & STATUS_END_OF_MESSAGE != 0;
        let is_request = frame[0] == PACKET_RPC || frame[0] == PACKET_BATCH;
        if line.is_muted() {
            continue;
        }
        if is_request && is_first_packet {
            match decide(&plan, &frame, line.number) {
                None => {}
                Some(Fault::CutBefore) => return Ok(()),
                Some(Fault::CutAfter) => line.cut_on_reply.store(true, Ordering::SeqCst),
                Some(Fault::Error(number, severity)) => swallow = Some((number, severity)),
                Some(Fault::SilentBefore) => {
                    line.muted.store(true, Ordering::SeqCst);
                    continue;
                }
                Some(Fault::SilentAfter) => line.mute_on_reply.store(true, Ordering::SeqCst),
                Some(Fault::Late(late)) => *line.late.lock().expect("nothing panics") = late,
            }
        }
        is_first_packet = is_last_packet || !is_request;
        match swallow {
            None => to.write_all(&frame).await?,
            Some((number, severity)) if is_last_packet => {
                reply
                    .lock()
                    .await
                    .write_all(&error_reply(number, severity))
                    .await?;
                swallow = None;
            }
            Some(_) => {}
        }
    }
}

fn decide(plan: &Mutex<Plan>, frame: &[u8], connection: usize) -> Option<Fault> {
    let mut plan = plan.lock().expect("nothing panics while it holds this");
    plan.requests += 1;
    let procedure = procedure_of(frame)?;
    *plan.calls.entry(procedure.clone()).or_default() += 1;
    let callers = plan.callers.entry(procedure.clone()).or_default();
    callers.insert(connection);
    if let Some(faults) = plan.faults.get_mut(&procedure)
        && !faults.is_empty()
    {
        return Some(faults.remove(0));
    }
    let every = plan.cut_every?;
    match plan.requests % (2 * every) {
        0 => Some(Fault::CutBefore),
        n if n == every => Some(Fault::CutAfter),
        _ => None,
    }
}

/// One TDS packet, or one TLS record of the encrypted login.
async fn read_frame(from: &mut OwnedReadHalf) -> std::io::Result<Vec<u8>> {
    let mut head = [0_u8; 5];
    from.read_exact(&mut head).await?;
    let is_tls = (0x14..=0x17).contains(&head[0]) && head[1] == 0x03;
    let length = if is_tls {
        5 + usize::from(u16::from_be_bytes([head[3], head[4]]))
    } else {
        usize::from(u16::from_be_bytes([head[2], head[3]]))
    };
    let mut frame = vec![0; length.max(5)];
    frame[..5].copy_from_slice(&head);
    from.read_exact(&mut frame[5..]).await?;
    Ok(frame)
}

/// The unqualified name of the procedure that a call by name begins with.
fn procedure_of(frame: &[u8]) -> Option<String> {
    if frame[0] != PACKET_RPC {
        return None;
    }
    let body = frame.get(8..)?;
    let headers = u32::from_le_bytes(body.get(..4)?.try_into().ok()?) as usize;
    let units = usize::from(u16::from_le_bytes(
        body.get(headers..headers + 2)?.try_into().ok()?,
    ));
    let name = body.get(headers + 2..headers + 2 + 2 * units)?;
    let name: Vec<_> = name
        .chunks(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let name = String::from_utf16(&name).ok()?;
    name.rsplit('.')
        .next()
        .map(|name| name.trim_matches(['[', ']']).to_owned())
}

/// A reply that holds nothing but an error.
fn error_reply(number: u32, severity: u8) -> Vec<u8> {
    let text: Vec<u8> = "spoilt by a test"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let mut error = number.to_le_bytes().to_vec();
    error.extend([1, severity]);
    error.extend(((text.len() / 2) as u16).to_le_bytes());
    error.extend(text);
    // No server name, no procedure name, line 0.
    error.extend([0, 0, 0, 0, 0, 0]);
    let mut tokens = vec![0xAA];
    tokens.extend((error.len() as u16).to_le_bytes());
    tokens.extend(error);
    // DONE, with the error bit set and no row count.
    tokens.extend([0xFD, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut packet = vec![PACKET_REPLY, STATUS_END_OF_MESSAGE];
    packet.extend(((tokens.len() + 8) as u16).to_be_bytes());
    packet.extend([0, 0, 1, 0]);
    packet.extend(tokens);
    packet
}
