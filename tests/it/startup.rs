//! The start of a provider: it outlasts what passes, and is over when its time is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use duroxide_sql::MssqlProvider;
use mssql_embedded::{Encryption, Server, SqlError, Trigger};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::database::{TestSchema, own_server};
use crate::support::items::create;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const PACKET_BATCH: u8 = 0x01;

/// What a server does that is about to fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ailment {
    /// It swallows what it gets and never hangs up, as a network does that has lost the way.
    Silent,
    /// Its answers are swallowed; it notices when the client is gone.
    Mute,
    /// It hangs up.
    Gone,
}

/// A proxy whose first connections fail after so many batches.
struct Ailing {
    url: String,
    accepted: Arc<AtomicUsize>,
}

impl Ailing {
    async fn start(server: &Server, connections: usize, batches: usize, ailment: Ailment) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (upstream, accepted) = (server.address(), Arc::new(AtomicUsize::new(0)));
        let counter = accepted.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let is_healthy = counter.fetch_add(1, Ordering::SeqCst) >= connections;
                let batches = if is_healthy { usize::MAX } else { batches };
                let server = TcpStream::connect(upstream).await.unwrap();
                tokio::spawn(forward(client, server, batches, ailment));
            }
        });
        Self {
            url: server
                .connection_string()
                .replace(&format!(",{};", server.port()), &format!(",{port};")),
            accepted,
        }
    }
}

/// Passes packets on until the batch that is one too many.
async fn forward(client: TcpStream, server: TcpStream, batches: usize, ailment: Ailment) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let replies = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
        to_client
    });
    let mut left = batches;
    loop {
        let mut header = [0_u8; 8];
        if from_client.read_exact(&mut header).await.is_err() {
            return;
        }
        let mut body = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]])) - 8];
        from_client.read_exact(&mut body).await.unwrap();
        if header[0] == PACKET_BATCH && left == 0 {
            match ailment {
                Ailment::Gone => return replies.abort(),
                Ailment::Silent => std::future::pending().await,
                Ailment::Mute => {
                    replies.abort();
                    let kept = replies.await;
                    let _ = to_server.write_all(&header).await;
                    let _ = to_server.write_all(&body).await;
                    while from_client.read(&mut [0; 1024]).await.is_ok_and(|n| n > 0) {}
                    return drop(kept);
                }
            }
        }
        let is_last = header[1] & 1 != 0;
        left -= usize::from(header[0] == PACKET_BATCH && is_last && left != usize::MAX);
        to_server.write_all(&header).await.unwrap();
        to_server.write_all(&body).await.unwrap();
    }
}

fn plain_server() -> Server {
    let server = Server::builder().encryption(Encryption::Off).start();
    server.expect("the embedded server starts")
}

/// A connection that fails at any batch of the installation is replaced, and the work is done
/// again from the beginning.
#[tokio::test]
async fn connection_that_fails_while_the_schema_is_prepared_is_replaced() {
    for ailment in [Ailment::Mute, Ailment::Gone] {
        for batches in [0, 1, 2, 9] {
            let server = plain_server();
            let ailing = Ailing::start(&server, 1, batches, ailment).await;
            let schema = TestSchema::at(server.connection_string());
            let provider = MssqlProvider::builder(&ailing.url)
                .schema(schema.name().as_str())
                .command_timeout(3 * SECOND)
                .startup_timeout(2 * MINUTE)
                .pool_min_idle(0)
                .build()
                .await
                .unwrap_or_else(|error| panic!("after {batches} batches: {error}"));
            create(&provider, "order").await;
            assert!(ailing.accepted.load(Ordering::SeqCst) >= 2);
        }
    }
}

/// With every connection silent the start ends with its time, whatever it was doing.
#[tokio::test]
async fn silent_connections_do_not_hold_the_start_beyond_its_time() {
    for batches in [0, 1, 5] {
        let server = plain_server();
        let ailing = Ailing::start(&server, usize::MAX, batches, Ailment::Silent).await;
        let begun = Instant::now();
        let started = MssqlProvider::builder(&ailing.url)
            .startup_timeout(2 * SECOND)
            .build()
            .await;
        let error = started.expect_err("nobody answers").to_string();
        assert!(begun.elapsed() < 20 * SECOND, "{:?}", begun.elapsed());
        assert!(
            error.contains("timeout") || error.contains("another process"),
            "{error}"
        );
    }
}

/// A process that went silent in the middle of its installation does not hold up another beyond
/// that one's time, and nothing is half done.
#[tokio::test]
async fn silent_installer_does_not_hold_another_beyond_its_time() {
    let server = plain_server();
    let ailing = Ailing::start(&server, 1, 5, Ailment::Silent).await;
    let schema = TestSchema::at(server.connection_string());
    let silent = MssqlProvider::builder(&ailing.url)
        .schema(schema.name().as_str())
        .startup_timeout(MINUTE);
    let silent = tokio::spawn(silent.build());
    let is_locked = async || {
        let count = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION'";
        schema.number(count).await > 0
    };
    while !is_locked().await {
        tokio::task::yield_now().await;
    }
    let begun = Instant::now();
    let other = schema.builder().startup_timeout(2 * SECOND).build().await;
    assert!(begun.elapsed() < 20 * SECOND, "{:?}", begun.elapsed());
    assert_eq!(
        other.expect_err("the lock is held").to_string(),
        format!(
            "another process is installing schema {} and did not finish within startup_timeout",
            schema.name().quoted()
        )
    );
    silent.abort();
    for session in server.controls().sessions() {
        server.controls().kill(session);
    }
    create(&schema.provider().await, "order").await;
}

/// A server that is not there yet is waited for.
#[tokio::test]
async fn server_that_comes_up_late_is_waited_for() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .unwrap()
        .port();
    let url = format!(
        "server=tcp:127.0.0.1,{port};user id=sa;password=Str0ng.enough;\
         encrypt=DANGER_PLAINTEXT"
    );
    let start = MssqlProvider::builder(&url)
        .startup_timeout(2 * MINUTE)
        .build();
    let mut start = std::pin::pin!(start);
    let early = tokio::time::timeout(Duration::from_millis(300), &mut start).await;
    assert!(early.is_err(), "nobody listens yet");
    let server = Server::builder()
        .port(port)
        .password("Str0ng.enough")
        .encryption(Encryption::Off)
        .start();
    let _server = server.expect("the port is still free");
    create(&start.await.expect("the start succeeds"), "order").await;
}

/// A listener that hangs up in the TLS handshake of its first connections.
async fn ends_handshakes(server: &Server, connections: usize) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (upstream, accepted) = (server.address(), Arc::new(AtomicUsize::new(0)));
    let counter = accepted.clone();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let is_healthy = counter.fetch_add(1, Ordering::SeqCst) >= connections;
            let mut server = TcpStream::connect(upstream).await.unwrap();
            tokio::spawn(async move {
                if is_healthy {
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                    return;
                }
                // What comes before TLS, both ways, and the beginning of the handshake.
                let mut buffer = [0; 4096];
                let n = client.read(&mut buffer).await.unwrap();
                server.write_all(&buffer[..n]).await.unwrap();
                let n = server.read(&mut buffer).await.unwrap();
                client.write_all(&buffer[..n]).await.unwrap();
                let _ = client.read(&mut buffer).await;
            });
        }
    });
    (port, accepted)
}

fn encrypted(port: u16) -> duroxide_sql::MssqlProviderBuilder {
    MssqlProvider::builder(format!(
        "server=tcp:127.0.0.1,{port};user id=sa;password=Str0ng.enough;encrypt=true;\
         trustServerCertificate=true"
    ))
}

fn encrypting_server() -> Server {
    let server = Server::builder()
        .password("Str0ng.enough")
        .encryption(Encryption::Required)
        .start();
    server.expect("the embedded server starts")
}

/// A load balancer in front of a server that is starting, or a node that goes away, hangs up wherever it is. That passes; a server that
/// does so each time needs somebody to look at it, and nobody has to wait for the whole time of the start to hear of it.
#[tokio::test]
async fn handshakes_that_end_early_pass_unless_they_always_do() {
    let server = encrypting_server();
    let (port, _) = ends_handshakes(&server, 2).await;
    let started = encrypted(port).build().await;
    create(&started.expect("the start succeeds"), "order").await;
    let (port, accepted) = ends_handshakes(&server, usize::MAX).await;
    let begun = Instant::now();
    let error = encrypted(port).build().await.expect_err("nobody gets in");
    assert_eq!(
        error.to_string(),
        format!("127.0.0.1:{port} ended the TLS handshake; look into the server's error log")
    );
    assert!(begun.elapsed() < 30 * SECOND, "{begun:?}");
    assert!(begun.elapsed() >= 5 * SECOND, "{begun:?}");
    assert!(accepted.load(Ordering::SeqCst) >= 3);
    let duroxide_sql::Error::Connect(error) = error else {
        panic!("{error:?}");
    };
    assert!(!error.is_retryable());
}

/// With `encrypt=strict` TLS comes first, so that whoever accepts connections for a server that does not listen yet, and hangs up, ends a
/// handshake each time. That is no server which wants another kind of encryption.
#[tokio::test]
async fn strict_handshakes_that_end_early_are_waited_for() {
    let server = encrypting_server();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let upstream = server.address();
    let begun = Instant::now();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            // Longer, and more often, than anybody else would be believed.
            if begun.elapsed() < 8 * SECOND {
                continue;
            }
            let mut server = TcpStream::connect(upstream).await.unwrap();
            tokio::spawn(async move {
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    let started = MssqlProvider::builder(format!(
        "server=tcp:127.0.0.1,{port};user id=sa;password=Str0ng.enough;encrypt=strict;\
         trustServerCertificate=true"
    ));
    let started = started.startup_timeout(2 * MINUTE).build().await;
    create(&started.expect("the start succeeds"), "order").await;
    assert!(begun.elapsed() >= 8 * SECOND);
}

/// What a login says whose database is being opened passes, be it the one that the connection names or the login's own.
#[tokio::test]
async fn database_that_cannot_be_opened_yet_is_waited_for() {
    for (number, name) in [(4060, "database"), (4064, "default database")] {
        let server = own_server();
        let schema = TestSchema::at(server.connection_string());
        let controls = server.controls();
        let away = SqlError::with(number, 11, 1, format!("Cannot open the {name}."));
        controls.refuse_logins(Some(away));
        let mut start = std::pin::pin!(schema.builder().build());
        let early = tokio::time::timeout(Duration::from_millis(500), &mut start).await;
        assert!(early.is_err(), "{number}: {early:?}");
        controls.refuse_logins(None);
        create(&start.await.expect("the start succeeds"), "order").await;
    }
}

/// What a database says that is moving passes, also while the schema's state is read.
#[tokio::test]
async fn moving_database_is_waited_for() {
    for (number, word) in [(40613, "compatibility_level"), (3906, "CREATE SCHEMA")] {
        let server = own_server();
        let schema = TestSchema::at(server.connection_string());
        let moving = SqlError::with(number, 16, 1, "the database is moving");
        let rule = server
            .controls()
            .fail(Trigger::statement().containing(word), moving);
        let provider = schema.builder().build().await.expect("the start succeeds");
        assert_eq!(rule.fired(), 1, "{word}");
        create(&provider, "order").await;
    }
}

/// Times of any length are accepted.
#[tokio::test]
async fn startup_timeout_may_be_of_any_length() {
    let schema = TestSchema::new();
    let forever = schema.builder().startup_timeout(Duration::MAX);
    forever.build().await.expect("the start succeeds");
    let never = schema.builder().startup_timeout(Duration::ZERO);
    let error = never.build().await.expect_err("there is no time");
    assert!(error.to_string().contains("timeout"), "{error}");
}
