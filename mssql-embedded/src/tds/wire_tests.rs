//! The wire end to end, against tiberius and against bytes written by hand.

use std::io::{Read, Write};
use std::net::TcpStream as StdStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tiberius::{AuthMethod, Client, Command, Config, EncryptionLevel, IntoSql};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use super::login7;
use super::packet::{PacketKind, header};
use super::rpc;
use super::test_backend::{Echo, PASSWORD};
use super::{Listener, Settings};
use crate::tls::{Encryption, TlsConfigs};
use crate::value::{DataType, Value};

/// A listener in front of the stand-in engine.
pub(crate) fn listen(echo: &Echo, encryption: Encryption) -> Listener {
    let settings = Settings {
        encryption,
        tls: TlsConfigs::generate(&crate::tls::local_names()).unwrap(),
    };
    Listener::start("127.0.0.1:0".parse().unwrap(), echo.clone(), settings).unwrap()
}

/// Waits until a condition holds; fails when it takes absurdly long.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

async fn connect(
    listener: &Listener,
    change: impl FnOnce(&mut Config),
) -> tiberius::Result<Client<Compat<TcpStream>>> {
    let mut config = Config::new();
    config.host("localhost");
    config.port(listener.address().port());
    config.authentication(AuthMethod::sql_server("sa", PASSWORD));
    config.encryption(EncryptionLevel::NotSupported);
    config.trust_cert();
    change(&mut config);
    let tcp = TcpStream::connect(listener.address()).await.unwrap();
    Client::connect(config, tcp.compat_write()).await
}

async fn echo(client: &mut Client<Compat<TcpStream>>, text: &str) -> String {
    let rows = client.simple_query(format!("echo {text}")).await.unwrap();
    let row = rows.into_row().await.unwrap().unwrap();
    row.get::<&str, _>("text").unwrap().to_owned()
}

/// Every kind of encryption a client can ask for works, under each policy that allows it.
#[tokio::test]
async fn clients_connect_with_every_encryption_level() {
    use EncryptionLevel as Level;
    let echo_engine = Echo::default();
    for (policy, level, welcome) in [
        (Encryption::Off, Level::NotSupported, true),
        (Encryption::Off, Level::On, false),
        (Encryption::Offered, Level::NotSupported, true),
        (Encryption::Offered, Level::Off, true),
        (Encryption::Offered, Level::On, true),
        (Encryption::Offered, Level::Required, true),
        (Encryption::Offered, Level::Strict, true),
        (Encryption::Required, Level::On, true),
        (Encryption::Required, Level::Off, true),
        (Encryption::Required, Level::NotSupported, false),
    ] {
        let listener = listen(&echo_engine, policy);
        let client = connect(&listener, |config| config.encryption(level)).await;
        assert_eq!(
            client.is_ok(),
            welcome,
            "{policy:?} {level:?}: {:?}",
            client.err()
        );
        if let Ok(mut client) = client {
            let text = "é😀".repeat(20_000);
            assert_eq!(echo(&mut client, &text).await, text, "{policy:?} {level:?}");
        }
    }
}

/// A wrong password is 18456, and the client hears it whether the login was encrypted or not.
#[tokio::test]
async fn wrong_password_is_18456() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    for level in [
        EncryptionLevel::NotSupported,
        EncryptionLevel::Off,
        EncryptionLevel::On,
    ] {
        let refused = connect(&listener, |config| {
            config.encryption(level);
            config.authentication(AuthMethod::sql_server("sa", "wrong"));
        });
        assert_eq!(refused.await.err().unwrap().code(), Some(18456));
    }
}

/// Values of many megabytes pass in both directions, at any packet size.
#[tokio::test]
async fn large_values_round_trip_at_any_packet_size() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let text = "x😀".repeat(1_000_000);
    for size in [512, 4096, 32767] {
        let mut client = connect(&listener, |config| config.packet_size(size))
            .await
            .unwrap();
        let mut call = Command::new("echo");
        call.bind_param("@p", text.as_str());
        let results = call.exec(&mut client).await.unwrap();
        let results = results.into_command_result().await.unwrap();
        let rows = results.to_query_result(0).unwrap();
        assert_eq!(rows[0].get::<&str, _>(0), Some(text.as_str()));
    }
}

/// Result sets that exceed every buffer are streamed.
#[tokio::test]
async fn many_rows_arrive_in_order() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut client = connect(&listener, |_| {}).await.unwrap();
    let rows = client.simple_query("rows 100000").await.unwrap();
    let rows = rows.into_first_result().await.unwrap();
    assert_eq!(rows.len(), 100_000);
    assert!(
        rows.iter()
            .enumerate()
            .all(|(at, row)| row.get::<i64, _>(0) == Some(at as i64))
    );
}

/// Errors carry number, text and line, and the connection goes on.
#[tokio::test]
async fn errors_leave_the_connection_usable() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut client = connect(&listener, |_| {}).await.unwrap();
    let failed = async {
        client
            .simple_query("fail on purpose")
            .await?
            .into_results()
            .await
    };
    let tiberius::error::Error::Server(token) = failed.await.unwrap_err() else {
        panic!()
    };
    assert_eq!(
        (token.code(), token.message(), token.line()),
        (50_000, "on purpose", 3)
    );
    assert_eq!(echo(&mut client, "still here").await, "still here");
    let lied = async { client.simple_query("lie").await?.into_results().await };
    assert!(
        lied.await
            .unwrap_err()
            .to_string()
            .contains("internal error")
    );
}

/// Output parameters and the return status of a call arrive.
#[tokio::test]
async fn calls_return_status_and_output_parameters() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut client = connect(&listener, |_| {}).await.unwrap();
    let mut call = Command::new("dbo.p");
    call.bind_out_param("@n", 42_i32);
    call.bind_param("@null", Option::<i64>::None.into_sql());
    let result = call
        .exec(&mut client)
        .await
        .unwrap()
        .into_command_result()
        .await
        .unwrap();
    assert_eq!(result.return_code(), 7);
    assert_eq!(result.try_return_value::<i32>("@n").unwrap(), Some(42));
}

/// Transactions through the transaction manager are announced.
#[tokio::test]
async fn transaction_manager_requests_are_answered() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut client = connect(&listener, |_| {}).await.unwrap();
    client.begin_transaction().await.unwrap();
    client.commit_transaction().await.unwrap();
    assert_eq!(echo(&mut client, "after").await, "after");
}

/// An attention ends a running request, encrypted or not, and the connection goes on.
#[tokio::test]
async fn attention_stops_a_running_request() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    for level in [EncryptionLevel::NotSupported, EncryptionLevel::On] {
        let mut client = connect(&listener, |config| config.encryption(level))
            .await
            .unwrap();
        let waiting = client.simple_query("wait");
        let timed_out = tokio::time::timeout(Duration::from_millis(20), waiting)
            .await
            .is_err();
        assert!(timed_out, "the request runs until it is stopped");
        client.cancel_query().await.unwrap();
        assert_eq!(echo(&mut client, "goes on").await, "goes on");
    }
}

/// A client that hangs up in the middle of a request ends its session.
#[tokio::test]
async fn hanging_up_ends_the_session() {
    let engine = Echo::default();
    let listener = listen(&engine, Encryption::Offered);
    let mut client = connect(&listener, |_| {}).await.unwrap();
    let waiting = client.simple_query("wait");
    let _ = tokio::time::timeout(Duration::from_millis(20), waiting).await;
    assert_eq!(engine.open.load(Ordering::SeqCst), 1);
    drop(client);
    eventually("the session ends", || {
        engine.open.load(Ordering::SeqCst) == 0
    });
}

/// A cut connection delivers nothing of the answer it had ready.
#[tokio::test]
async fn cut_connections_deliver_nothing() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut client = connect(&listener, |_| {}).await.unwrap();
    let cut = async { client.simple_query("cut").await?.into_results().await };
    assert!(matches!(cut.await, Err(tiberius::error::Error::Io { .. })));
}

/// Stopping ends idle and running connections and waits for their sessions.
#[tokio::test]
async fn stopping_ends_every_session() {
    let engine = Echo::default();
    let mut listener = listen(&engine, Encryption::Offered);
    let _idle = connect(&listener, |_| {}).await.unwrap();
    let mut busy = connect(&listener, |_| {}).await.unwrap();
    let waiting = busy.simple_query("wait");
    let _ = tokio::time::timeout(Duration::from_millis(20), waiting).await;
    assert_eq!(engine.open.load(Ordering::SeqCst), 2);
    listener.stop();
    assert_eq!(engine.open.load(Ordering::SeqCst), 0);
    assert!(StdStream::connect(listener.address()).is_err());
}

/// A client that writes packets by hand.
pub(crate) struct Raw {
    pub(crate) tcp: StdStream,
}

impl Raw {
    /// Connects and logs in without PRELOGIN, which asks for no encryption.
    pub(crate) fn log_in(listener: &Listener) -> Self {
        let tcp = StdStream::connect(listener.address()).unwrap();
        tcp.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut raw = Self { tcp };
        raw.send(
            PacketKind::Login,
            1,
            &login7::tests::message(0x7400_0004, "sa", PASSWORD, 0),
        );
        let answer = raw.answer();
        assert!(answer.contains(&0xAD), "LOGINACK");
        raw
    }

    /// Sends one packet with these status bits.
    pub(crate) fn send(&mut self, kind: PacketKind, status: u8, payload: &[u8]) {
        let mut packet = header(kind, true, payload.len() + 8, 0, 1).to_vec();
        packet[1] = status;
        packet.extend_from_slice(payload);
        self.tcp.write_all(&packet).unwrap();
    }

    pub(crate) fn batch(&mut self, status: u8, text: &str) {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        let message: Vec<u8> = rpc::tests::NO_HEADERS.into_iter().chain(units).collect();
        self.send(PacketKind::Batch, status, &message);
    }

    /// Reads one whole message and returns its tokens.
    pub(crate) fn answer(&mut self) -> Vec<u8> {
        let mut tokens = Vec::new();
        loop {
            let mut head = [0; 8];
            self.tcp.read_exact(&mut head).unwrap();
            assert_eq!(head[0], PacketKind::Response as u8);
            let length = usize::from(u16::from_be_bytes([head[2], head[3]])) - 8;
            let start = tokens.len();
            tokens.resize(start + length, 0);
            self.tcp.read_exact(&mut tokens[start..]).unwrap();
            if head[1] & 1 != 0 {
                return tokens;
            }
        }
    }
}

const DONE_ATTENTION: [u8; 13] = [0xFD, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Every attention is acknowledged once, also one that comes too late.
#[test]
fn late_attention_is_acknowledged_alone() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut raw = Raw::log_in(&listener);
    raw.batch(1, "nothing");
    assert_eq!(raw.answer()[..3], [0xFD, 0, 0]);
    raw.send(PacketKind::Attention, 1, &[]);
    assert_eq!(raw.answer(), DONE_ATTENTION);
    raw.batch(1, "wait");
    raw.send(PacketKind::Attention, 1, &[]);
    assert_eq!(raw.answer(), DONE_ATTENTION);
}

/// A message the client gives up while sending is answered by one DONE and not run.
#[test]
fn ignored_messages_are_not_run() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut raw = Raw::log_in(&listener);
    raw.batch(0, "echo ");
    raw.send(PacketKind::Batch, 3, b"x\0");
    assert_eq!(raw.answer(), [0xFD, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// A reset is acknowledged before the request's own results.
#[test]
fn reset_is_acknowledged_first() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut raw = Raw::log_in(&listener);
    raw.batch(0x09, "nothing");
    assert_eq!(raw.answer()[..6], [0xE3, 3, 0, 18, 0, 0]);
}

/// Several calls in one message are one response, whose only last DONE says so.
#[test]
fn several_calls_are_one_response() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut raw = Raw::log_in(&listener);
    let call = rpc::tests::call("p", &[("@a", 0, DataType::Int, Value::Int(1))]);
    let message = [&rpc::tests::NO_HEADERS[..], &call, &[0xFF], &call].concat();
    raw.send(PacketKind::Rpc, 1, &message);
    let answer = raw.answer();
    let ends: Vec<u8> = answer
        .windows(5)
        .filter(|w| w[0] == 0xFE && w[2..] == [0, 0xE0, 0])
        .map(|w| w[1])
        .collect();
    assert_eq!(ends, [1, 0]);
}

/// What is no TDS after the login is answered by an error, then the connection is closed.
#[test]
fn garbage_after_login_closes_with_an_error() {
    let listener = listen(&Echo::default(), Encryption::Offered);
    let mut raw = Raw::log_in(&listener);
    raw.tcp.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(raw.answer()[0], 0xAA);
    assert_eq!(raw.tcp.read(&mut [0]).unwrap(), 0);
}
