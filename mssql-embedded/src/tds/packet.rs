//! Packets: the eight-byte header, and cutting a response into them.

/// The length of a packet header.
pub(crate) const HEADER: usize = 8;
/// The packet size before and unless the client asks for another.
pub(crate) const DEFAULT_PACKET_SIZE: usize = 4096;

/// The bits of a header's status byte.
pub(crate) mod status {
    /// The last packet of its message.
    pub(crate) const END_OF_MESSAGE: u8 = 0x01;
    /// The client gives up the message it was sending.
    pub(crate) const IGNORE: u8 = 0x02;
    /// Reset the session before the request.
    pub(crate) const RESET_CONNECTION: u8 = 0x08;
    /// Reset the session before the request, but keep its transaction.
    pub(crate) const RESET_CONNECTION_SKIP_TRAN: u8 = 0x10;
}

/// What a message is, by the first byte of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    Batch = 0x01,
    /// A login of TDS 4.2 to 6.x, recognised only to be refused.
    OldLogin = 0x02,
    /// Remote procedure calls.
    Rpc = 0x03,
    /// The server's answer.
    Response = 0x04,
    /// The client cancels the running request.
    Attention = 0x06,
    /// The rows of INSERT BULK.
    BulkLoad = 0x07,
    /// A federated authentication token.
    FederatedToken = 0x08,
    /// A transaction-manager request.
    Transaction = 0x0E,
    /// LOGIN7.
    Login = 0x10,
    /// SSPI data.
    Sspi = 0x11,
    /// PRELOGIN, and the TLS handshake wrapped in it.
    Prelogin = 0x12,
}

impl PacketKind {
    /// The kind a byte stands for.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 => Self::Batch,
            0x02 => Self::OldLogin,
            0x03 => Self::Rpc,
            0x04 => Self::Response,
            0x06 => Self::Attention,
            0x07 => Self::BulkLoad,
            0x08 => Self::FederatedToken,
            0x0E => Self::Transaction,
            0x10 => Self::Login,
            0x11 => Self::Sspi,
            0x12 => Self::Prelogin,
            _ => return None,
        })
    }
}

/// A packet header, as far as a server cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: PacketKind,
    pub(crate) status: u8,
    /// The packet's length with its header, at least [`HEADER`].
    pub(crate) length: usize,
}

impl Header {
    /// Reads a header; `None` when it is none of TDS.
    pub(crate) fn parse(bytes: &[u8; HEADER]) -> Option<Self> {
        let length = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
        let kind = PacketKind::from_byte(bytes[0])?;
        (length >= HEADER).then_some(Self {
            kind,
            status: bytes[1],
            length,
        })
    }
}

/// The header of a packet that the server sends.
pub(crate) fn header(kind: PacketKind, last: bool, length: usize, spid: u16, id: u8) -> [u8; 8] {
    debug_assert!((HEADER..=usize::from(u16::MAX)).contains(&length));
    let [high, low] = (length as u16).to_be_bytes();
    let [spid_high, spid_low] = spid.to_be_bytes();
    let status = if last { status::END_OF_MESSAGE } else { 0 };
    [kind as u8, status, high, low, spid_high, spid_low, id, 0]
}

/// The packet size the server grants: the client's wish within the limits of the protocol.
pub(crate) fn granted_size(wish: u32) -> usize {
    match wish {
        0 => DEFAULT_PACKET_SIZE,
        _ => wish.clamp(512, 32767) as usize,
    }
}

/// A response under construction: its tokens, preceded by room for the first packet's header so
/// that a response of one packet is sent without being copied.
pub(crate) struct Outgoing {
    buffer: Vec<u8>,
    next_id: u8,
}

/// Above this, a buffer's memory is given back after the response.
const KEEP_CAPACITY: usize = 1 << 20;

impl Outgoing {
    pub(crate) fn new() -> Self {
        Self {
            buffer: vec![0; HEADER],
            next_id: 1,
        }
    }

    /// Where tokens are appended.
    pub(crate) fn tokens(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// How many bytes of tokens wait to be sent.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len() - HEADER
    }

    /// Forgets what was not sent.
    pub(crate) fn clear(&mut self) {
        self.buffer.truncate(HEADER);
        self.buffer.shrink_to(KEEP_CAPACITY);
        self.next_id = 1;
    }

    fn take_id(&mut self) -> u8 {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        id
    }

    /// Hands the whole rest to `send` as packets, the last one marked as the end, and starts over.
    pub(crate) fn finish<E>(
        &mut self,
        kind: PacketKind,
        size: usize,
        spid: u16,
        mut send: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.drain(kind, size, spid, &mut send)?;
        let id = self.take_id();
        let head = header(kind, true, self.buffer.len(), spid, id);
        self.buffer[..HEADER].copy_from_slice(&head);
        let sent = send(&self.buffer);
        self.clear();
        sent
    }

    /// Hands all there is to `send`, as packets of a response that goes on.
    pub(crate) fn flush<E>(
        &mut self,
        kind: PacketKind,
        size: usize,
        spid: u16,
        mut send: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.drain(kind, size, spid, &mut send)?;
        if self.len() == 0 {
            return Ok(());
        }
        let id = self.take_id();
        let head = header(kind, false, self.buffer.len(), spid, id);
        self.buffer[..HEADER].copy_from_slice(&head);
        let sent = send(&self.buffer);
        self.buffer.truncate(HEADER);
        sent
    }

    /// Hands every packet that is surely not the last one to `send`, several at a time.
    pub(crate) fn drain<E>(
        &mut self,
        kind: PacketKind,
        size: usize,
        spid: u16,
        send: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let room = size - HEADER;
        if self.len() <= room {
            return Ok(());
        }
        let packets = (self.len() - 1) / room;
        let mut wire = Vec::with_capacity(WRITE_BYTES.min(packets * size) + size);
        for packet in 0..packets {
            let id = self.take_id();
            let at = HEADER + packet * room;
            wire.extend_from_slice(&header(kind, false, size, spid, id));
            wire.extend_from_slice(&self.buffer[at..at + room]);
            if wire.len() >= WRITE_BYTES {
                send(&wire)?;
                wire.clear();
            }
        }
        if !wire.is_empty() {
            send(&wire)?;
        }
        self.buffer.drain(HEADER..HEADER + packets * room);
        Ok(())
    }
}

/// How much is handed to the socket in one call.
const WRITE_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts a payload the way a response is cut and joins it again the way a client does.
    fn cut_and_join(payload: &[u8], size: usize, early: bool) -> (Vec<u8>, usize) {
        let mut wire = Vec::new();
        let mut out = Outgoing::new();
        let mut send = |bytes: &[u8]| -> Result<(), ()> {
            wire.extend_from_slice(bytes);
            Ok(())
        };
        for part in payload.chunks(1000) {
            out.tokens().extend_from_slice(part);
            if early {
                out.drain(PacketKind::Response, size, 7, &mut send).unwrap();
            }
        }
        out.finish(PacketKind::Response, size, 7, &mut send)
            .unwrap();
        let (mut joined, mut packets, mut at) = (Vec::new(), 0, 0);
        while at < wire.len() {
            let head = Header::parse(wire[at..at + 8].try_into().unwrap()).unwrap();
            assert_eq!(wire[at + 6], (packets + 1) as u8, "packet ids count up");
            let last = head.status & status::END_OF_MESSAGE != 0;
            joined.extend_from_slice(&wire[at + 8..at + head.length]);
            at += head.length;
            packets += 1;
            assert_eq!(
                last,
                at == wire.len(),
                "only the last packet ends the message"
            );
            assert!(
                last || head.length == size,
                "all but the last packet are full"
            );
        }
        (joined, packets)
    }

    /// A response survives any packet size, sent at once or in parts, and never ends in an
    /// empty packet.
    #[test]
    fn responses_are_cut_into_full_packets() {
        for size in [512, 4096, 32767] {
            for length in [0, 1, size - 8, size - 7, 3 * (size - 8), 100_000] {
                let payload: Vec<u8> = (0..length).map(|i| i as u8).collect();
                for early in [false, true] {
                    let (joined, packets) = cut_and_join(&payload, size, early);
                    assert_eq!(joined, payload);
                    assert_eq!(packets, length.div_ceil(size - 8).max(1));
                }
            }
        }
    }

    /// Lengths below a header and unknown kinds are no packets.
    #[test]
    fn headers_of_other_protocols_are_refused() {
        assert_eq!(Header::parse(b"GET / HT"), None);
        assert_eq!(Header::parse(&[1, 1, 0, 7, 0, 0, 0, 0]), None);
        assert!(Header::parse(&[1, 1, 0, 8, 0, 0, 0, 0]).is_some());
    }

    /// The client's wish is granted within 512 to 32767.
    #[test]
    fn packet_size_is_the_clients_within_limits() {
        for (wish, granted) in [(0, 4096), (1, 512), (8000, 8000), (65536, 32767)] {
            assert_eq!(granted_size(wish), granted);
        }
    }
}
