//! One client's socket: packets in, packets out, through TLS or not.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection};

use super::packet::{DEFAULT_PACKET_SIZE, HEADER, Header, Outgoing, PacketKind, header, status};

/// Why a connection ended from the wire's point of view.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// The client closed the connection.
    #[error("the client closed the connection")]
    Closed,
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// What arrived is not TDS.
    #[error("not a TDS message: {0}")]
    Protocol(&'static str),
    /// The message is longer than the server takes.
    #[error("the message is longer than {0} bytes")]
    TooLong(usize),
}

/// What the first packet of a message said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageHead {
    pub(crate) kind: PacketKind,
    /// The session shall be reset first.
    pub(crate) reset: bool,
    /// The reset shall keep the open transaction.
    pub(crate) keep_transaction: bool,
    /// The client gave the message up while sending it.
    pub(crate) ignored: bool,
}

/// What a look at the socket found while a request runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Polled {
    Nothing,
    /// An attention, now consumed.
    Attention,
    /// The client hung up.
    Closed,
}

/// How much is read from the socket at a time, unless a packet is longer.
const READ_BYTES: usize = 16 * 1024;

/// How much a client may send while its request runs. "If another client request packet is received during the execution
/// of the current client request, the TDS server SHOULD queue the new client request" (MS-TDS, 3.3.5.9); a client that
/// goes on beyond this is given up, because behind what is not read nobody sees whether it is still there.
const QUEUED_BYTES: usize = 1 << 20;

/// A larger buffer is given back when it is empty.
const KEPT_BYTES: usize = 4 * READ_BYTES;

/// A connection with its buffers.
pub(crate) struct Link {
    tcp: TcpStream,
    tls: Option<Box<ServerConnection>>,
    /// TLS ends with the login: records are read one by one, so that no plain byte after them is
    /// swallowed.
    tls_for_login: bool,
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// The negotiated packet size.
    pub(crate) packet_size: usize,
    /// The session number, shown in each packet.
    pub(crate) spid: u16,
}

impl Link {
    pub(crate) fn new(tcp: TcpStream) -> io::Result<Self> {
        tcp.set_nodelay(true)?;
        Ok(Self {
            tcp,
            tls: None,
            tls_for_login: false,
            input: vec![0; READ_BYTES],
            start: 0,
            end: 0,
            packet_size: DEFAULT_PACKET_SIZE,
            spid: 0,
        })
    }

    /// Another handle of the socket, to end the connection from elsewhere.
    pub(crate) fn socket(&self) -> io::Result<TcpStream> {
        self.tcp.try_clone()
    }

    /// How long a read may take; a client that has not logged in must not hold a thread forever.
    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.tcp.set_read_timeout(timeout)
    }

    /// Whether the first byte is that of a TLS handshake, as TDS 8.0 begins.
    pub(crate) fn begins_with_tls(&self) -> io::Result<bool> {
        let mut first = [0];
        Ok(self.tcp.peek(&mut first)? == 1 && first[0] == 0x16)
    }

    /// Reads the next message into `message`.
    pub(crate) fn read_message(
        &mut self,
        message: &mut Vec<u8>,
        limit: usize,
    ) -> Result<MessageHead, LinkError> {
        message.clear();
        let mut head: Option<MessageHead> = None;
        loop {
            self.fill_to(HEADER, head.is_none())?;
            let header = self
                .header()
                .ok_or(LinkError::Protocol("unknown packet header"))?;
            let head = head.get_or_insert(MessageHead {
                kind: header.kind,
                reset: header.status
                    & (status::RESET_CONNECTION | status::RESET_CONNECTION_SKIP_TRAN)
                    != 0,
                keep_transaction: header.status & status::RESET_CONNECTION_SKIP_TRAN != 0,
                ignored: false,
            });
            if head.kind != header.kind {
                return Err(LinkError::Protocol(
                    "a message of packets of different kinds",
                ));
            }
            if message.len() + header.length - HEADER > limit {
                return Err(LinkError::TooLong(limit));
            }
            self.fill_to(header.length, false)?;
            let packet = &self.input[self.start..self.start + header.length];
            message.extend_from_slice(&packet[HEADER..]);
            self.start += header.length;
            if header.status & status::END_OF_MESSAGE != 0 {
                head.ignored = header.status & status::IGNORE != 0;
                return Ok(*head);
            }
        }
    }

    /// Looks for an attention or the end of the connection without waiting. Requests that have come meanwhile stay where
    /// they are, unless an attention follows them: its client reads on to the acknowledgement, and no answer after it.
    pub(crate) fn poll(&mut self) -> Polled {
        if self.tcp.set_nonblocking(true).is_err() {
            return Polled::Closed;
        }
        let polled = self.read_ahead();
        if self.tcp.set_nonblocking(false).is_err() {
            return Polled::Closed;
        }
        polled
    }

    /// Reads what has arrived, up to an attention.
    fn read_ahead(&mut self) -> Polled {
        loop {
            if let Some(end) = self.attention_end() {
                self.start = end;
                return Polled::Attention;
            }
            if self.buffered() >= QUEUED_BYTES {
                return Polled::Closed;
            }
            match self.fill(self.buffered() + READ_BYTES) {
                Ok(0) => return Polled::Closed,
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Polled::Nothing,
                Err(_) => return Polled::Closed,
            }
        }
    }

    /// Where the first attention among the buffered packets ends.
    fn attention_end(&self) -> Option<usize> {
        let mut at = self.start;
        loop {
            // What is no header is told of when it is its turn.
            let header = Header::parse(self.input[at..self.end].first_chunk()?)?;
            at += header.length;
            if at > self.end {
                return None;
            }
            if header.kind == PacketKind::Attention {
                return Some(at);
            }
        }
    }

    /// Sends the rest of a response and ends it.
    pub(crate) fn finish(&mut self, kind: PacketKind, out: &mut Outgoing) -> io::Result<()> {
        let (size, spid) = (self.packet_size, self.spid);
        out.finish(kind, size, spid, |bytes| self.write(bytes))
    }

    /// Sends the full packets of a response that goes on.
    pub(crate) fn drain(&mut self, kind: PacketKind, out: &mut Outgoing) -> io::Result<()> {
        let (size, spid) = (self.packet_size, self.spid);
        out.drain(kind, size, spid, &mut |bytes: &[u8]| self.write(bytes))
    }

    /// Sends all there is of a response that goes on, the last packet short.
    pub(crate) fn flush(&mut self, kind: PacketKind, out: &mut Outgoing) -> io::Result<()> {
        let (size, spid) = (self.packet_size, self.spid);
        out.flush(kind, size, spid, |bytes| self.write(bytes))
    }

    /// Speaks TLS from the first byte on (TDS 8.0).
    pub(crate) fn start_tls(&mut self, config: &Arc<ServerConfig>) -> Result<(), LinkError> {
        let mut tls = ServerConnection::new(Arc::clone(config)).map_err(tls_failed)?;
        handshake(&mut tls, &mut self.tcp)?;
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    /// Does the handshake inside PRELOGIN packets and speaks TLS from then on, or only for the
    /// login.
    pub(crate) fn start_wrapped_tls(
        &mut self,
        config: &Arc<ServerConfig>,
        login_only: bool,
    ) -> Result<(), LinkError> {
        if self.buffered() > 0 {
            return Err(LinkError::Protocol(
                "data between PRELOGIN and the TLS handshake",
            ));
        }
        let mut tls = ServerConnection::new(Arc::clone(config)).map_err(tls_failed)?;
        let mut wrapped = Wrapped {
            tcp: &mut self.tcp,
            unread: 0,
            unsent: Vec::new(),
        };
        handshake(&mut tls, &mut wrapped)?;
        self.tls = Some(Box::new(tls));
        self.tls_for_login = login_only;
        Ok(())
    }

    /// Leaves TLS when it was for the login only.
    pub(crate) fn end_login(&mut self) {
        if self.tls_for_login {
            self.tls = None;
            self.tls_for_login = false;
        }
    }

    fn buffered(&self) -> usize {
        self.end - self.start
    }

    fn header(&self) -> Option<Header> {
        self.input[self.start..self.end]
            .first_chunk()
            .and_then(Header::parse)
    }

    /// Waits until `n` bytes are buffered. The end of the stream is clean only before a message.
    fn fill_to(&mut self, n: usize, between_messages: bool) -> Result<(), LinkError> {
        while self.buffered() < n {
            match self.fill(n) {
                Ok(0) if between_messages && self.buffered() == 0 => return Err(LinkError::Closed),
                Ok(0) => return Err(LinkError::Protocol("the stream ended within a message")),
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    /// Reads once into the buffer, making room for a packet of `n` bytes.
    fn fill(&mut self, n: usize) -> io::Result<usize> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.input.len() > KEPT_BYTES.max(n) {
                self.input = vec![0; READ_BYTES];
            }
        } else if self.start + n > self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.input.len() < n {
            self.input.resize(n, 0);
        }
        let room = &mut self.input[self.end..];
        let read = match &mut self.tls {
            None => self.tcp.read(room)?,
            Some(tls) if self.tls_for_login => match read_login_record(tls, &mut self.tcp, room)? {
                LoginRead::Tls(n) => n,
                LoginRead::Plain(n) => {
                    self.end_login();
                    n
                }
            },
            Some(tls) => read_tls(tls, &mut self.tcp, room)?,
        };
        self.end += read;
        Ok(read)
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            return self.tcp.write_all(bytes);
        };
        while !bytes.is_empty() {
            let taken = tls.writer().write(bytes)?;
            bytes = &bytes[taken..];
            while tls.wants_write() {
                tls.write_tls(&mut self.tcp)?;
            }
        }
        Ok(())
    }
}

fn tls_failed(e: rustls::Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, e)
}

fn handshake(tls: &mut ServerConnection, io: &mut (impl Read + Write)) -> io::Result<()> {
    while tls.is_handshaking() {
        if tls.read_tls(io)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let processed = tls.process_new_packets();
        // Also when it failed: the alert tells the client why.
        while tls.wants_write() {
            tls.write_tls(io)?;
        }
        io.flush()?;
        processed.map_err(tls_failed)?;
    }
    Ok(())
}

/// Reads decrypted bytes, waiting for records as the socket does.
fn read_tls(tls: &mut ServerConnection, tcp: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match tls.reader().read(room) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(0),
            other => return other,
        }
        if tls.read_tls(tcp)? == 0 {
            return Ok(0);
        }
        tls.process_new_packets().map_err(tls_failed)?;
    }
}

enum LoginRead {
    /// Bytes of an encrypted record.
    Tls(usize),
    /// Bytes that came in the clear: the client has left TLS already, as some do after the first
    /// packet of a long login.
    Plain(usize),
}

fn read_login_record(
    tls: &mut ServerConnection,
    tcp: &mut TcpStream,
    room: &mut [u8],
) -> io::Result<LoginRead> {
    loop {
        match tls.reader().read(room) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(LoginRead::Tls(0)),
            other => return other.map(LoginRead::Tls),
        }
        let mut record = vec![0; 5];
        tcp.read_exact(&mut record)?;
        if !(0x14..=0x17).contains(&record[0]) {
            room[..record.len()].copy_from_slice(&record);
            return Ok(LoginRead::Plain(record.len()));
        }
        let length = usize::from(u16::from_be_bytes([record[3], record[4]]));
        record.resize(5 + length, 0);
        tcp.read_exact(&mut record[5..])?;
        let mut record = &record[..];
        while !record.is_empty() {
            tls.read_tls(&mut record)?;
            tls.process_new_packets().map_err(tls_failed)?;
        }
    }
}

/// A socket that wraps what is written, and unwraps what is read, in PRELOGIN packets.
struct Wrapped<'a> {
    tcp: &'a mut TcpStream,
    unread: usize,
    unsent: Vec<u8>,
}

impl Read for Wrapped<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.unread == 0 {
            let mut bytes = [0; HEADER];
            self.tcp.read_exact(&mut bytes)?;
            match Header::parse(&bytes) {
                Some(h) if h.kind == PacketKind::Prelogin => self.unread = h.length - HEADER,
                _ => return Err(io::Error::new(ErrorKind::InvalidData, "no PRELOGIN packet")),
            }
        }
        let wanted = room.len().min(self.unread);
        let read = self.tcp.read(&mut room[..wanted])?;
        self.unread -= read;
        Ok(read)
    }
}

impl Write for Wrapped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unsent.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut wire = Vec::with_capacity(self.unsent.len() + 2 * HEADER);
        let mut chunks = self.unsent.chunks(DEFAULT_PACKET_SIZE - HEADER).peekable();
        let mut id = 1_u8;
        while let Some(chunk) = chunks.next() {
            let last = chunks.peek().is_none();
            let length = HEADER + chunk.len();
            wire.extend_from_slice(&header(PacketKind::Prelogin, last, length, 0, id));
            wire.extend_from_slice(chunk);
            id = id.wrapping_add(1);
        }
        self.unsent.clear();
        self.tcp.write_all(&wire)
    }
}
