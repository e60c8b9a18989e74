//! Random and mutated input: the reader of TDS never panics, never hangs, and closes cleanly.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::login7::{self, Login};
use super::packet::{PacketKind, header};
use super::prelogin::Prelogin;
use super::request::{batch_text, transaction};
use super::rpc::{self, RpcCalls};
use super::test_backend::{Echo, PASSWORD};
use super::version::Version;
use super::wire_tests::{Raw, eventually, listen};
use crate::tls::Encryption;
use crate::value::{Collation, DataType, Length, Value};

/// A small generator with a fixed seed, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn bytes(&mut self, longest: usize) -> Vec<u8> {
        (0..self.below(longest))
            .map(|_| self.next() as u8)
            .collect()
    }

    /// A good message with a few things wrong: bytes changed, lengths made extreme, parts cut out,
    /// doubled or replaced.
    fn mutated(&mut self, good: &[u8]) -> Vec<u8> {
        let mut bytes = good.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes.splice(at..at, self.bytes(9)).for_each(drop),
                2 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][self.below(6)],
                3 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                4 => {
                    let end = bytes.len().min(at + self.below(9));
                    bytes.drain(at..end);
                }
                _ => {
                    let end = bytes.len().min(at + 4);
                    bytes[at..end].fill(0xFF);
                }
            }
        }
        bytes
    }
}

/// Messages that are right, to be made wrong.
fn good_messages() -> Vec<(PacketKind, Vec<u8>)> {
    let ci = Collation::SqlLatin1CiAs;
    let params = [
        ("@a", 1, DataType::Int, Value::Int(1)),
        (
            "@b",
            0,
            DataType::NVarChar(Length::Max, ci),
            Value::text("long"),
        ),
        (
            "@c",
            0,
            DataType::NVarChar(Length::Limited(10), ci),
            Value::text("short"),
        ),
        (
            "@d",
            0,
            DataType::decimal(20, 3),
            Value::Decimal { units: 5, scale: 3 },
        ),
        (
            "@e",
            0,
            DataType::DateTime2(7),
            Value::DateTime { days: 1, ticks: 2 },
        ),
        ("@f", 0, DataType::VarBinary(Length::Max), Value::Null),
        ("@g", 0, DataType::UniqueIdentifier, Value::Guid([9; 16])),
    ];
    let call = rpc::tests::call("dbo.p", &params);
    let headers = &rpc::tests::NO_HEADERS[..];
    vec![
        (
            PacketKind::Prelogin,
            vec![0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 255, 0, 0, 0, 0, 0, 0, 2],
        ),
        (
            PacketKind::Login,
            login7::tests::message(0x7400_0004, "sa", PASSWORD, 512),
        ),
        (PacketKind::Batch, [headers, b"e\0c\0h\0o\0 \0x\0"].concat()),
        (PacketKind::Rpc, [headers, &call, &[0xFF], &call].concat()),
        (
            PacketKind::Transaction,
            [headers, &[7, 0, 2, b'x', 0, 1, 2, 0]].concat(),
        ),
    ]
}

/// Reads bytes as each kind of message; whatever comes out, it comes back.
fn read_all_ways(bytes: &[u8]) {
    let _ = Prelogin::parse(bytes);
    let _ = Login::parse(bytes);
    for version in [Version::V71, Version::V74] {
        let _ = batch_text(bytes, version);
        let _ = transaction(bytes, version);
        if let Ok(mut calls) = RpcCalls::new(bytes, version) {
            while let Ok(Some(_)) = calls.next() {}
        }
    }
}

/// No message, however wrong, makes a reader panic or loop.
#[test]
fn readers_survive_any_message() {
    let mut random = Random(0x5EED);
    let good = good_messages();
    for _ in 0..20_000 {
        read_all_ways(&random.bytes(200));
        let (_, message) = &good[random.below(good.len())];
        read_all_ways(&random.mutated(message));
    }
}

/// Sends a stream and reads until the server closes; panics when it does not.
fn send_and_drain(mut tcp: TcpStream, stream: &[u8]) {
    tcp.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may close before it has read everything.
    let _ = tcp.write_all(stream);
    let _ = tcp.shutdown(Shutdown::Write);
    let mut sink = [0; 4096];
    loop {
        match tcp.read(&mut sink) {
            Ok(0) => return,
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::ConnectionReset => return,
            Err(e) => panic!("the server neither answers nor closes: {e}"),
        }
    }
}

fn packet(random: &mut Random, kind: PacketKind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header(kind, true, payload.len() + 8, 0, 1).to_vec();
    bytes.extend_from_slice(payload);
    if random.below(4) == 0 {
        random.mutated(&bytes)
    } else {
        bytes
    }
}

/// A whole server under random streams, before and after login: every connection is closed, no
/// session is left behind, and a good client is still served.
#[test]
fn server_survives_any_stream() {
    let echo = Echo::default();
    let listener = listen(&echo, Encryption::Offered);
    let mut random = Random(0xF00D);
    let good = good_messages();
    for round in 0..400 {
        let mut stream = Vec::new();
        for _ in 0..=random.below(4) {
            let (kind, message) = &good[random.below(good.len())];
            let message = random.mutated(message);
            stream.extend(packet(&mut random, *kind, &message));
        }
        if random.below(8) == 0 {
            stream = random.bytes(300);
        }
        let tcp = match round % 2 {
            0 => TcpStream::connect(listener.address()).unwrap(),
            _ => Raw::log_in(&listener).tcp,
        };
        send_and_drain(tcp, &stream);
    }
    eventually("all sessions end", || echo.open.load(Ordering::SeqCst) == 0);
    let mut raw = Raw::log_in(&listener);
    raw.batch(1, "nothing");
    assert_eq!(raw.answer()[0], 0xFD);
}

/// A message that never ends is cut off at the limit, long before memory is.
#[test]
fn endless_logins_are_cut_off() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut tcp = TcpStream::connect(listener.address()).unwrap();
    let mut endless = header(PacketKind::Login, false, 32_000, 0, 1).to_vec();
    endless.resize(32_000, 0);
    let closed = (0..1000).any(|_| tcp.write_all(&endless).is_err());
    assert!(closed, "the server stops reading");
}
