//! A client that writes its packets by hand, for what no driver lets one see.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mssql_embedded::Server;

const BATCH: u8 = 0x01;
const ATTENTION: u8 = 0x06;
const LOGIN7: u8 = 0x10;
const PRELOGIN: u8 = 0x12;

/// Status bits of a packet.
pub const END: u8 = 0x01;
pub const RESET: u8 = 0x08;
pub const RESET_KEEP_TRANSACTION: u8 = 0x10;

/// The status bits of DONE that acknowledge an attention.
const DONE_ATTENTION: u8 = 0x20;

/// A connection without TLS.
pub struct Raw {
    stream: TcpStream,
}

/// One packet of an answer.
pub struct Packet {
    pub last: bool,
    pub body: Vec<u8>,
}

impl Raw {
    /// Logs in as sa.
    pub fn open(server: &Server) -> Self {
        Self::open_with(&server.connection_string())
    }

    /// Logs in with the address, the password and the database of a connection string.
    pub fn open_with(settings: &str) -> Self {
        let setting = |name: &str| {
            let found = settings.split(';').find_map(|s| s.strip_prefix(name));
            found.unwrap_or_else(|| panic!("{name} in {settings}"))
        };
        let address = setting("server=tcp:").replace(',', ":");
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut raw = Self { stream };
        let no_encryption = [0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 15, 0, 0, 0, 0, 0, 2];
        raw.send(PRELOGIN, END, &no_encryption);
        raw.answer();
        raw.send(
            LOGIN7,
            END,
            &login(setting("password="), setting("database=")),
        );
        raw.answer();
        raw
    }

    fn send(&mut self, kind: u8, status: u8, body: &[u8]) {
        let length = u16::try_from(body.len() + 8).unwrap().to_be_bytes();
        let mut packet = vec![kind, status, length[0], length[1], 0, 0, 1, 0];
        packet.extend_from_slice(body);
        self.stream.write_all(&packet).unwrap();
    }

    /// Sends a batch without waiting for its answer.
    pub fn start(&mut self, text: &str, status: u8) {
        let mut body = vec![
            22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
        ];
        body.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        self.send(BATCH, status, &body);
    }

    /// Sends a batch and returns its answer.
    pub fn batch(&mut self, text: &str) -> Vec<u8> {
        self.start(text, END);
        self.answer()
    }

    /// Interrupts the running request.
    pub fn attention(&mut self) {
        self.send(ATTENTION, END, &[]);
    }

    /// The next packet.
    pub fn packet(&mut self) -> Packet {
        let mut header = [0; 8];
        self.stream.read_exact(&mut header).unwrap();
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let mut body = vec![0; length - 8];
        self.stream.read_exact(&mut body).unwrap();
        Packet {
            last: header[1] & END != 0,
            body,
        }
    }

    /// The tokens of a whole answer.
    pub fn answer(&mut self) -> Vec<u8> {
        let mut tokens = Vec::new();
        loop {
            let packet = self.packet();
            tokens.extend(packet.body);
            if packet.last {
                return tokens;
            }
        }
    }

    /// The one INT that a query returns.
    pub fn int(&mut self, query: &str) -> i32 {
        int_of(&self.batch(query))
    }
}

/// The INT of an answer with one row of one column: it stands right before the DONE.
pub fn int_of(tokens: &[u8]) -> i32 {
    let row = &tokens[tokens.len() - 13 - 6..tokens.len() - 13];
    assert_eq!(row[..2], [0xD1, 4], "a row with one INT");
    i32::from_le_bytes(row[2..].try_into().unwrap())
}

/// Whether an answer ends with the acknowledgement of an attention.
pub fn is_acknowledged(tokens: &[u8]) -> bool {
    let done = &tokens[tokens.len() - 13..];
    done[0] == 0xFD && done[1] & DONE_ATTENTION != 0
}

fn login(password: &str, database: &str) -> Vec<u8> {
    let plain =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let scrambled = plain(password)
        .iter()
        .map(|b| b.rotate_left(4) ^ 0xA5)
        .collect();
    let empty = Vec::new;
    let fields: [Vec<u8>; 9] = [
        plain("host"),
        plain("sa"),
        scrambled,
        plain("raw"),
        empty(),
        empty(),
        empty(),
        empty(),
        plain(database),
    ];
    let mut message = vec![0; 4];
    for number in [0x7400_0004_u32, 4096, 7, 0, 0] {
        message.extend_from_slice(&number.to_le_bytes());
    }
    message.extend_from_slice(&[0xE0, 0x03, 0, 0]);
    message.extend_from_slice(&[0; 8]);
    let mut offset = 94_u16;
    for field in &fields {
        message.extend_from_slice(&offset.to_le_bytes());
        let units = u16::try_from(field.len() / 2).unwrap();
        message.extend_from_slice(&units.to_le_bytes());
        offset += 2 * units;
    }
    message.resize(94, 0);
    fields
        .iter()
        .for_each(|field| message.extend_from_slice(field));
    let length = u32::try_from(message.len()).unwrap();
    message[..4].copy_from_slice(&length.to_le_bytes());
    message
}
