//! The way to the server: redirects, names, tokens, authorities.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use duroxide::providers::Provider;
use duroxide_sql::{MssqlProvider, MssqlProviderBuilder};
use mssql_embedded::{Encryption, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::database::TestSchema;
use crate::support::items::create;
use crate::support::log::Log;
use crate::support::proxy::Proxy;
use crate::support::wait::until;

const PACKET_REPLY: u8 = 0x04;

/// One packet from the client.
async fn skip_packet(client: &mut TcpStream) -> std::io::Result<()> {
    let mut header = [0_u8; 8];
    client.read_exact(&mut header).await?;
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let mut body = vec![0; length - header.len()];
    client.read_exact(&mut body).await.map(drop)
}

async fn reply(client: &mut TcpStream, tokens: &[u8]) -> std::io::Result<()> {
    let length = u16::try_from(tokens.len() + 8).unwrap().to_be_bytes();
    let mut packet = vec![PACKET_REPLY, 0x01, length[0], length[1], 0, 0, 1, 0];
    packet.extend_from_slice(tokens);
    client.write_all(&packet).await
}

/// PRELOGIN's answer: a version, and no encryption.
const PRELOGIN: [u8; 18] = [0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, 2];

/// The login's answer: go to that server (ENVCHANGE type 20), and DONE.
fn routing(host: &str, port: u16) -> Vec<u8> {
    let units: Vec<u16> = host.encode_utf16().collect();
    let mut route = vec![0];
    route.extend_from_slice(&port.to_le_bytes());
    route.extend_from_slice(&u16::try_from(units.len()).unwrap().to_le_bytes());
    route.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    let mut body = vec![20];
    body.extend_from_slice(&u16::try_from(route.len()).unwrap().to_le_bytes());
    body.extend_from_slice(&route);
    body.extend_from_slice(&[0, 0]);
    let mut tokens = vec![0xE3];
    tokens.extend_from_slice(&u16::try_from(body.len()).unwrap().to_le_bytes());
    tokens.extend_from_slice(&body);
    tokens.extend_from_slice(&[0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    tokens
}

/// A gateway that sends everybody to that server.
async fn gateway(host: &str, port: u16) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = routing(host, port);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                skip_packet(&mut client).await?;
                reply(&mut client, &PRELOGIN).await?;
                skip_packet(&mut client).await?;
                reply(&mut client, &answer).await?;
                // The client hangs up.
                client.read(&mut [0; 1]).await
            });
        }
    });
    address
}

fn plain_server() -> Server {
    let server = Server::builder().encryption(Encryption::Off).start();
    server.expect("the embedded server starts")
}

fn url(server: &Server, at: SocketAddr) -> String {
    server
        .connection_string()
        .replace(&format!(",{};", server.port()), &format!(",{};", at.port()))
}

/// Azure's gateway names the node; an availability group's listener adds the instance's name.
#[tokio::test]
async fn redirects_are_followed() {
    for host in ["127.0.0.1", "127.0.0.1\\SQL2022", "localhost\\main"] {
        let server = plain_server();
        let gateway = gateway(host, server.port()).await;
        let provider = MssqlProvider::new(url(&server, gateway)).await;
        create(&provider.expect("the start succeeds"), "order").await;
    }
}

/// When the node cannot be reached the message names it, and who named it.
#[tokio::test]
async fn unreachable_redirects_name_what_was_tried() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let node = closed.local_addr().unwrap();
    drop(closed);
    let system = std::net::TcpStream::connect(node).expect_err("nobody listens");
    let gateway = gateway("127.0.0.1\\SQL2022", node.port()).await;
    let url = format!(
        "server=tcp:127.0.0.1,{};user id=sa;password=x;encrypt=DANGER_PLAINTEXT",
        gateway.port()
    );
    let started = MssqlProvider::builder(url)
        .startup_timeout(Duration::from_secs(3))
        .build()
        .await;
    assert_eq!(
        started.expect_err("the node is down").to_string(),
        format!(
            "no SQL Server answers at {node}: {system}; check host, port and firewall; redirected \
             by {gateway} to 127.0.0.1\\SQL2022:{}; given up after 3s",
            node.port()
        )
    );
}

/// As many redirects as are too few for a circle.
#[tokio::test]
async fn chains_of_redirects_are_followed_to_their_ends() {
    let server = plain_server();
    let mut first = gateway("127.0.0.1", server.port()).await;
    for _ in 1..3 {
        first = gateway("127.0.0.1", first.port()).await;
    }
    let provider = MssqlProvider::new(url(&server, first)).await;
    create(&provider.expect("the start succeeds"), "order").await;
}

/// Two gateways that send everybody to each other are noticed.
#[tokio::test]
async fn circles_of_redirects_are_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = gateway("127.0.0.1", port).await;
    let answer = routing("127.0.0.1", other.port());
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            skip_packet(&mut client).await.unwrap();
            reply(&mut client, &PRELOGIN).await.unwrap();
            skip_packet(&mut client).await.unwrap();
            reply(&mut client, &answer).await.unwrap();
        }
    });
    let url = format!("server=tcp:127.0.0.1,{port};user id=sa;password=x;encrypt=DANGER_PLAINTEXT");
    let started = MssqlProvider::builder(url)
        .startup_timeout(Duration::from_secs(3))
        .build()
        .await;
    let error = started.expect_err("nobody lets us in").to_string();
    assert!(error.contains("redirects more than 3 times"), "{error}");
}

/// The server lists who connects under the names that the connection string gives.
#[tokio::test]
async fn names_of_the_client_arrive() {
    let schema = TestSchema::new();
    let url = format!(
        "{};workstation id=till-7;application name=orders",
        schema.url()
    );
    let provider = MssqlProvider::new_with_schema(url, schema.name().as_str()).await;
    let provider = provider.expect("the start succeeds");
    schema
        .sql(
            "ALTER TABLE [$(schema)].history ADD \
             seen_host NVARCHAR(128) NULL CONSTRAINT df_seen_host DEFAULT HOST_NAME(), \
             seen_app NVARCHAR(128) NULL CONSTRAINT df_seen_app DEFAULT APP_NAME();",
        )
        .await;
    create(&provider, "order").await;
    let others = "SELECT COUNT(*) FROM [$(schema)].history \
                  WHERE seen_host <> N'till-7' OR seen_app <> N'orders'";
    assert_eq!(schema.number(others).await, 0);
    let seen = "SELECT COUNT(*) FROM [$(schema)].history WHERE seen_host = N'till-7'";
    assert!(schema.number(seen).await > 0);
}

/// A file that is removed with the test.
struct Authority(std::path::PathBuf);

impl Authority {
    fn new(content: impl AsRef<[u8]>) -> Self {
        let name = format!("duroxide-sql-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).expect("a temporary file");
        Self(path)
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A certificate as PEM.
fn pem(server: &Server) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in server.certificate_der().chunks(3) {
        let bits = three
            .iter()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            let is_padding = digit > three.len();
            text.push(if is_padding {
                '='
            } else {
                char::from(DIGITS[value as usize])
            });
        }
    }
    let lines: Vec<_> = text
        .as_bytes()
        .chunks(64)
        .map(String::from_utf8_lossy)
        .collect();
    format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        lines.join("\n")
    )
}

/// What the start with an authority of one's own comes to.
async fn with_authority(server: &Server, file: &std::path::Path, rest: &str) -> Result<(), String> {
    let url = format!(
        "server=tcp:localhost,{};user id=sa;password={};{rest}",
        server.port(),
        server.password()
    );
    let provider = MssqlProvider::builder(url).trust_ca_file(file).build();
    let provider = provider.await.map_err(|error| error.to_string())?;
    create(
        &provider,
        &format!("order-{}", uuid::Uuid::new_v4().simple()),
    )
    .await;
    Ok(())
}

/// An authority in a file makes its servers trusted, and nobody else's.
#[tokio::test]
async fn own_authority_is_trusted() {
    let server = Server::builder().start().unwrap();
    let own = Authority::new(pem(&server));
    for encrypt in ["encrypt=true", "encrypt=strict"] {
        assert_eq!(with_authority(&server, &own.0, encrypt).await, Ok(()));
    }
    let other = Server::builder().start().unwrap();
    let other = Authority::new(pem(&other));
    let refused = with_authority(&server, &other.0, "").await.unwrap_err();
    assert!(refused.contains("certificate was rejected"), "{refused}");
}

/// The file may hold several, and one that holds none is named.
#[tokio::test]
async fn authority_files_are_read() {
    let server = Server::builder().start().unwrap();
    let other = Server::builder().start().unwrap();
    let mut both = [pem(&other), pem(&server)];
    if cfg!(feature = "native-tls") {
        // OpenSSL takes the first authority of a name, and these two have the same.
        both.reverse();
    }
    let both = both.concat();
    for content in [both.as_bytes(), server.certificate_der()] {
        let authority = Authority::new(content);
        assert_eq!(with_authority(&server, &authority.0, "").await, Ok(()));
    }
    let empty = Authority::new("-----BEGIN NOTHING-----\n");
    let refused = with_authority(&server, &empty.0, "").await.unwrap_err();
    assert!(refused.starts_with("TLS with "), "{refused}");
    assert!(refused.contains("CA"), "{refused}");
    let missing = std::path::Path::new("/no/such/authority.pem");
    let refused = with_authority(&server, missing, "").await.unwrap_err();
    assert!(
        refused.starts_with("certificate authority /no/such/authority.pem cannot be read: "),
        "{refused}"
    );
}

/// A certificate for another name than the host's is accepted when that name is given.
#[tokio::test]
async fn name_in_the_certificate_may_be_given() {
    let server = Server::builder()
        .certificate_names(&["db.example"])
        .start()
        .unwrap();
    let own = Authority::new(server.certificate_der());
    let refused = with_authority(&server, &own.0, "").await.unwrap_err();
    assert!(refused.contains("hostNameInCertificate"), "{refused}");
    for name in ["db.example", "other.example"] {
        let rest = format!("hostNameInCertificate={name}");
        let result = with_authority(&server, &own.0, &rest).await;
        assert_eq!(result.is_ok(), name == "db.example", "{result:?}");
    }
}

/// A name that only the given function knows is asked for with every connection, so that one that
/// stands for another address is followed although nobody said so.
#[tokio::test]
async fn given_lookup_is_asked_for_every_connection() {
    let schema = TestSchema::new();
    let (old, new) = (
        Proxy::start(schema.url()).await,
        Proxy::start(schema.url()).await,
    );
    let current = Arc::new(Mutex::new(old.address()));
    let known = current.clone();
    let url = old
        .url(schema.url())
        .replace("127.0.0.1", "database.invalid");
    let builder = MssqlProvider::builder(url)
        .schema(schema.name().as_str())
        .lookup(move |host, _| match host {
            "database.invalid" => Ok(vec![*known.lock().unwrap()]),
            other => Err(std::io::Error::other(format!("{other} is unknown"))),
        });
    let provider = builder.build().await.expect("the name is found");
    create(&provider, "before").await;
    // The old address goes silent, for those who are there and those who still come.
    *current.lock().unwrap() = new.address();
    old.mute_new(true);
    old.silence_all();
    // A read is repeated on another connection, and takes those of the same age with it.
    assert_eq!(provider.read("before").await.unwrap().len(), 1);
    create(&provider, "after").await;
    assert!(new.take_requests() > 0);
}

/// TLS says things between the lines, such as tickets for the next session: none of them is taken for the end of a connection.
#[tokio::test]
async fn encrypted_connections_are_used_again() {
    let server = Server::builder().encryption(Encryption::Required).start();
    let server = server.expect("the embedded server starts");
    for encrypt in ["true", "strict"] {
        let schema = TestSchema::at(server.connection_string());
        let encrypt = format!("encrypt={encrypt}");
        let url = server.connection_string().replace("encrypt=true", &encrypt);
        let builder = MssqlProvider::builder(url).schema(schema.name().as_str());
        let (log, guard) = Log::catch();
        let provider = builder.pool_min_idle(1).build().await.expect("the start");
        for n in 0..5 {
            create(&provider, &format!("order-{n}")).await;
        }
        let open = provider.pool_status().open;
        drop(guard);
        assert!(!log.text().contains("hung_up"), "{encrypt}: {}", log.text());
        assert_eq!(open, 1, "{encrypt}");
    }
}

/// Nodes that accept connections and swallow what they get are left for one that answers, however often they stand before it.
#[tokio::test]
async fn addresses_whose_logins_fail_come_last() {
    let schema = TestSchema::new();
    let mut proxies = Vec::new();
    for _ in 0..3 {
        proxies.push(Proxy::start(schema.url()).await);
    }
    let addresses: Vec<_> = proxies.iter().map(Proxy::address).collect();
    let url = proxies[0]
        .url(schema.url())
        .replace("127.0.0.1", "database.invalid");
    proxies[0].mute_new(true);
    proxies[1].mute_new(true);
    let builder = MssqlProvider::builder(url)
        .schema(schema.name().as_str())
        .connect_timeout(Duration::from_secs(2))
        .startup_timeout(Duration::from_secs(30))
        .lookup(move |_, _| Ok(addresses.clone()));
    let provider = builder.build().await.expect("the third one answers");
    create(&provider, "before").await;
    // The one that let us in becomes deaf, and another one hears again.
    proxies[1].mute_new(false);
    proxies[2].mute_new(true);
    proxies[2].silence_all();
    until("it is read from the other", || async {
        provider
            .read("before")
            .await
            .is_ok_and(|read| read.len() == 1)
    })
    .await;
    assert!(proxies[1].take_requests() > 0);
}

/// A name with two addresses, as a listener that is looked up for all of its subnets: the old primary first, which has become a
/// secondary that reads are allowed on. It takes every login, and refuses every write.
struct Replicas {
    old: Server,
    new: Server,
}

impl Replicas {
    fn start() -> Self {
        let server = || {
            let builder = Server::builder().password("Str0ng.enough");
            let server = builder.encryption(Encryption::Off).start();
            server.expect("the embedded server starts")
        };
        Self {
            old: server(),
            new: server(),
        }
    }

    fn demote_the_old_one(&self) {
        let controls = self.old.controls();
        controls.set_read_only("master", true).unwrap();
    }

    fn builder(&self) -> MssqlProviderBuilder {
        let addresses = vec![self.old.address(), self.new.address()];
        MssqlProvider::builder(
            "server=tcp:database.invalid,1433;user id=sa;password=Str0ng.enough;\
             encrypt=DANGER_PLAINTEXT",
        )
        .schema("orders")
        .lookup(move |_, _| Ok(addresses.clone()))
    }
}

/// What says that it lost the database is not asked first again, although its logins succeed.
#[tokio::test]
async fn server_that_became_a_readable_secondary_is_left_for_the_primary() {
    let replicas = Replicas::start();
    let there = MssqlProvider::builder(replicas.new.connection_string()).schema("orders");
    let there = there.build().await.expect("the schema is on both");
    let provider = replicas.builder().build().await.expect("the start");
    create(&provider, "before").await;
    // A login of before the move that ends after it looks like one to the primary, until it is written to.
    let are_all_there = || async { provider.pool_status().idle >= 2 };
    until("the pool is full", are_all_there).await;
    replicas.demote_the_old_one();
    create(&provider, "after").await;
    assert_eq!(there.read("after").await.unwrap().len(), 1);
    let metrics = provider.as_management_capability().expect("it is one");
    let instances = metrics.list_instances().await.unwrap();
    assert_eq!(instances, ["after"], "everybody is there by now");
}

/// The start, which is the first to write when there is something to install, looks for the primary as well.
#[tokio::test]
async fn start_leaves_a_readable_secondary_for_the_primary() {
    let replicas = Replicas::start();
    replicas.demote_the_old_one();
    let builder = replicas.builder().startup_timeout(Duration::from_secs(30));
    let provider = builder.build().await.expect("the schema is installed");
    create(&provider, "order").await;
    // The second is opened beside the work.
    let are_there = || async { replicas.new.controls().sessions().len() > 1 };
    until("the connections lead to the primary", are_there).await;
}
